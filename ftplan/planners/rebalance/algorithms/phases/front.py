"""What smaller and larger phases would bring: the longest pause against the time that all takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.rebalance.algorithms.phases.backlog import PhaseSize
from ftplan.planners.rebalance.algorithms.phases.notice import in_time
from ftplan.planners.rebalance.algorithms.phases.phasing import phased, usual_size
from ftplan.planners.rebalance.migration_phases import move_table, phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem

#: Most points of a front, and moves that are put into phases for it in all, whatever the number of sizes.
POINTS, WORK = 12, 150_000
#: Sizes of each sort.
STEPS = 6


class FrontPoint(NamedTuple):
    """Phases of one size: how many, longest pause and time that all takes in seconds, bytes of the largest phase."""

    phases: int
    longest_pause_s: float
    duration_s: float
    bytes: float


def front(problem: RebalanceProblem, rebalance: Rebalance) -> tuple[FrontPoint, ...]:
    """Return the phasings of the moves of a rebalance of which none is both quicker and of shorter pauses, at most 12.

    Sizes are the usual one, which has the shortest pauses, as many moves as can begin together, longest pauses in
    between, and numbers of moves and bytes halved again and again. Limits on pause and bytes of a phase are left aside,
    since the front says what they cost; the phases of the rebalance are a point where none is better. Phases that break
    the notice are left out. Ascending by longest pause. Cost: that of :func:`phased` for each size, of which there are
    fewer for many moves.

    Source: Megaphone's trade of duration against latency [Hoffmann2019].
    """
    if not rebalance.moves:
        return ()
    free = replace(problem, limits=replace(problem.limits, max_pause_s=None, phase_bytes=None))
    points = [_point(problem, rebalance.phases)]
    most = max(3, WORK // len(rebalance.moves))
    for size in _sizes(free, rebalance.moves, most):
        phasing = phased(free, rebalance.moves, size)
        if not phasing.stuck and not phasing.slowed and in_time(free, phasing.phases):
            points.append(_point(free, phasing.phases))
    return thinned(non_dominated(points))


def non_dominated(points: list[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points of which none is at least as good in pause and duration, ascending by pause; each once."""
    kept: list[FrontPoint] = []
    for point in sorted(points, key=lambda point: (point.longest_pause_s, point.duration_s, point.phases)):
        if not kept or point.duration_s < kept[-1].duration_s * (1.0 - ROUNDING):
            kept.append(point)
    return tuple(kept)


def thinned(points: tuple[FrontPoint, ...]) -> tuple[FrontPoint, ...]:
    """Return at most :data:`POINTS` of some points, both ends among them."""
    if len(points) <= POINTS:
        return points
    return tuple(points[round(k * (len(points) - 1) / (POINTS - 1))] for k in range(POINTS))


def _sizes(problem: RebalanceProblem, moves: tuple[Migration, ...], most: int) -> Iterator[PhaseSize | None]:
    """Yield sizes of phases, the ends of the front first, at most so many; None is the usual one."""
    usual = usual_size(problem, moves)
    transferred = float(move_table(problem, moves).bytes.sum())
    longest = max(item.longest_pause_s for item in phase_figures(problem, phased(problem, moves, PhaseSize()).phases))
    between = max(longest / usual.pause_s, 1.0) if usual.pause_s > 0.0 else 1.0
    steps = max(1, min(STEPS, most // 3))
    sizes: list[PhaseSize | None] = [None, PhaseSize()]
    sizes += [PhaseSize(usual.pause_s * between ** (step / steps)) for step in range(1, steps)]
    for step in range(1, STEPS + 1):
        sizes += [PhaseSize(moves=math.ceil(len(moves) / 2**step)), PhaseSize(bytes=transferred / 2**step)]
    yield from dict.fromkeys(sizes[:most])


def _point(problem: RebalanceProblem, phases: tuple[tuple[Migration, ...], ...]) -> FrontPoint:
    figures = phase_figures(problem, phases)
    return FrontPoint(
        len(phases),
        max(item.longest_pause_s for item in figures),
        math.fsum(item.duration_s for item in figures),
        max(item.bytes for item in figures),
    )

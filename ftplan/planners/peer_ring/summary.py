"""What a ring is worth compared with others, what is proven of it, and what it costs to get there.

Also what the failure that is asked for does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.planners.peer_ring.metrics import ledgers, node_figures, overloaded, ring_figures, utilisations
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.problem import RingProblem, RingStep
from ftplan.planners.peer_ring.repair_window import within_repair_window
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.steps import moved_by
from ftplan.planners.peer_ring.survival.survival import survival
from ftplan.planners.peer_ring.takeover.takeover import TakeOver, take_over


def failure_of(problem: RingProblem, ring: Ring) -> TakeOver | None:
    """Return what the failure that is asked for does to a ring, None where nothing fails."""
    return take_over(problem, ring) if problem.fails.any() else None


def failed_nodes(problem: RingProblem, ring: Ring) -> list[str]:
    """Return the nodes that fail and own or hold something, in natural order: of the ring, and of its tier."""
    here = problem.tier.copy()
    here[ring.nodes] = True
    if ring.tier is not None:
        here[ring.tier] = True
    return [problem.nodes[node] for node in np.flatnonzero(problem.fails & here).tolist()]


def failure_figures(problem: RingProblem, ring: Ring, failure: TakeOver | None) -> dict[str, Any]:
    """Return what a failure costs in all; times are None where that is never, bytes where they are unknown.

    The longest of the times counts, since runs of dead nodes recover side by side. Where no node is left, no time
    tells when anything runs again.
    """
    after = ring if failure is None else failure.after
    rows = [] if failure is None else failure.takeovers
    lost = [] if failure is None else failure.lost
    nowhere = after is None
    taken = [row for row in rows if row["run"]]
    return {
        "lost_groups": len(lost),
        "lost_bytes": sum(row["state_bytes"] for row in lost) if problem.state_known else None,
        "rereplicate_bytes": _total(rows, "restore_bytes") if problem.state_known else None,
        "ready_s": None if nowhere else _longest(taken, "ready_s"),
        "caught_up_s": None if nowhere else _longest(taken, "caught_up_s"),
        "highest_utilisation": None
        if after is None
        else finite(float(utilisations(problem, after)[after.nodes].max())),
        "overloaded_nodes": 0 if after is None else len(overloaded(problem, after)),
    }


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(sum(row[name] for row in rows))


def _longest(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the longest time, 0 without any, None where one is never."""
    times = [row[name] for row in rows]
    return None if None in times else float(max(times, default=0.0))


#: What is optimised, the first first.
LEVELS = ("zone_losses", "zone_violations", "largest_load", "bytes")


def question_summary(problem: RingProblem, before: dict[str, Any] | None) -> dict[str, Any]:
    """Return the figures of a question without an answer; *before* are those of the ring in place."""
    return {
        "key_groups": len(problem.atom),
        "load": float(problem.load.sum()),
        "state_bytes": float(problem.state.sum()) if problem.state_known else None,
        "before": before,
        "after": None,
    }


def summary(
    problem: RingProblem,
    ring: Ring,
    steps: Sequence[RingStep],
    failure: TakeOver | None,
    chance: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the figures before and after, and what the steps and a failure cost by event.

    *chance* is what :func:`ftplan.planners.peer_ring.survival.survival.survival` says of the ring: the body has it too.
    """
    after = ring_figures(problem, ring, chance)
    moves = [move for item in moved_by(problem, steps) for move in item.moves]
    moves += [] if failure is None else failure.moves
    return {
        **question_summary(problem, after if ring is problem.current else figures_in_place(problem)),
        "after": after,
        "nodes": node_figures(problem, ring),
        "levels": {name: {"value": value} for name, value in level_values(problem, ring, steps).items()},
        "ledgers": ledgers(moves, problem.state_known),
        "failure": None
        if failure is None
        else {"nodes": failed_nodes(problem, ring), **failure_figures(problem, ring, failure)},
    }


def figures_in_place(problem: RingProblem) -> dict[str, Any] | None:
    """Return the figures of the ring in place, None without one, or where it has too few nodes for the copies."""
    current = problem.current
    if current is None or current.most_copies < problem.replication:
        return None
    return ring_figures(problem, current, survival(within_repair_window(problem, current), current))


def level_values(problem: RingProblem, ring: Ring, steps: Sequence[RingStep]) -> dict[str, float | int | None]:
    """Return what a ring is worth in each level; zones are None without any, bytes without a ring in place.

    Where no state is known, bytes count key groups.
    """
    zones = problem.zone_cost(ring)
    return {
        "zone_losses": zones.losses if problem.zoned else None,
        "zone_violations": zones.violations if problem.zoned else None,
        "largest_load": problem.largest_load(ring),
        "bytes": None if problem.current is None else worth_moved(problem, steps),
    }


def is_proven(value: float | None, bound: float | None) -> bool:
    """Return whether a value to be least is as low as its bound; there is nothing to prove where it is None."""
    if value is None:
        return True
    return bound is not None and value - bound <= ROUNDING * max(abs(value), abs(bound)) + NOISE


def all_proven(values: dict[str, Any], bounds: dict[str, Any]) -> bool:
    """Return whether every level is proven best."""
    return all(is_proven(values[name], bounds[name]) for name in LEVELS)

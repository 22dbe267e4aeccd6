"""What no recovery exceeds in output fidelity × time: a choice of tasks for each stretch of time, relaxed.

Where too many sets of tasks add to the output, tables over operators have the most fidelity at every cost at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.reduction import values_by_cost
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_bound import fidelity_bounds
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import (
    bounds_by_capacity,
    parametric_selections,
)
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import clairvoyant_repair
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.paths import fidelity_paths
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.program import (
    WeightedSets,
    most_by_program,
    weighted_sets,
)
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.segments import Segment, SegmentPiece, segments
from ftplan.planners.recovery_schedule.problem import RecoveryProblem

#: Units into which the cost of all tasks is divided at most.
MOST_UNITS = 4_000
#: What a number of units may lie below a whole one.
WHOLE = 1e-8


def most_by_table(
    graph: TaskGraph,
    model: FidelityModel,
    live: BoolArray,
    able: BoolArray,
    toll: FloatArray,
    limit: FloatArray,
    budget: Budget,
) -> FloatArray:
    """Return a bound on the fidelity for each limit, shape (limits,), of tasks whose tolls sum to no more; 1 in time.

    As replicas are bounded within a budget: tasks behind full edges count by how many of them run, parts in series
    multiply, and what feeds several parts is paid for in shares. Tolls are rounded down to whole units, limits too:
    a sum of whole numbers below a limit is not above its whole part. Cost O(units · tasks) at most.

    Parameters
    ----------
    live, able, toll
        Shape (tasks,): what runs for sure, what may run besides, and at what toll.
    """
    paid = able & ~live
    total = float(toll[paid].sum())
    if total <= 0.0:
        return np.full(len(limit), model.fidelity(live | able))
    unit = max(_largest_unit(toll[paid]), total / MOST_UNITS)
    # a whole toll that lies a rounding error too low counts as whole; the limits have more than that to spare
    units = np.where(paid, np.floor(toll / unit + WHOLE), -1.0).astype(np.int64)
    spare = WHOLE * (1.0 + int(paid.sum()))
    whole = np.minimum(np.floor(limit / unit + spare), float(units[paid].sum())).astype(np.int64)
    try:
        values = values_by_cost(graph, model, live | (units == 0), units, int(whole.max(initial=0)), budget)
    except OutOfTime:
        return np.ones(len(limit))
    most = values[np.minimum(whole, len(values) - 1)]
    return np.asarray(np.minimum(most * (1.0 + ROUNDING), 1.0), dtype=np.float64)


def _largest_unit(toll: FloatArray) -> float:
    """Return the largest of 1, 1/2, … 1/1000 of which all tolls are multiples, 0 where none is."""
    for parts in (1, 2, 4, 5, 8, 10, 20, 100, 1000):
        whole = toll * parts
        if np.all(np.abs(whole - np.round(whole)) <= 1e-9 * np.maximum(1.0, whole)):
            counts = np.round(whole).astype(np.int64)
            return int(np.gcd.reduce(counts[counts > 0])) / parts
    return 0.0


#: Shares of the time left: for the sums of a segment, for its cuts; the rest is for its programs.
SUMS, CUTS = 0.5, 0.5
#: Rates at which seconds of restores are exchanged for cores, where both limit what runs.
MIXTURES = 3
#: Seconds of restores that are more than a rounding error.
LEAST_S = 1e-6
#: Sets for each task from which on there are full edges among the tasks, and tables over operators say more.
DENSE = 2


@dataclass(frozen=True, slots=True, eq=False)
class FidelityBound:
    """``value`` is the integral of stairs: from ``at_s[k]`` on no schedule has more fidelity than ``most[k]``."""

    value: float  # fidelity × seconds, from 0 to the horizon
    at_s: FloatArray  # (K,) ascending
    most: FloatArray  # (K,)


def fidelity_repair_bound(
    problem: RecoveryProblem, model: FidelityModel, budget: Budget, seed: int = 0, *, parallel: bool = False
) -> FidelityBound:
    """Return what no schedule of a repair exceeds in fidelity × time, knowing the failures that are stated.

    Time is divided into pieces (:func:`segments`); what runs by the end of a piece are tasks that can have caught up,
    with cores of the nodes that can be of use by then, and with seconds of restores that these can have ended. The
    most fidelity of such a choice is bounded by minimum cuts of the sum over sets of tasks (:func:`fidelity_paths`),
    for cores, for restores and for mixtures of both; then by integer programs while there is time. Where the sets are
    too many, by tables over operators and by the linear relaxation over streams. Within a segment the most grows with
    time.
    """
    at_s: list[float] = []
    most: list[FloatArray] = []
    spans: list[float] = []
    every = list(segments(clairvoyant_repair(problem, parallel)))
    for number, segment in enumerate(every):
        part = budget.part(1.0 / (len(every) - number))
        most.append(_of_segment(problem, model, segment, part, seed))
        budget.cut |= part.cut
        at_s += [piece.at_s for piece in segment.pieces]
        spans += [piece.until_s - piece.at_s for piece in segment.pieces]
    end_s = every[-1].pieces[-1].until_s if every else 0.0
    if end_s < problem.horizon_s:  # so many failures are not foreseen
        at_s, spans, most = [*at_s, end_s], [*spans, problem.horizon_s - end_s], [*most, np.ones(1)]
    joined = np.concatenate([np.zeros(0), *most])
    return FidelityBound(float(joined @ np.array(spans)), np.array(at_s), joined)


def _of_segment(
    problem: RecoveryProblem, model: FidelityModel, segment: Segment, budget: Budget, seed: int
) -> FloatArray:
    """Return the most fidelity in each piece of a segment, shape (pieces,)."""
    if not segment.pieces:
        return np.zeros(0)
    down = np.zeros(problem.graph.tasks, dtype=np.bool_)
    down[segment.down] = True
    able = down.copy()
    able[segment.down] = segment.pieces[-1].able
    part = budget.part(SUMS)
    paths = fidelity_paths(model, ~down, able, part)
    if paths is None:
        budget.cut |= part.cut
        by_streams = fidelity_bounds(
            model, down, able, problem.cost, _limits(segment.pieces)[0], budget.part(CUTS), seed
        )
        return _rising(np.minimum(by_streams, _by_operators(problem, model, segment, down, able, budget)))
    if not paths.sets:
        return np.full(len(segment.pieces), paths.constant)
    sets = weighted_sets(segment, paths)
    most = _by_cuts(sets, segment.pieces, budget.part(CUTS))
    if len(paths.sets) > DENSE * int(able.sum()):
        by_operators = _by_operators(problem, model, segment, down, able, budget.part(CUTS))
        most = np.minimum(most, by_operators - paths.constant)
    most = most_by_program(sets, segment, _rising(most), budget, seed)
    return np.asarray(np.minimum(paths.constant + _rising(most), 1.0), dtype=np.float64)


def _by_operators(
    problem: RecoveryProblem, model: FidelityModel, segment: Segment, down: BoolArray, able: BoolArray, budget: Budget
) -> FloatArray:
    """Return the most fidelity in each piece by tables over operators."""
    cores, lane_s = _limits(segment.pieces)
    seconds = np.zeros(len(down))
    seconds[segment.down] = segment.seconds
    most = np.ones(len(cores))
    exchanges = _exchanges(cores, lane_s, seconds)
    for number, (of_core, of_second) in enumerate(exchanges):
        part = budget.part(1.0 / (len(exchanges) - number))
        toll = of_core * problem.cost + of_second * seconds
        limit = of_core * cores + (of_second * lane_s if of_second > 0.0 else 0.0)
        most = np.minimum(most, most_by_table(problem.graph, model, ~down, able, toll, limit, part))
    return most


def _limits(pieces: Sequence[SegmentPiece]) -> tuple[FloatArray, FloatArray]:
    """Return the cores and the seconds of restores of all nodes by the end of each piece, both shape (pieces,)."""
    cores = np.array([piece.cores for piece in pieces])
    return cores, np.array([float(piece.lane_s.sum()) if len(piece.lane_s) else 0.0 for piece in pieces])


def _by_cuts(sets: WeightedSets, pieces: Sequence[SegmentPiece], budget: Budget) -> FloatArray:
    """Return a bound on the weight of the sets that run by the end of each piece, shape (pieces,).

    The sets that can run grow from piece to piece; what bounds later ones bounds earlier ones too.
    """
    cores, lane_s = _limits(pieces)
    most = np.array([float(sets.weight[sets.release <= k].sum()) for k in range(len(pieces))]) * (1.0 + ROUNDING)
    grows = [k for k in range(len(pieces)) if k + 1 == len(pieces) or bool((sets.release == k + 1).any())]
    for number, last in enumerate(reversed(grows)):
        if budget.over():
            break
        kept = sets.released(last)
        first = grows[-number - 2] + 1 if number + 1 < len(grows) else 0
        part = budget.part(1.0 / (len(grows) - number))
        for of_core, of_second in _exchanges(cores[first : last + 1], lane_s[first : last + 1], kept.seconds):
            knapsack = kept.knapsack(of_core * kept.cost + of_second * kept.seconds)
            limit = of_core * cores + (of_second * lane_s if of_second > 0.0 else 0.0)
            chain = parametric_selections(knapsack, limit[first : last + 1], part)
            most[: last + 1] = np.minimum(most[: last + 1], bounds_by_capacity(chain, limit[: last + 1]))
    return most


def _exchanges(cores: FloatArray, lane_s: FloatArray, seconds: FloatArray) -> list[tuple[float, float]]:
    """Return what a core and a second of restores count: each alone, and both by what there is of them."""
    if not np.isfinite(lane_s).all() or not (seconds > 0.0).any():
        return [(1.0, 0.0)]
    found = [(1.0, 0.0), (0.0, 1.0)]
    both = np.flatnonzero((cores > 0.0) & (lane_s > LEAST_S))
    if len(both):
        both = np.unique(both[np.linspace(0, len(both) - 1, MIXTURES).astype(np.int64)])
    return found + [(1.0, each) for each in (cores[both] / lane_s[both]).tolist()]


def _rising(most: FloatArray) -> FloatArray:
    """Return the most by each piece, where later ones allow all that earlier ones do."""
    return np.asarray(np.minimum.accumulate(most[::-1])[::-1], dtype=np.float64)

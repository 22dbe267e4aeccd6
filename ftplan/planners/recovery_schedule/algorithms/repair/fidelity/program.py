"""Sets of tasks that weigh something where all of them run, and the most weight of sets that run at once (HiGHS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.paths import FidelityPaths, bundled
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.segments import Segment, SegmentPiece
from ftplan.planners.solver import solve_program

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSets:
    """Q sets over B bundles of F tasks; each set can run from the end of a piece of a segment on."""

    weight: FloatArray  # (Q,), above 0
    release: IntArray  # (Q,) first piece, the number of pieces for never
    start: IntArray  # (Q + 1,)
    member: IntArray  # bundles of each set, ascending
    task: IntArray  # (F,) place among the tasks of the segment
    bundle: IntArray  # (F,)
    cost: FloatArray  # (B,) cores
    seconds: FloatArray  # (B,) of restores, at least

    def released(self, piece: int) -> WeightedSets:
        """Return the sets that can run by the end of a piece; bundles stay."""
        kept = self.release <= piece
        size = np.diff(self.start)
        return WeightedSets(
            self.weight[kept],
            self.release[kept],
            np.concatenate(([0], np.cumsum(size[kept]))).astype(np.int64),
            self.member[np.repeat(kept, size)],
            self.task,
            self.bundle,
            self.cost,
            self.seconds,
        )

    def knapsack(self, toll: FloatArray) -> SetUnionKnapsack:
        """Return the choice of sets where bundles cost *toll*, shape (B,)."""
        return SetUnionKnapsack(self.weight, toll, self.start, self.member, float(toll.sum()))


def weighted_sets(segment: Segment, paths: FidelityPaths) -> WeightedSets:
    """Return the sets of a segment. Cost O(tasks in sets · pieces)."""
    place = {task: i for i, task in enumerate(segment.down.tolist())}
    sets = [[place[task] for task in some] for some in paths.sets]
    some = bundled(sets)
    able_from = np.full(len(segment.down), len(segment.pieces), dtype=np.int64)
    for k in range(len(segment.pieces) - 1, -1, -1):
        able_from[segment.pieces[k].able] = k
    of_bundle = np.zeros(some.bundles, dtype=np.int64)
    np.maximum.at(of_bundle, some.bundle, able_from[some.task])
    release = np.zeros(len(sets), dtype=np.int64)
    np.maximum.at(release, np.repeat(np.arange(len(sets)), np.diff(some.start)), of_bundle[some.member])
    cost, seconds = (
        np.bincount(some.bundle, values[some.task], minlength=some.bundles).astype(np.float64, copy=False)
        for values in (segment.cost, segment.seconds)
    )
    return WeightedSets(paths.weight, release, some.start, some.member, some.task, some.bundle, cost, seconds)


#: Pairs of sets and bundles above which no program is built.
MOST_ENTRIES = 40_000
#: Seconds below which none is begun, and an entry's seconds to build and presolve.
LEAST_TIME_S, SECONDS_PER_ENTRY = 0.02, 2e-5
#: Nodes of the search tree that one iteration buys, and the gap at which it has done enough.
NODES_PER_ITERATION, ENOUGH = 10, 1e-6


def most_by_program(sets: WeightedSets, segment: Segment, most: FloatArray, budget: Budget, seed: int) -> FloatArray:
    """Return smaller bounds on the weight of the sets that run by the end of each piece, shape (pieces,).

    A bundle runs or not; a set needs its bundles; cores and seconds of restores are those of all nodes together, or
    where the segment's nodes are few of each node, for each task that runs there. *most* are known bounds; one that
    holds for a piece holds for all before it. Cost: exponential at worst, within the budget.
    """
    most = most.copy()
    if len(sets.member) > MOST_ENTRIES or not len(sets.weight):
        return most
    solved: set[tuple[Any, ...]] = set()
    order = _spread_out([piece.until_s - piece.at_s for piece in segment.pieces])
    for number, k in enumerate(order):
        piece = segment.pieces[k]
        key = (int(piece.able.sum()), piece.hosts, *piece.lane_s.tolist())
        kept = sets.released(k)
        if key in solved or most[k] <= 0.0 or not len(kept.weight):
            continue
        if budget.left_s < LEAST_TIME_S + SECONDS_PER_ENTRY * len(sets.member):
            budget.unfinished()
            break
        part = budget.part(2.0 / (len(order) - number + 1))
        program = _PieceProgram(kept, segment, piece)
        answer = solve_program(program.model, "HIGHS", part, seed, nodes_per_iteration=NODES_PER_ITERATION, gap=ENOUGH)
        budget.cut |= part.cut
        if answer.bound is not None:
            solved.add(key)
            most[: k + 1] = np.minimum(most[: k + 1], answer.bound * program.scale)
    return most


def _spread_out(spans: list[float]) -> list[int]:
    """Return the pieces in the order in which they are solved: the last, then what divides the time, by halves."""
    ends = np.cumsum(spans)
    count = len(spans)
    order = dict.fromkeys([count - 1])
    parts = 1
    while len(order) < count and parts < 4 * count:
        parts *= 2
        at = np.searchsorted(ends, ends[-1] * np.arange(1, parts, 2) / parts)
        order.update(dict.fromkeys(np.minimum(at, count - 1).tolist()))
    return list(order | dict.fromkeys(range(count)))


class _PieceProgram:
    """The program of one piece."""

    def __init__(self, sets: WeightedSets, segment: Segment, piece: SegmentPiece) -> None:
        from ortools.math_opt.python import mathopt

        self.model: mathopt.Model = mathopt.Model()
        self.scale = float(sets.weight.sum())
        used = np.unique(sets.member)
        self.runs: dict[int, Any] = {b: self._whole() for b in used.tolist()}
        for q, weight in enumerate(sets.weight.tolist()):
            members = sets.member[sets.start[q] : sets.start[q + 1]].tolist()
            worth = self.runs[members[0]]
            if len(members) > 1:
                worth = self.model.add_variable(lb=0.0, ub=1.0)
                for b in members:
                    self._row(0.0, [(1.0, worth), (-1.0, self.runs[b])])
            known = self.model.objective.get_linear_coefficient(worth)
            self.model.objective.set_linear_coefficient(worth, known + weight / self.scale)
        self.model.objective.is_maximize = True
        self._row(piece.cores, [(float(sets.cost[b]), x) for b, x in self.runs.items()])
        lane_s = float(piece.lane_s.sum())
        if np.isfinite(lane_s):
            self._row(lane_s, [(float(sets.seconds[b]), x) for b, x in self.runs.items()])
        if segment.nodes is not None:
            self._place(sets, segment, piece)

    def _whole(self) -> Any:
        return self.model.add_variable(lb=0.0, ub=1.0, is_integer=True)

    def _row(self, most: float, terms: list[tuple[float, Any]]) -> None:
        row = self.model.add_linear_constraint(ub=most)
        for size, variable in terms:
            row.set_coefficient(variable, size)

    def _place(self, sets: WeightedSets, segment: Segment, piece: SegmentPiece) -> None:
        """Give each task that runs a node, with room and seconds of its own."""
        nodes = segment.nodes
        assert nodes is not None
        cores: list[list[tuple[float, Any]]] = [[] for _ in range(piece.hosts)]
        seconds: list[list[tuple[float, Any]]] = [[] for _ in range(piece.hosts)]
        for task, b in zip(sets.task.tolist(), sets.bundle.tolist(), strict=True):
            if b not in self.runs:
                continue
            somewhere = [(1.0, self.runs[b])]
            for h in range(piece.hosts):
                if nodes.caught_up_s[task, h] >= piece.until_s:
                    continue
                here = self._whole()
                somewhere.append((-1.0, here))
                cores[h].append((float(segment.cost[task]), here))
                seconds[h].append((float(nodes.seconds[task, h]), here))
            self._row(0.0, somewhere)
        for h in range(piece.hosts):
            room = float(segment.room[h])
            self._row(room + ROUNDING * max(1.0, room), cores[h])
            if np.isfinite(piece.lane_s[h]):
                self._row(float(piece.lane_s[h]), seconds[h])
        if np.isfinite(segment.pool):
            pooled = [term for h in np.flatnonzero(segment.pooled[: piece.hosts]).tolist() for term in cores[h]]
            self._row(max(0.0, segment.pool) * (1.0 + ROUNDING) + ROUNDING, pooled)

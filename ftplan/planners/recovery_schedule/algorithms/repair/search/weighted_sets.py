"""Sets of tasks that weigh something where all of them run, with what they cost, for the bounds of a repair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.paths import FidelityPaths, bundled
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.pieces import Segment


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

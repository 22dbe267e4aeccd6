"""Output fidelity as a sum over sets of tasks: each set that runs as a whole adds what it weighs.

What is intact of an output is a sum of products ([SuZhou2016], section III): for independent inputs one product for
each path of records, for a join one for each choice of a path for each stream. All factors are tasks that run or not,
and no coefficient is negative. So fidelity over time is priority over time of queries that are such sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, Level
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget

#: Products that are formed at most: beyond that the sum is not written out.
MOST_PRODUCTS = 400_000

#: The coefficient of each product of tasks.
_Sum = dict[frozenset[int], float]


@dataclass(frozen=True, slots=True, eq=False)
class FidelityPaths:
    """Fidelity is ``constant`` plus the weights of all sets of tasks of which every task runs, by ascending tasks."""

    constant: float
    sets: tuple[tuple[int, ...], ...]  # tasks, ascending
    weight: FloatArray  # (sets,), above 0

    def fidelity(self, live: BoolArray) -> float:
        """Return the output fidelity, from which tasks run, shape (tasks,)."""
        whole = np.array([bool(live[list(some)].all()) for some in self.sets], dtype=np.bool_)
        return self.constant + float(self.weight[whole].sum())


def fidelity_paths(
    model: FidelityModel, live: BoolArray, may_run: BoolArray, budget: Budget, most: int = MOST_PRODUCTS
) -> FidelityPaths | None:
    """Return fidelity as a sum over sets of the tasks that may run; None where it has too many products.

    Cost O(tasks + substreams + products): at worst exponential in the depth, and ended at *most* products.

    Parameters
    ----------
    live, may_run
        Shape (tasks,): what runs for sure, and what is asked about; the rest does not run.
    """
    asked = may_run & ~live
    if len(model.outputs) == 0:
        return FidelityPaths(1.0, (), np.zeros(0))
    without, with_all = model.intact(live), model.intact(live | asked)
    expansion = _PathExpansion(model, asked, with_all != without, without, budget, most)
    for level in model.levels:
        if not expansion.add(level):
            return None
    return expansion.of_outputs(model)


class _PathExpansion:
    """The sums of the rows that depend on what is asked about; the others are numbers."""

    def __init__(
        self,
        model: FidelityModel,
        asked: BoolArray,
        touched: BoolArray,
        known: FloatArray,
        budget: Budget,
        most: int,
    ) -> None:
        rows = np.arange(len(asked)) if model.task_of is None else model.task_of
        self._factor = [int(t) if t < len(asked) and asked[t] else -1 for t in rows.tolist()]
        self._touched, self._known = touched, np.where(touched, 0.0, known)
        self._budget, self._left = budget, most
        inputs = np.zeros(len(touched), dtype=np.bool_)
        for level in model.levels:
            inputs[level.task] = True
        self._sum: dict[int, _Sum] = {
            row: {frozenset((self._factor[row],)): 1.0} for row in np.flatnonzero(touched & ~inputs).tolist()
        }

    def add(self, level: Level) -> bool:
        """Form the sums of a level's rows; return whether there was room and time for them."""
        here = np.flatnonzero(self._touched[level.task])
        if len(here) == 0:
            return True
        ends = np.append(level.first[1:], level.slots)
        wanted = np.zeros(level.slots, dtype=np.bool_)
        for first, end in zip(level.first[here].tolist(), ends[here].tolist(), strict=True):
            wanted[first:end] = True
        slots = self._slots(level, wanted)
        for place in here.tolist():
            product: _Sum = {frozenset(): 1.0}
            for slot in range(int(level.first[place]), int(ends[place])):
                product = self._times(product, slots[slot])
            row = int(level.task[place])
            if (own := self._factor[row]) >= 0:
                product = self._times(product, {frozenset((own,)): 1.0})
            self._sum[row] = product
            if self._left < 0 or self._budget.over():
                return False
        return True

    def _slots(self, level: Level, wanted: BoolArray) -> dict[int, _Sum]:
        """Return the sums of some slots."""
        number = level.sums(self._known)
        slots: dict[int, _Sum] = {}
        for slot in np.flatnonzero(wanted).tolist():
            slots[slot] = defaultdict(float)
            if number[slot] > 0.0:
                slots[slot][frozenset()] = float(number[slot])
        some = self._touched[level.sender] & wanted[level.slot]
        self._gather(slots, level.slot[some], level.sender[some], level.weight[some], self._sum)
        if level.gatherings:
            gathered: dict[int, _Sum] = {k: defaultdict(float) for k in range(level.gatherings)}
            some = self._touched[level.gathered]
            self._gather(gathered, level.gathering[some], level.gathered[some], level.gather_weight[some], self._sum)
            some = wanted[level.spread_slot]
            self._gather(slots, level.spread_slot[some], level.spread[some], level.spread_weight[some], gathered)
        return slots

    def _gather(
        self,
        into: dict[int, _Sum],
        target: IntArray,
        source: IntArray,
        weight: FloatArray,
        sums: dict[int, _Sum],
    ) -> None:
        """Add sums to others, each with a weight."""
        for t, s, w in zip(target.tolist(), source.tolist(), weight.tolist(), strict=True):
            terms = sums[s]
            self._left -= len(terms)
            if self._left < 0:
                return
            if w > 0.0:
                sum_ = into[t]
                for some, x in terms.items():
                    sum_[some] += w * x

    def _times(self, one: _Sum, other: _Sum) -> _Sum:
        """Return the product of two sums; a task that stands in both factors counts once."""
        self._left -= len(one) * len(other)
        if self._left < 0:
            return {}
        product: defaultdict[frozenset[int], float] = defaultdict(float)
        for a, x in one.items():
            for b, y in other.items():
                product[a | b] += x * y
        return product

    def of_outputs(self, model: FidelityModel) -> FidelityPaths | None:
        """Return the weighted sum of the outputs."""
        whole: defaultdict[frozenset[int], float] = defaultdict(float)
        whole[frozenset()] = float(model.weight @ self._known[model.outputs])
        for row, weight in zip(model.outputs.tolist(), model.weight.tolist(), strict=True):
            if weight > 0.0 and row in self._sum:
                for some, x in self._sum[row].items():
                    whole[some] += weight * x
        constant = whole.pop(frozenset())
        items = sorted((tuple(sorted(some)), x) for some, x in whole.items() if x > 0.0)
        return FidelityPaths(constant, tuple(some for some, _ in items), np.array([x for _, x in items]))


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Tasks that stand in the same sets; sets as those of bundles. F tasks, B bundles, Q sets."""

    task: IntArray  # (F,) that stand in any set, ascending
    bundle: IntArray  # (F,) bundle of each, numbered by its first task
    bundles: int
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],) bundles of each set, ascending


def bundled(sets: Sequence[Sequence[int]]) -> Bundles:
    """Return sets of numbers with those in one that stand in exactly the same sets. Cost O(numbers in sets)."""
    standing: dict[int, list[int]] = {}
    for number, some in enumerate(sets):
        for task in some:
            standing.setdefault(task, []).append(number)
    kept = sorted(standing)
    number_of: dict[tuple[int, ...], int] = {}
    bundle = [number_of.setdefault(tuple(standing[task]), len(number_of)) for task in kept]
    by_task = dict(zip(kept, bundle, strict=True))
    members = [sorted({by_task[task] for task in some}) for some in sets]
    return Bundles(
        np.array(kept, dtype=np.int64),
        np.array(bundle, dtype=np.int64),
        len(number_of),
        np.concatenate(([0], np.cumsum([len(some) for some in members]))).astype(np.int64),
        np.array([b for some in members for b in some], dtype=np.int64),
    )

"""What one replica more or less does to output fidelity, for all tasks at once, and which replicas do nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, Level
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Fidelity around one set of live tasks; all arrays have shape (tasks,) but ``means``.

    ``intact`` is 1 - loss, ``fed`` what a task would keep if it lived, ``rise`` the fidelity per unit of what it keeps.
    """

    live: BoolArray
    intact: FloatArray
    fed: FloatArray
    rise: FloatArray
    means: tuple[FloatArray, ...]  # weighted mean of each slot, by level

    @property
    def change(self) -> FloatArray:
        """By how much fidelity grows when a task starts to live, or falls when it ceases to."""
        return np.asarray(self.fed * self.rise, dtype=np.float64)


def gains(model: FidelityModel, live: BoolArray) -> Gains:
    """Return what each task alone changes, exactly, by one pass down and one up; O(tasks + substreams).

    No product of slots has a task twice unless streams of a join share an ancestor; there the pass is the derivative,
    exact for what a task changes directly and a first-order value for what meets again further down.
    """
    intact, fed, means = _fed(model, live)
    rise = np.zeros(len(live))
    np.add.at(rise, model.outputs, model.weight)
    for level, mean in zip(reversed(model.levels), reversed(means), strict=True):
        reach = np.where(live[level.task], rise[level.task], 0.0)[level_owner(level)] * others(level, mean)
        rise += np.bincount(level.sender, level.weight * reach[level.slot], minlength=len(live))
        if level.gatherings:
            each = np.bincount(level.spread, level.spread_weight * reach[level.spread_slot], minlength=level.gatherings)
            rise += np.bincount(level.gathered, level.gather_weight * each[level.gathering], minlength=len(live))
    return Gains(live, intact, fed, rise, tuple(means))


def _fed(model: FidelityModel, live: BoolArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return what is intact, what each task is fed, and the mean of each slot by level."""
    intact = live.astype(np.float64)
    fed = np.ones(len(live))
    means = []
    for level in model.levels:
        mean = level.means(intact)
        fed[level.task] = np.multiply.reduceat(mean, level.first)
        intact[level.task] = np.where(live[level.task], fed[level.task], 0.0)
        means.append(mean)
    return intact, fed, means


def level_owner(level: Level) -> IntArray:
    """Return the position in ``level.task`` of each slot's task, shape (slots,)."""
    return np.repeat(np.arange(len(level.task)), np.diff(np.append(level.first, level.slots)))


def others(level: Level, values: FloatArray) -> FloatArray:
    """Return for each slot the product of the values of its task's other slots, shape (slots,)."""
    if level.slots == len(level.task):
        return np.ones(level.slots)
    owner = level_owner(level)
    none = values == 0.0
    product = np.multiply.reduceat(np.where(none, 1.0, values), level.first)[owner]
    zeros = np.add.reduceat(none.astype(np.int64), level.first)[owner]
    rest = np.where(none, product, product / np.where(none, 1.0, values))
    return np.where(zeros == none, rest, 0.0)


def useful(model: FidelityModel, live: BoolArray) -> BoolArray:
    """Return the live tasks without which fidelity would be less, shape (tasks,); O(tasks + substreams).

    These produce something and are used, both over substreams that weigh something. Taking all others away together
    changes nothing.
    """
    produces = live.copy()
    for level in model.levels:
        whole = np.logical_and.reduceat(level.means(produces.astype(np.float64)) > 0.0, level.first)
        produces[level.task] &= whole
    used = np.zeros(len(live), dtype=np.bool_)
    used[model.outputs[model.weight > 0.0]] = True
    for level in reversed(model.levels):
        asks = (used & produces)[level.task][level_owner(level)]
        used[level.sender[asks[level.slot] & (level.weight > 0.0)]] = True
        if level.gatherings:
            asked = np.zeros(level.gatherings, dtype=np.bool_)
            asked[level.spread[asks[level.spread_slot] & (level.spread_weight > 0.0)]] = True
            used[level.gathered[asked[level.gathering] & (level.gather_weight > 0.0)]] = True
    return produces & used

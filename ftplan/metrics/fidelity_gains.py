"""What one replica more or less does to output fidelity, for all tasks at once, and which replicas do nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.metrics.fidelity import FidelityModel
from ftplan.model.topology import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Fidelity around one set of live tasks; all arrays have shape (tasks,) but ``means``."""

    intact: FloatArray  # 1 - loss
    fed: FloatArray  # what the task would keep if it lived
    slope: FloatArray  # fidelity per unit of what the task keeps
    means: tuple[FloatArray, ...]  # weighted mean of each slot, by level

    @property
    def change(self) -> FloatArray:
        """By how much fidelity grows when a task starts to live, or falls when it ceases to."""
        return np.asarray(self.fed * self.slope, dtype=np.float64)


def gains(model: FidelityModel, live: BoolArray) -> Gains:
    """Return what each task alone changes, by one pass down and one up; O(tasks + substreams).

    Exact unless streams of one join share an ancestor: there the derivative, exact for what a task changes directly
    and a first-order value for what meets again further down.
    """
    intact, means = model.intact_and_means(live)
    fed = np.ones(len(live))
    for level, mean in zip(model.levels, means, strict=True):
        fed[level.task] = np.multiply.reduceat(mean, level.first)
    return Gains(intact, fed, model.slope_by_means(live, means), means)


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
        asks = (used & produces)[level.task][level.owner]
        used[level.sender[asks[level.slot] & (level.weight > 0.0)]] = True
        if level.gatherings:
            asked = np.zeros(level.gatherings, dtype=np.bool_)
            asked[level.spread[asks[level.spread_slot] & (level.spread_weight > 0.0)]] = True
            used[level.gathered[asked[level.gathering] & (level.gather_weight > 0.0)]] = True
    return produces & used

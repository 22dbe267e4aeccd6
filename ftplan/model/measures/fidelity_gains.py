"""What one replica more or less does to output fidelity, for all tasks at once, and which replicas do nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.topology import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Fidelity around one set of live tasks, by row of the model but for ``change``."""

    intact: FloatArray  # (rows,) 1 - loss
    slope: FloatArray  # (rows,) fidelity per unit of what the row keeps
    means: tuple[FloatArray, ...]  # weighted mean of each slot, by level
    change: FloatArray  # (tasks,) by how much fidelity grows when a task starts to live, or falls when it ceases to


def gains(model: FidelityModel, live: BoolArray) -> Gains:
    """Return what each task alone changes, by one pass down and one up; O(tasks + substreams).

    Exact unless streams of one join share an ancestor: there the derivative, exact for what a task changes directly
    and a first-order value for what meets again further down.
    """
    intact, means = model.intact_and_means(live)
    fed = np.ones(len(intact))  # what the row would keep if it lived
    for level, mean in zip(model.levels, means, strict=True):
        fed[level.task] = np.multiply.reduceat(mean, level.first)
    slope = model.slope_by_means(live, means)
    return Gains(intact, slope, means, model.by_task(fed * slope, len(live)))


def useful(model: FidelityModel, live: BoolArray) -> BoolArray:
    """Return the live tasks without which fidelity would be less, shape (tasks,); O(tasks + substreams).

    These have a row that produces something and is used, both over substreams that weigh something. Taking all others
    away together changes nothing.
    """
    return np.asarray(model.by_task(useful_rows(model, live).astype(np.float64), len(live)) > 0.0, dtype=np.bool_)


def useful_rows(model: FidelityModel, live: BoolArray) -> BoolArray:
    """Return the rows that live, produce something and are used, shape (rows,)."""
    produces = model.live_rows(live).copy()
    for level in model.levels:
        whole = np.logical_and.reduceat(level.means(produces.astype(np.float64)) > 0.0, level.first)
        produces[level.task] &= whole
    used = np.zeros(len(produces), dtype=np.bool_)
    used[model.outputs[model.weight > 0.0]] = True
    for level in reversed(model.levels):
        asks = (used & produces)[level.task][level.owner]
        used[level.sender[asks[level.slot] & (level.weight > 0.0)]] = True
        if level.gatherings:
            asked = np.zeros(level.gatherings, dtype=np.bool_)
            asked[level.spread[asks[level.spread_slot] & (level.spread_weight > 0.0)]] = True
            used[level.gathered[asked[level.gathering] & (level.gather_weight > 0.0)]] = True
    return produces & used

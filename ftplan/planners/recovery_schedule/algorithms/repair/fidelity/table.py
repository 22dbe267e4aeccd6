"""The most fidelity at every cost at once, where too many sets of tasks add to it: by tables over operators."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replicate_tasks.algorithms.models.circuit import circuit
from ftplan.planners.replicate_tasks.algorithms.models.reduction import reduce

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
        made = circuit(graph, model, live | (units == 0), units, budget)
        values = reduce(made, int(whole.max(initial=0)), budget=budget).table.values
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

"""The three objectives of checkpoint allocations, as costs for planners and recomputed from a plan alone.

``correlation`` and ``node-correlation`` are sums over all copies of load times correlation, low is good; ``usable``
counts copies that could be used in windows of overload, high is good. Shapes: W windows, K key groups, N nodes,
E copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.defaults import OVERLOAD
from ftplan.model.measures.correlation import Correlate, adjusted, mean_elsewhere, node_sums, standardised
from ftplan.model.measures.node_load import NodeLoad, capacity_of, node_load
from ftplan.model.measures.planned_copies import PlannedCopies, planned_copies
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.copy_measures import usable_at_random, usable_copies, usable_windows

ObjectiveName = Literal["correlation", "node-correlation", "usable"]
OBJECTIVES: tuple[ObjectiveName, ...] = get_args(ObjectiveName)
#: Copies whose series are gathered at once: bounds the memory of :func:`copy_values`.
COPIES_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class CheckpointObjective:
    """An objective with its options, named as on the command line.

    - ``correlation``: cost(g, i) = load(g) · sum of corr(g, h) over the groups h with primary on node i.
    - ``node-correlation``: cost(g, i) = load(g) · corr(g, sum of the series of these groups).
    - ``usable``: the number of windows in which the node of g's primary is overloaded and i could take g without being
      overloaded itself; each copy judged alone.

    A correlation is 0 where either series is constant. ``correlate`` says which series: loads, shares of the total of
    all key groups, or loads without the daily profile; load(g) is the mean load in any case.
    ``capacity_per_core`` is in load units per second; None until :meth:`resolved`.

    Raises :class:`FtplanError` if ``usable`` is asked for with transformed series.
    """

    name: ObjectiveName = "correlation"
    correlate: Correlate = "raw"
    capacity_per_core: float | None = None
    overload: float = OVERLOAD

    def __post_init__(self) -> None:
        if self.name == "usable" and self.correlate != "raw":
            raise FtplanError(
                f"--correlate {self.correlate}: --objective usable looks at loads, not at correlations: "
                "leave out --correlate, or take --objective correlation or node-correlation"
            )

    @property
    def sense(self) -> Literal["min", "max"]:
        """Whether less or more is better."""
        return "max" if self.name == "usable" else "min"

    @property
    def sign(self) -> float:
        """What turns a value into a cost that planners minimise, and back."""
        return -1.0 if self.name == "usable" else 1.0

    @property
    def integral(self) -> bool:
        """Whether all values are whole numbers, so that a bound can be rounded to one."""
        return self.name == "usable"

    def resolved(self, series: KeyGroupSeries, cluster: Cluster) -> CheckpointObjective:
        """Return the objective with a number for the capacity, by default so that mean utilisation is 0.7."""
        if self.capacity_per_core is not None:
            return self
        return replace(self, capacity_per_core=capacity_of(series, cluster))

    def node_load(self, loads: FloatArray, window_s: float, home: IntArray, cluster: Cluster) -> NodeLoad:
        """Return load and capacity of all nodes under groups of these loads (W, K) and primaries (K,)."""
        if self.capacity_per_core is None:
            raise ValueError("the objective has no capacity yet: see resolved()")
        return node_load(loads, window_s, home, cluster, self.capacity_per_core, self.overload)


def objective_costs(
    objective: CheckpointObjective, loads: FloatArray, window_s: float, home: IntArray, cluster: Cluster
) -> FloatArray:
    """Return what a copy of each group costs on each node, shape (K, N), small is good in every objective.

    *loads* (W, K), *home* (K,) the node position of each group's primary. ``usable`` counts negative, and its capacity
    must be resolved. Cost O(W K N).
    """
    if objective.name == "usable":
        count = usable_windows(loads, home, objective.node_load(loads, window_s, home, cluster))
        return np.subtract(0.0, count, out=count)
    z, host = _factors(objective, loads, window_s, home, len(cluster.nodes))
    cost: FloatArray = z.T @ host
    if loads.shape[0]:
        cost *= loads.mean(axis=0)[:, None]
    return cost


@dataclass(frozen=True, eq=False)
class CopyValues:
    """Values by copy (E,), and by group what a random plan expects of as many copies (K,); in the objective's sense."""

    value: FloatArray
    random: FloatArray


def copy_values(
    objective: CheckpointObjective, plan: PlannedCopies, series: KeyGroupSeries, cluster: Cluster
) -> CopyValues:
    """Judge every copy of a plan, without a matrix of groups times nodes.

    A random plan puts each copy on a node that accepts checkpoints and is not the primary's, all equally likely.
    Cost O(W (K + N + E)).
    """
    loads = series.loads[:, plan.columns]
    accepts = cluster.accepting("checkpoints")
    objective = objective.resolved(series, cluster)
    if objective.name == "usable":
        nodes = objective.node_load(loads, series.window_s, plan.home, cluster)
        return CopyValues(
            usable_copies(loads, plan.home, plan.group, plan.host, nodes),
            usable_at_random(loads, plan.home, accepts, nodes) * plan.count,
        )
    z, host = _factors(objective, loads, series.window_s, plan.home, len(cluster.nodes))
    mean = loads.mean(axis=0) if loads.shape[0] else np.zeros(loads.shape[1])
    value = np.zeros(plan.group.size)
    for start in range(0, plan.group.size, COPIES_AT_ONCE):
        part = slice(start, start + COPIES_AT_ONCE)
        value[part] = np.einsum("wk,wk->k", z[:, plan.group[part]], host[:, plan.host[part]])
    own = accepts[plan.home]
    elsewhere = z.T @ host[:, accepts].sum(axis=1) - np.where(own, np.einsum("wk,wk->k", z, host[:, plan.home]), 0.0)
    random = mean_elsewhere(elsewhere, plan.home, accepts)
    return CopyValues(value * mean[plan.group], random * mean * plan.count)


def objective_value(
    objective: CheckpointObjective,
    assignments: Sequence[Mapping[str, Any]],
    series: KeyGroupSeries,
    cluster: Cluster,
) -> float:
    """Return a plan's objective value, from its assignments and the statistics alone; primaries as the plan states.

    Raises :class:`FtplanError` if an assignment is malformed or names a node that the cluster does not have.
    """
    return float(copy_values(objective, planned_copies(assignments, series, cluster), series, cluster).value.sum())


def _factors(
    objective: CheckpointObjective, loads: FloatArray, window_s: float, home: IntArray, nodes: int
) -> tuple[FloatArray, FloatArray]:
    """Return series of groups (W, K) and of nodes (W, N) whose inner products are what load is multiplied with."""
    series = adjusted(loads, window_s, objective.correlate)
    z = standardised(series)
    if objective.name == "correlation":
        return z, node_sums(z, home, nodes)
    total = node_sums(series, home, nodes)
    if total.size:
        # Series that cancel or add up to a constant leave rounding noise, which must not become a correlation.
        scale = np.bincount(home, np.abs(series).max(axis=0), nodes) if home.size else np.zeros(nodes)
        steady = np.ptp(total, axis=0) <= NOISE * scale
        total[:, steady] = 0.0
    return z, standardised(total)

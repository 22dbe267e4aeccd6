"""The load of the key groups on each node, its capacity, and when it is overloaded.

Shapes: W windows, K key groups, N nodes. Loads are in load units per window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ftplan.model.cluster import Cluster
from ftplan.model.defaults import MEAN_UTILISATION
from ftplan.model.measures.correlation import node_sums
from ftplan.model.plan import canonical_number
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MS_PER_CORE_SECOND


@dataclass(frozen=True, eq=False)
class NodeLoad:
    """Load (W, N) of the primaries on each node, and capacity (N,) of each node, both per window."""

    load: FloatArray
    capacity: FloatArray
    overload: float

    @property
    def overloaded(self) -> npt.NDArray[np.bool_]:
        """Whether each node's utilisation exceeds the limit in each window, shape (W, N)."""
        return np.asarray(self.load > self.overload * self.capacity)

    @property
    def room(self) -> FloatArray:
        """What each node can take in each window before it is overloaded, shape (W, N), negative where it is."""
        return np.asarray(self.overload * self.capacity - self.load)


def node_load(
    loads: FloatArray, window_s: float, home: IntArray, cluster: Cluster, capacity_per_core: float, overload: float
) -> NodeLoad:
    """Return load and capacity of all nodes, from loads (W, K) and the node position of each group's primary, (K,).

    ``capacity_per_core`` is in load units per second, see :func:`capacity_of`. The cores that other work uses
    (``used_cpu``) count as constant load of their node.
    """
    per_core = capacity_per_core * window_s
    foreign = np.array([node.used_cpu for node in cluster.nodes], dtype=np.float64) * per_core
    return NodeLoad(node_sums(loads, home, len(cluster.nodes)) + foreign, cluster.cpu * per_core, overload)


def capacity_of(series: KeyGroupSeries, cluster: Cluster) -> float:
    """Return load units per second and core: 1,000 for cpu milliseconds, else :func:`default_capacity`."""
    if series.measure == "cpu_ms":
        return MS_PER_CORE_SECOND
    return default_capacity(series.loads, cluster, series.window_s)


def default_capacity(load: FloatArray, cluster: Cluster, window_s: float) -> float:
    """Return load units per second and core at which the cluster's mean utilisation is 0.7; 0 without any cpu.

    *load* has shape (W, ...); its columns sum to the total load. Cores that other work uses count towards the 0.7;
    where they alone reach it, the load fills 0.7 of the cores that are left. Rounded to 12 digits, as in plans, so
    that a plan's file holds the exact number.
    """
    cores = float(cluster.cpu.sum())
    used = sum(node.used_cpu for node in cluster.nodes)
    spare = MEAN_UTILISATION * cores - used
    if spare <= 0:
        spare = MEAN_UTILISATION * (cores - used)
    mean = float(load.sum(axis=1).mean()) if load.shape[0] else 0.0
    return canonical_number(mean / (spare * window_s)) if spare > 0 else 0.0

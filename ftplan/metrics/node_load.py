"""What the key groups on a node add up to, and when that is too much.

Shapes: W windows, K key groups, N nodes. Loads are in load units per window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ftplan.model.cluster import Cluster
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, IntArray

#: Mean utilisation of the cluster that the default capacity stands for.
MEAN_UTILISATION = 0.7
#: Utilisation above which a node is overloaded, by default.
OVERLOAD = 0.85
#: Cpu milliseconds that a core has in a second.
MS_PER_CORE_SECOND = 1000.0


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


def load_of_nodes(loads: FloatArray, home: IntArray, nodes: int) -> FloatArray:
    """Return the total load of the groups on each node, shape (W, N), from loads (W, K) and node positions (K,)."""
    total = np.zeros((loads.shape[0], nodes))
    order = np.argsort(home, kind="stable")
    ends = np.searchsorted(home[order], np.arange(nodes + 1))
    for node in range(nodes):
        members = order[ends[node] : ends[node + 1]]
        if members.size:
            total[:, node] = loads[:, members].sum(axis=1)
    return total


def node_load(
    series: KeyGroupSeries,
    home: IntArray,
    cluster: Cluster,
    *,
    capacity_per_core: float | None = None,
    overload: float = OVERLOAD,
) -> NodeLoad:
    """Return load and capacity of all nodes.

    ``capacity_per_core`` is in load units per second and core. None means 1,000 where the load is cpu milliseconds,
    else so much that all load over all windows is 0.7 of all nodes' capacity. A node is overloaded in a window when
    its load exceeds *overload* times its capacity.
    """
    load = load_of_nodes(series.loads, home, len(cluster.nodes))
    if capacity_per_core is None:
        if series.measure == "cpu_ms":
            capacity_per_core = MS_PER_CORE_SECOND
        else:
            capacity_per_core = default_capacity(load, cluster, series.window_s)
    return NodeLoad(load, cluster.cpu * capacity_per_core * series.window_s, overload)


def default_capacity(load: FloatArray, cluster: Cluster, window_s: float) -> float:
    """Return load units per second and core at which the cluster's mean utilisation is 0.7; 0 without any cpu."""
    cores = float(cluster.cpu.sum())
    mean = float(load.sum(axis=1).mean()) if load.shape[0] else 0.0
    return mean / (MEAN_UTILISATION * cores * window_s) if cores > 0 else 0.0

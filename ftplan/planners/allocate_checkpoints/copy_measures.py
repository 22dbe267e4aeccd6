"""Measures of where checkpoint copies lie: usable in overload, assisted migrations, balance of load.

- *Usable* ([Madsen2015], section 7, figure 8): for each key group on an overloaded node, could the host of its
  checkpoint take it without being overloaded itself? Each copy is judged alone.
- *Assisted migrations* (figure 7): how many migrations away from overloaded nodes the copies make cheap.
- *Balance*: how evenly the copies lie on the nodes, measured in load.

Shapes: W windows, K groups, N nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ftplan.model.cluster import Cluster
from ftplan.model.measures.correlation import mean_elsewhere
from ftplan.model.measures.node_load import NodeLoad
from ftplan.model.measures.planned_copies import PlannedCopies
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.rules import fair_shares


@dataclass(frozen=True, slots=True)
class Migrations:
    """Migrations of the simulated adaptation: to a copy's host, and to any other node."""

    assisted: int
    direct: int

    @property
    def share(self) -> float | None:
        """The part of all migrations that is assisted by a checkpoint, None where there is no migration."""
        made = self.assisted + self.direct
        return self.assisted / made if made else None


def migrations(loads: FloatArray, plan: PlannedCopies, nodes: NodeLoad) -> Migrations:
    """Simulate a simple adaptation in the manner of Flux [Shah2003] and count its migrations.

    Every window stands alone and starts from the planned primaries. Its overloaded nodes are taken by falling excess,
    ties in the cluster's order. Each gives away key groups, heaviest first, ties in the order of (operator, number),
    groups without load never, until it is no longer overloaded or all were looked at. A group goes to the host of its
    copies that has most room, if the group fits there; that is an assisted migration. Else it goes to the node with
    most room, whichever it is, if it fits there: a direct one, with a transfer of state. Else it stays, which is no
    migration. What has moved takes room where it is for the rest of the window; no node becomes overloaded by it. Any
    node may host any group.

    *loads* (W, P) of the plan's groups. Cost O(W N + migrations × N). Source: [Madsen2015], section 7, figure 7,
    the share of assisted migrations among those made; that holders of checkpoints are preferred as targets is ours, and
    raises the share of a random plan too.
    """
    assisted = direct = 0
    hosts = np.split(plan.host, np.cumsum(plan.count)[:-1]) if plan.count.size else []
    members = [np.flatnonzero(plan.home == node) for node in range(nodes.load.shape[1])]
    overloaded = nodes.overloaded
    for window in np.flatnonzero(overloaded.any(axis=1)).tolist():
        room = nodes.overload * nodes.capacity - nodes.load[window]
        for node in np.argsort(room, kind="stable")[: int(overloaded[window].sum())].tolist():
            loaded = members[node][loads[window, members[node]] > 0]
            for group in loaded[np.argsort(-loads[window, loaded], kind="stable")].tolist():
                if room[node] >= 0:
                    break
                load = loads[window, group]
                target = _roomiest(room, hosts[group], load)
                helped = target is not None
                if target is None:
                    target = _roomiest(room, np.arange(room.size), load)
                if target is None:
                    continue
                room[node] += load
                room[target] -= load
                assisted += helped
                direct += not helped
    return Migrations(assisted, direct)


def _roomiest(room: FloatArray, nodes: IntArray, load: float) -> int | None:
    """Return the node with most room, the first of equals, if the load fits there."""
    if not nodes.size:
        return None
    best = int(nodes[room[nodes].argmax()])
    return best if room[best] >= load else None


@dataclass(frozen=True, eq=False)
class CheckpointBalance:
    """Copies on each node against its fair share. Arrays have shape (nodes,), in the cluster's order.

    Loads are in load units per window, summed over the copies' key groups. ``largest_deviation`` is the largest
    ``|load / fair - 1|``: infinite where a node without a share holds load, 0 where there is no load at all.
    """

    load: FloatArray
    count: IntArray
    fair_load: FloatArray
    largest_deviation: float


def deviation(load: FloatArray, fair_load: FloatArray) -> float:
    """Return the largest relative deviation of *load* from *fair_load*, both of shape (nodes,)."""
    shared = fair_load > 0
    if np.any(load[~shared] > 0):
        return float("inf") if shared.any() else 0.0
    if not shared.any():
        return 0.0
    return float(np.max(np.abs(load[shared] / fair_load[shared] - 1.0)))


def checkpoint_balance(
    assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries
) -> CheckpointBalance:
    """Return load, number and fair share of the copies on each node.

    All operators count together. Key groups that the statistics do not know have load 0; copies on nodes that the
    cluster does not know are left out (``verify`` names them). Cost O(copies).
    """
    nodes = len(cluster.nodes)
    load = np.zeros(nodes)
    count = np.zeros(nodes, dtype=np.int64)
    rows = sorted(
        (str(item["operator"]), int(item["key_group"]), str(node))
        for item in assignments
        for node in item["checkpoints"]
    )
    for operator, key_group, node in rows:
        position = cluster.position.get(node)
        if position is None:
            continue
        load[position] += series.load_of(operator, key_group)
        count[position] += 1
    fair_load = load.sum() * fair_shares(cluster)
    return CheckpointBalance(load, count, fair_load, deviation(load, fair_load))


#: Numbers compared at once by :func:`usable_copies`: bounds its memory to about 32 MB.
MOST_NUMBERS_AT_ONCE = 1 << 25
#: Comparisons of :func:`usable_windows` made at once, a byte each, so that they stay in a core's cache; and windows
#: of which a byte can hold the count.
MOST_BYTES_IN_CACHE = 1 << 19
BYTE_WINDOWS = 255


def usable_windows(loads: FloatArray, home: IntArray, nodes: NodeLoad) -> FloatArray:
    """Return in how many windows a copy of each group on each node would be usable, shape (K, N).

    A window counts where the node of the group's primary is overloaded and the host's load plus the group's stays
    within the host's limit. The primary's own node counts 0. Linear in the plan: the sum over all copies is the
    number of usable copies. Cost O(overloaded windows × K × N) comparisons, blockwise.
    """
    groups, hosts = loads.shape[1], nodes.load.shape[1]
    usable = np.zeros((groups, hosts))
    room, overloaded = nodes.room, nodes.overloaded
    for node in range(hosts):
        members = np.flatnonzero(home == node)
        windows = np.flatnonzero(overloaded[:, node])
        if not members.size or not windows.size:
            continue
        step = min(max(1, MOST_BYTES_IN_CACHE // (members.size * hosts)), BYTE_WINDOWS)
        count = np.zeros((members.size, hosts))
        for start in range(0, windows.size, step):
            part = windows[start : start + step]
            fits = loads[part[:, None], members][:, :, None] <= room[part][:, None, :]
            count += np.add.reduce(fits.view(np.uint8), axis=0, dtype=np.uint8)
        count[:, node] = 0.0
        usable[members] = count
    return usable


def overloaded_windows(home: IntArray, nodes: NodeLoad) -> IntArray:
    """Return in how many windows the primary's node of each group is overloaded, shape (K,)."""
    return np.asarray(nodes.overloaded.sum(axis=0)[home], dtype=np.int64)


def usable_copies(loads: FloatArray, home: IntArray, group: IntArray, host: IntArray, nodes: NodeLoad) -> FloatArray:
    """Return in how many windows each copy of a plan is usable, shape (E,): copy e of group[e] lies on host[e].

    The same count as :func:`usable_windows` without its matrix. Cost O(W E), blockwise.
    """
    usable = np.zeros(group.size)
    room, overloaded = nodes.room, nodes.overloaded
    step = max(1, MOST_NUMBERS_AT_ONCE // max(8 * loads.shape[0], 1))
    for start in range(0, group.size, step):
        mine, there = group[start : start + step], host[start : start + step]
        fits = (loads[:, mine] <= room[:, there]) & overloaded[:, home[mine]]
        usable[start : start + step] = fits.sum(axis=0) * (there != home[mine])
    return usable


def usable_at_random(loads: FloatArray, home: IntArray, accepts: npt.NDArray[np.bool_], nodes: NodeLoad) -> FloatArray:
    """Return in how many windows a random copy of each group is usable on average, shape (K,).

    Random is uniform over the nodes that accept checkpoints (N,) except the primary's, which is overloaded whenever a
    window counts, so that it never fits. Cost O(W N log N + overloaded windows × K log N), without a matrix K × N.
    """
    fitting = np.zeros(loads.shape[1])
    room, overloaded = nodes.room[:, accepts], nodes.overloaded
    for window in np.flatnonzero(overloaded.any(axis=1)).tolist():
        groups = np.flatnonzero(overloaded[window, home])
        rooms = np.sort(room[window])
        fitting[groups] += rooms.size - np.searchsorted(rooms, loads[window, groups], side="left")
    return mean_elsewhere(fitting, home, accepts)

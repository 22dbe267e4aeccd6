"""How many migrations away from overloaded nodes a plan's checkpoints make cheap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.node_load import NodeLoad
from ftplan.model.measures.planned_copies import PlannedCopies
from ftplan.model.topology import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Migrations:
    """Migrations of the simulated adaptation: to a copy's host, and to any other node; and situations of overload."""

    assisted: int
    direct: int
    situations: int

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
    assisted = direct = situations = 0
    hosts = np.split(plan.host, np.cumsum(plan.count)[:-1]) if plan.count.size else []
    members = [np.flatnonzero(plan.home == node) for node in range(nodes.load.shape[1])]
    overloaded = nodes.overloaded
    for window in np.flatnonzero(overloaded.any(axis=1)).tolist():
        room = nodes.overload * nodes.capacity - nodes.load[window]
        for node in np.argsort(room, kind="stable")[: int(overloaded[window].sum())].tolist():
            situations += 1
            for group in _heaviest_first(loads[window], members[node]):
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
    return Migrations(assisted, direct, situations)


def _heaviest_first(load: FloatArray, groups: IntArray) -> list[int]:
    """Return the groups that have load, heaviest first, ties in their order."""
    loaded = groups[load[groups] > 0]
    ordered: list[int] = loaded[np.argsort(-load[loaded], kind="stable")].tolist()
    return ordered


def _roomiest(room: FloatArray, nodes: IntArray, load: float) -> int | None:
    """Return the node with most room, the first of equals, if the load fits there."""
    if not nodes.size:
        return None
    best = int(nodes[room[nodes].argmax()])
    return best if room[best] >= load else None

"""Where recovered tasks can go: the nodes that are left, and those that arrive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node
from ftplan.model.failure import Arrival, planned_times
from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.planners.failures import Failed
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host


@dataclass(frozen=True, eq=False)
class Room:
    """Hosts as :class:`RecoveryProblem` has them; ``live`` are the hosts of nodes that did not fail, by node id."""

    hosts: tuple[Host, ...]
    live_hosts: int
    arrivals: tuple[ArrivalEvent, ...]
    live: Mapping[str, int]
    warnings: tuple[Warn, ...] = ()


def room(
    cluster: Cluster | None,
    arrivals: Sequence[Arrival],
    failed: Failed,
    used: Mapping[str, float],
    max_cpu: float,
    capacity: float | None,
) -> Room:
    """Return the hosts and the arrivals in the order of :class:`RecoveryProblem`.

    Parameters
    ----------
    used
        Cores of the live tasks and live replicas on each node.
    capacity
        Without a cluster the room of one host without an id; with one it is not used here.

    Raises
    ------
    FtplanError
        If a node arrives that is still there.
    """
    _refuse_live_ids(cluster, arrivals, failed)
    live: list[tuple[str | None, Host, bool]] = []
    if cluster is None and capacity is not None:
        live.append((None, Host(None, capacity), True))
    for node in cluster.nodes if cluster is not None else ():
        takes_tasks = "tasks" in node.accepts
        if node.id not in failed.nodes and (takes_tasks or node.id in used):
            free = max_cpu * node.cpu - node.used_cpu - used.get(node.id, 0.0) if takes_tasks else 0.0
            live.append((node.id, _host(node, free), True))
    hosting = [item for item in arrivals if "tasks" in item.node.accepts]
    coming: list[tuple[float, Arrival]] = []
    for at_s, item in zip(planned_times(hosting), hosting, strict=True):
        if item.at_s[1] == 0.0:
            live.append((item.node.id, _arriving(item.node, max_cpu), False))
        else:
            coming.append((at_s, item))
    live.sort(key=lambda item: natural_key(item[0] or ""))
    coming.sort(key=lambda item: (item[0], natural_key(item[1].node.id)))
    hosts = [host for _, host, _ in live] + [_arriving(item.node, max_cpu) for _, item in coming]
    events = tuple(ArrivalEvent(at_s, len(live) + k, item.at_s) for k, (at_s, item) in enumerate(coming))
    index = {node: i for i, (node, _, was_there) in enumerate(live) if was_there and node is not None}
    return Room(tuple(hosts), len(live), events, index)


def with_coordinator(before: Room, cpu: float) -> Room:
    """Return the hosts after the first one that is there, or arrives, gave *cpu* cores to the coordinator."""
    if not before.hosts or cpu == 0.0:
        return before
    first = before.hosts[0]
    warnings = before.warnings
    if first.room < cpu:
        text = f"{first.id} has room for {first.room:g} cores, less than the coordinator's {cpu:g}"
        warnings += (Warn("COORDINATOR_TIGHT", text),)
    hosts = (replace(first, room=max(0.0, first.room - cpu)), *before.hosts[1:])
    return replace(before, hosts=hosts, warnings=warnings)


def _host(node: Node, free: float) -> Host:
    free = round(free, 9)
    return Host(node.id, max(free, 0.0), node.zone, max(-free, 0.0))


def _arriving(node: Node, max_cpu: float) -> Host:
    return _host(node, max_cpu * node.cpu - node.used_cpu)


def _refuse_live_ids(cluster: Cluster | None, arrivals: Iterable[Arrival], failed: Failed) -> None:
    if cluster is None:
        return
    gone = failed.nodes.union(*(event.nodes for event in failed.events))
    for item in arrivals:
        if item.node.id in cluster.position and item.node.id not in gone:
            raise FtplanError(
                f"the failure's arrivals: {item.node.id!r} arrives, but the cluster has it and it does not fail: give "
                "the new node another id"
            )

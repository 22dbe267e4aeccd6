"""Where recovered tasks can go, the nodes that are left and those that arrive, and what lives and lies there already.

That is the tasks that run on, the active replicas, and the copies of checkpoints; and until when a repair of them is
looked at where no option says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node
from ftplan.model.defaults import HORIZON_S
from ftplan.model.failure import Arrival, planned_times
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.measures.task_state import TaskState
from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies, Replica
from ftplan.planners.failures import Failed
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host
from ftplan.planners.situation import Situation


@dataclass(frozen=True, eq=False)
class HostRoom:
    """Hosts as :class:`RecoveryProblem` has them; ``live`` are the hosts of nodes that did not fail, by node id."""

    hosts: tuple[Host, ...]
    live_hosts: int
    arrivals: tuple[ArrivalEvent, ...]
    live: Mapping[str, int]
    warnings: tuple[Warn, ...] = ()


def host_room(
    cluster: Cluster | None,
    arrivals: Sequence[Arrival],
    failed: Failed,
    used: Mapping[str, float],
    max_cpu: float,
    capacity: float | None,
) -> HostRoom:
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
    return HostRoom(tuple(hosts), len(live), events, index)


def with_coordinator(before: HostRoom, cpu: float) -> HostRoom:
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


@dataclass(frozen=True, eq=False)
class LiveTasks:
    """Which tasks are down; on which node each other one lives (None where unknown); which live by their replica."""

    down: BoolArray  # (T,)
    node: list[str | None]  # (T,)
    by_replica: IntArray


def live_tasks(node_names: Sequence[str | None], failed: BoolArray, standing: Iterable[Replica]) -> LiveTasks:
    """Let live replicas take over from failed tasks; *node_names* and *failed* have shape (tasks,)."""
    down, node = failed.copy(), list(node_names)
    taken = [item for item in standing if down[item.task]]
    for item in taken:
        down[item.task] = False
        node[item.task] = item.node
    for task in np.flatnonzero(down).tolist():
        node[task] = None
    return LiveTasks(down, node, np.array([item.task for item in taken], dtype=np.int64))


def cores_used(live: LiveTasks, standing: Iterable[Replica], cost: FloatArray) -> Mapping[str, float]:
    """Return the cores of live tasks and of live replicas that have not taken over, by node."""
    used: dict[str, float] = {}
    over = set(live.by_replica.tolist())
    running = list(enumerate(live.node))
    running += [(item.task, item.node) for item in standing if item.task not in over]
    for task, node in running:
        if node is not None:
            used[node] = used.get(node, 0.0) + float(cost[task])
    return used


def homes(live: LiveTasks, host_of_node: Mapping[str, int]) -> IntArray:
    """Return the host of each live task, (tasks,), ``NOWHERE`` for one that is down or on no known host."""
    host = [NOWHERE if node is None else host_of_node.get(node, NOWHERE) for node in live.node]
    return np.array(host, dtype=np.int64)


def local_bytes(
    graph: TaskGraph,
    state: TaskState,
    copies: Copies,
    host_of_node: Mapping[str, int],
) -> dict[tuple[int, int], float]:
    """Return the bytes of a task's state that lie on a host, by (task, host), where there are any.

    Hosts are those that live at the start: what arrives later comes empty.
    """
    bytes_there: dict[tuple[int, int], float] = {}
    for operator in sorted(copies):
        position = graph.topology.position[operator]
        owner: IntArray = graph.topology.operators[position].task_of_key_groups() + int(graph.offset[position])
        size = state.by_group[operator]
        for group, nodes in enumerate(copies[operator]):
            for node in dict.fromkeys(nodes):
                if node in host_of_node and size[group] > 0.0:
                    key = (int(owner[group]), host_of_node[node])
                    bytes_there[key] = bytes_there.get(key, 0.0) + float(size[group])
    return dict(sorted(bytes_there.items()))


def standby_hosts(items: Iterable[Replica], tasks: int, host_of_node: Mapping[str, int]) -> IntArray:
    """Return the host of each task's live replica, (tasks,): ``NOWHERE`` without one, ``ANYWHERE`` without a node.

    *host_of_node* holds the live nodes.
    """
    host = np.full(tasks, NOWHERE, dtype=np.int64)
    for item in items:
        host[item.task] = ANYWHERE if item.node is None else host_of_node.get(item.node, NOWHERE)
    return host


def horizon_of_situation(
    situation: Situation, failed: Failed, arrivals: Sequence[Arrival], delays: RecoveryDelays
) -> float:
    """Return until when a repair is looked at where nobody says: :func:`default_horizon_s`."""
    cluster, network = situation.cluster, situation.network
    last_s = max((item.at_s[1] for item in arrivals if "tasks" in item.node.accepts), default=0.0)
    later_s = max((event.at_s for event in failed.events), default=0.0)
    every = bool(failed.events) or not all(operator.deterministic for operator in situation.topology.operators)
    down = np.full(len(failed.tasks), fill_value=True) if every and failed.tasks.any() else failed.tasks
    size, bandwidth, fetch_s = situation.state.total[down], situation.bandwidth_mb_s, 0.0
    if bandwidth and size.any():
        nodes = len(cluster.nodes) - len(failed.nodes) if cluster is not None else 1
        share = size.sum() / max(1, nodes + len(arrivals)) + network.restores_at_once * size.max()
        fetch_s = (network.delay_s or 0.0) * len(size) + float(share) / (bandwidth * MB)
    return default_horizon_s(last_s, later_s, delays, down, fetch_s)


def default_horizon_s(last_s: float, later_s: float, delays: RecoveryDelays, down: BoolArray, fetch_s: float) -> float:
    """Return twice the last arrival, 600 s where nothing arrives; never before a later failure.

    What starts when the last node has arrived, or the last failure struck, has twice the time until it has caught up:
    the slowest task, of those that ever do, if it is down from the start. In whole seconds, rounded up.

    Parameters
    ----------
    last_s
        The end of the last arrival's range, 0 where nothing arrives.
    later_s
        When the last failure strikes.
    delays
        What a recovery adds to the return of each task of the job.
    down
        Tasks that restore, shape (tasks,).
    fetch_s
        How long their state is under way: an equal part on each node, and the largest one behind it.
    """
    least = max(2.0 * last_s if last_s > 0.0 else HORIZON_S, later_s)
    begins_s = max(last_s, later_s)
    ready_s = max(begins_s, delays.detection_s) + delays.restart_s + fetch_s
    back_s = np.broadcast_to(delays.caught_up(np.full(len(down), ready_s), 0.0), len(down))
    slowest_s = float(back_s[down & np.isfinite(back_s)].max(initial=0.0))
    return max(least, math.ceil(round(2.0 * slowest_s - begins_s, 6)))

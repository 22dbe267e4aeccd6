"""What a restore finds and has to do: copies of state and replicas that outlive the failure, and what is replayed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ftplan.costs.option import GivenCosts
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.measures.task_state import TaskState
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.deployed import Copies, Replica
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions

#: Age of the last checkpoint at a failure, in checkpoint intervals, where nothing says: the expected one.
CHECKPOINT_AGE = 0.5


def delays_of(
    recovery: GivenCosts, graph: TaskGraph, cost: FloatArray, options: RecoveryScheduleOptions
) -> RecoveryDelays:
    """Return what a recovery adds to the return of each task: by measured costs, else by its checkpoint interval.

    Raises
    ------
    FtplanError
        If by the costs the job never catches up.
    """
    if recovery.costs is None:
        age = CHECKPOINT_AGE if options.checkpoint_age is None else options.checkpoint_age
        delays = RecoveryDelays.of_checkpoints(graph, cost, age, 1.0 / options.max_cpu)
    else:
        delays = recovery.delays(graph, options.checkpoint_age)
    return delays if options.replay else delays._replace(replay_s=0.0, catch_up=0.0)


def replay_doubts(
    recovery: GivenCosts, graph: TaskGraph, failed: BoolArray, options: RecoveryScheduleOptions
) -> tuple[Warn, ...]:
    """Say where replay counts for a part of the failed tasks only; *failed* has shape (tasks,)."""
    if recovery.costs is not None or not options.replay:
        return ()
    operators = [graph.topology.operators[i] for i in np.unique(graph.operator_of[failed]).tolist()]
    unknown = [operator.id for operator in operators if operator.checkpoint.interval_s is None]
    if not unknown or len(unknown) == len(operators):
        return ()
    named = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else "")
    text = (
        f"{named}: no checkpoint.interval_s, so that these tasks count as processing nothing again, and the others do "
        "not; state it for all operators, or give --no-replay"
    )
    return (Warn("REPLAY_UNKNOWN", text),)


#: In place of a host's number: there is no replica; there is one on no node in particular, which never fails.
NONE, ANYWHERE = -1, -2


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


def by_task(items: tuple[Replica, ...], tasks: int, host_of_node: Mapping[str, int]) -> IntArray:
    """Return the host of each task's live replica, shape (tasks,): ``NONE`` without one, ``ANYWHERE`` without a node.

    *host_of_node* holds the live nodes.
    """
    host = np.full(tasks, NONE, dtype=np.int64)
    for item in items:
        host[item.task] = ANYWHERE if item.node is None else host_of_node.get(item.node, NONE)
    return host

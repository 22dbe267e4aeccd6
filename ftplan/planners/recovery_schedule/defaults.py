"""What holds where it is not given: the nodes that arrive after a failure, and until when a repair is looked at."""

from __future__ import annotations

import numpy as np

from ftplan.model.cluster import Cluster, Node
from ftplan.model.defaults import HORIZON_S
from ftplan.model.failure import Arrival
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.planners.failures import Failed


def default_horizon_s(last_s: float, later_s: float, delays: RecoveryDelays, *, measured: bool) -> float:
    """Return twice the last arrival, 600 s where nothing arrives; never before a later failure.

    Where checkpoints are stated, and no costs *measured*, catching up may take longer: then it is twice the time at
    which the slowest task has caught up that is down from the start and starts when the last node has arrived.

    Parameters
    ----------
    last_s
        The end of the last arrival's range, 0 where nothing arrives.
    later_s
        When the last failure strikes.
    delays
        What a recovery adds to the return of each task of the job.
    """
    least = 2.0 * last_s if last_s > 0.0 else HORIZON_S
    if not measured:
        behind = np.asarray(delays.replay_s) + np.asarray(delays.catch_up) * last_s
        least = max(least, 2.0 * (last_s + float(behind.max(initial=0.0))))
    return max(least, later_s)


#: A new node can host tasks so many seconds after its request, uniform ([SuZhouTR], figure 7: 180 measurements).
NEW_NODE_S = (120.0, 360.0)


def default_arrivals(cluster: Cluster | None, failed: Failed) -> tuple[tuple[Arrival, ...], tuple[Warn, ...]]:
    """Return one new node with as many cores for each failed one, 2 to 6 minutes after it failed, and say so.

    [SuZhouTR], section 4.4, orders as many nodes as failed. Failed nodes that take no tasks are not replaced.
    """
    if cluster is None:
        return (), ()
    lost: list[tuple[float, str]] = [(0.0, node) for node in failed.nodes]
    for event in failed.events:
        known = {node for _, node in lost}
        lost += [(event.at_s, node) for node in event.nodes if node in cluster.position and node not in known]
    lost = [(at_s, node) for at_s, node in lost if "tasks" in cluster.node(node).accepts]
    taken = {node.id for node in cluster.nodes}
    names = (name for k in range(1, len(lost) + len(taken) + 1) if (name := f"new-{k}") not in taken)
    coming = []
    for (at_s, node), name in zip(sorted(lost, key=lambda item: (item[0], natural_key(item[1]))), names, strict=False):
        arrives = (at_s + NEW_NODE_S[0], at_s + NEW_NODE_S[1])
        coming.append(Arrival(arrives, Node(name, cluster.node(node).cpu)))
    if not coming:
        return (), ()
    count = "1 new node" if len(coming) == 1 else f"{len(coming)} new nodes"
    text = (
        f"no arrivals are given: {count} with the cores of those that failed, {coming[0].node.id} and so on, can host "
        "tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without)"
    )
    return tuple(coming), (Warn("DEFAULT_ARRIVALS", text.replace(" and so on,", ",") if len(coming) == 1 else text),)

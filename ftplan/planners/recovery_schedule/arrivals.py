"""The nodes that arrive after a failure: which, where nobody says."""

from __future__ import annotations

from ftplan.model.cluster import Cluster, Node
from ftplan.model.failure import Arrival
from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.planners.failures import Failed

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

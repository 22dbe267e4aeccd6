"""What the loss of a node or zone does to the survivors, and how likely it is that a key group is lost for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.failover import Losses, takeover
from ftplan.model.measures.loss_probability import LossProbability, union_probability
from ftplan.model.statistics import KeyGroupSeries


@dataclass(frozen=True, slots=True)
class Headroom:
    """The largest load of a survivor over its fair share after any loss, the loss as a selector, and the survivor.

    ``ratio`` is infinite where a node without cpu carries load, None (with the others) where there is no load.
    """

    ratio: float | None
    loss: str | None
    survivor: str | None


def failover_headroom(
    assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries, losses: Losses = "node"
) -> Headroom:
    """Return the worst load after the loss of any one node or zone.

    Each key group goes to the first live node of its ``checkpoints``. Fair shares are by the cpu of the surviving
    nodes that accept checkpoints or hold primaries. Key groups without statistics count as idle, those without a live
    copy are taken over by nobody. Cost O(copies + losses × nodes).
    """
    items = sorted(assignments, key=lambda item: (str(item["operator"]), int(item["key_group"])))
    load = np.array([series.load_of(str(a["operator"]), int(a["key_group"])) for a in items], dtype=np.float64)
    home = np.array([cluster.position[a["primary"]] for a in items], dtype=np.int64)
    copies = [[cluster.position[node] for node in a["checkpoints"]] for a in items]
    after = takeover(cluster, losses, home, copies, load)
    if not load.any():
        return Headroom(None, None, None)
    loss, node = after.worst
    return Headroom(float(after.ratio[loss, node]), after.names[loss], cluster.nodes[node].id)


def copysets(assignments: Sequence[Mapping[str, Any]]) -> frozenset[frozenset[str]]:
    """Return the distinct sets of nodes that hold a key group: its primary and its copies."""
    return frozenset(frozenset((str(a["primary"]), *map(str, a["checkpoints"]))) for a in assignments)


def loss_probability(assignments: Sequence[Mapping[str, Any]], cluster: Cluster) -> LossProbability | None:
    """Return the probability that some key group loses its primary and all its copies.

    Nodes and zones fail independently, each with its ``failure_probability`` (0 where not given); a node is down if
    it or its zone fails. None where no probability is given at all.
    """
    nodes = {n.id: float(n.failure_probability or 0.0) for n in cluster.nodes}
    zones = {z.id: float(z.failure_probability or 0.0) for z in cluster.zones}
    given = [n.failure_probability for n in cluster.nodes] + [z.failure_probability for z in cluster.zones]
    if all(probability is None for probability in given):
        return None
    zone_of = {n.id: n.zone_id for n in cluster.nodes if zones.get(n.zone_id, 0.0) > 0.0}
    return union_probability(copysets(assignments), nodes, zones, zone_of)


def availability(
    assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries, losses: Losses = "node"
) -> dict[str, Any]:
    """Return the worst failover load, loss probability and copysets as a plan's ``summary`` names them.

    ``loss_probability`` is exact, or a proven upper bound where ``loss_probability_low``, a lower one, differs.
    """
    headroom = failover_headroom(assignments, cluster, series, losses)
    lost = loss_probability(assignments, cluster)
    return {
        "failover_load_ratio": None if headroom.ratio == float("inf") else headroom.ratio,
        "failover_loss": headroom.loss,
        "failover_survivor": headroom.survivor,
        "loss_probability": None if lost is None else lost.high,
        "loss_probability_low": None if lost is None else lost.low,
        "copysets": len(copysets(assignments)),
    }

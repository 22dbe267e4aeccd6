"""What the loss of a node or zone does to the survivors, and how likely it is that a key group is lost for good.

A loss takes down one node, or one zone. Each key group whose primary was there goes to its first copy that is still
alive (:func:`takeover`). Shapes: L losses, N nodes, K key groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ftplan.model.cluster import Cluster
from ftplan.model.measures.loss_probability import LossProbability, union_probability
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray, IntArray

Losses = Literal["node", "zone"]


def loss_of_nodes(cluster: Cluster, losses: Losses) -> tuple[IntArray, tuple[str, ...]]:
    """Return the loss that takes down each node, shape (N,), and the selector of each loss, shape (L,)."""
    if losses == "node":
        return np.arange(len(cluster.nodes), dtype=np.int64), tuple(f"node:{n.id}" for n in cluster.nodes)
    names = [""] * (int(cluster.zone_index.max(initial=-1)) + 1)
    for zone, node in zip(cluster.zone_index.tolist(), cluster.nodes, strict=True):
        names[zone] = f"node:{node.id}" if node.zone is None else f"zone:{node.zone}"
    return cluster.zone_index, tuple(names)


def shares_after(loss_of_node: IntArray, losses: int, cpu: FloatArray, counts: npt.NDArray[np.bool_]) -> FloatArray:
    """Return each survivor's fair share after each loss, shape (L, N): its part of the survivors' cpu.

    Only nodes that *counts* names, those that accept checkpoints or hold primaries, have a share; equal shares where
    no survivor has any cpu, none at all where none survives.
    """
    alive = (loss_of_node[None, :] != np.arange(losses)[:, None]) & counts[None, :]
    weight = np.where(alive, cpu[None, :], 0.0)
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, alive.astype(np.float64))
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), TINY))


def load_ratios(own: FloatArray, taken: FloatArray, fair: FloatArray, alive: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the load of each survivor over its fair share, shape (L, N): infinite without a share, 0 where it is down.

    *own* (N,) is the load of a node's primaries, *taken* (L, N) what it takes over, *fair* and *alive* have (L, N).
    """
    load = own[None, :] + taken
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(fair > 0, load / fair, np.where(load > 0, np.inf, 0.0))
    return np.asarray(np.where(alive, ratio, 0.0))


@dataclass(frozen=True, eq=False)
class Takeover:
    """Mean loads after every loss: ``own`` (N,) of a node's primaries, ``taken`` (L, N), ``fair`` (L, N)."""

    names: tuple[str, ...]  # (L,) selectors
    loss_of_node: IntArray  # (N,)
    own: FloatArray
    taken: FloatArray
    fair: FloatArray

    @cached_property
    def ratio(self) -> FloatArray:
        """Load of each survivor over its fair share after each loss, shape (L, N)."""
        alive = self.loss_of_node[None, :] != np.arange(len(self.names))[:, None]
        return load_ratios(self.own, self.taken, self.fair, alive)

    @property
    def worst(self) -> tuple[int, int]:
        """Loss and survivor of the largest ratio; ties to the first."""
        loss, node = divmod(int(self.ratio.argmax()), self.own.size)
        return loss, node


def takeover(
    cluster: Cluster,
    losses: Losses,
    home: IntArray,
    copies: Sequence[Sequence[int]],
    load: FloatArray,
) -> Takeover:
    """Return the loads after the loss of each node or zone.

    *home* (K,) and *copies* are node positions, *load* (K,) mean loads. A group without a live copy is taken over by
    nobody; its load still counts for the fair shares. Cost O(copies + L N).
    """
    loss_of_node, names = loss_of_nodes(cluster, losses)
    nodes = len(cluster.nodes)
    own = np.zeros(nodes)
    np.add.at(own, home, load)
    taken = np.zeros((len(names), nodes))
    for primary, hosts, weight in zip(home.tolist(), copies, load.tolist(), strict=True):
        loss = int(loss_of_node[primary])
        taker = next((node for node in hosts if loss_of_node[node] != loss), None)
        if taker is not None:
            taken[loss, taker] += weight
    counts = cluster.accepting("checkpoints") | (np.bincount(home, minlength=nodes) > 0)
    fair = float(load.sum()) * shares_after(loss_of_node, len(names), cluster.cpu, counts)
    return Takeover(names, loss_of_node, own, taken, fair)


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

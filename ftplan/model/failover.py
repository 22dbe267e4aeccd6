"""Who takes over what after a loss, and how much of a fair share that is.

A loss takes down one node, or one zone. Each key group whose primary was there goes to its first copy that is still
alive. Shapes: L losses, N nodes, K key groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from ftplan.model.cluster import Cluster
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

"""What ``--cross-zone-cost`` charges a key group for each node that it could be on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.zone_traffic import key_group_shares, zone_traffic
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, FloatArray, IntArray


class PricedTraffic(NamedTuple):
    """Prices (K, N), and what is said of them."""

    price: FloatArray
    warnings: tuple[Warn, ...]


def priced_traffic(
    cost: float,
    graph: TaskGraph,
    cluster: Cluster,
    home: IntArray,
    rate: FloatArray,
    record_bytes: Mapping[str, float],
) -> PricedTraffic:
    """Return what the traffic between zones of each key group costs on each node.

    Parameters
    ----------
    cost
        Of an MB (2^20 bytes) per second.
    home, rate
        Node of each key group and its records per second, (K,).
    record_bytes
        Of a record into an operator, by id, where they are known.
    """
    task_node = np.full(graph.tasks, -1, dtype=np.int64)
    placed = cluster.placement.tasks if cluster.placement is not None else {}
    for operator, nodes in placed.items():
        task_node[graph.slice_of(graph.topology.position[operator])] = [cluster.position[node] for node in nodes]
    crossing = zone_traffic(graph, key_group_shares(graph, home, rate), task_node, cluster.zone_index, record_bytes)
    return PricedTraffic(cost * crossing.mb_s[:, cluster.zone_index], tuple(_said(graph, crossing.left_out)))


def _said(graph: TaskGraph, left_out: Sequence[Edge]) -> Iterator[Warn]:
    operators = graph.topology.operators
    if left_out:
        names = ", ".join(f"{operators[edge.source].id} -> {operators[edge.target].id}" for edge in left_out)
        text = f"--cross-zone-cost leaves out {names}: no measured substreams, no bytes of a record, or no placement"
        yield Warn("TRAFFIC_UNKNOWN", text)
    text = (
        "--cross-zone-cost takes the neighbours of each key group where they are now: what it saves is not exact where "
        "both ends of an edge move"
    )
    yield Warn("NEIGHBOURS_STAY", text)

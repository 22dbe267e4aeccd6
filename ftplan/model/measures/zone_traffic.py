"""What key groups exchange with their neighbours across zones, by the node that they are on.

Shapes: K key groups, T tasks, Z zones, P pairs of tasks that exchange records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, FloatArray, IntArray
from ftplan.model.units import MB


class KeyGroupShares(NamedTuple):
    """Key groups by the task that they came from, and their part of its records; all of shape (K,)."""

    task: IntArray
    share: FloatArray
    node: IntArray


class ZoneTraffic(NamedTuple):
    """What would cross zones, and the edges that could not be counted as nobody measured or placed them."""

    mb_s: FloatArray  # (K, Z), in units of 2^20 bytes per second, by the zone that the group is in
    left_out: tuple[Edge, ...]


def key_group_shares(graph: TaskGraph, home: IntArray, records: FloatArray) -> KeyGroupShares:
    """Return each key group's part of its task's records, equal parts where the task has none.

    Groups are those of all keyed operators, in (operator id, number) order; *home* are their nodes and *records* what
    comes into them, both (K,).
    """
    owner = [
        int(graph.offset[graph.topology.position[operator.id]]) + operator.task_of_key_groups()
        for operator in graph.topology.keyed_operators
    ]
    task = np.concatenate([np.zeros(0, dtype=np.int64), *owner])
    total = np.bincount(task, records, minlength=graph.tasks)[task]
    count = np.bincount(task, minlength=graph.tasks)[task]
    return KeyGroupShares(task, np.divide(records, total, out=1.0 / np.maximum(count, 1), where=total > 0.0), home)


def zone_traffic(
    graph: TaskGraph,
    shares: KeyGroupShares,
    task_node: IntArray,
    zone: IntArray,
    record_bytes: Mapping[str, float],
) -> ZoneTraffic:
    """Return what each key group would exchange across zones in each zone, its neighbours staying where they are.

    Of the measured substreams of its task a group has the part that it has of the task's records, both ways. A task
    with key groups is where these are, in the same parts; any other is on its node.

    Parameters
    ----------
    task_node
        Node of each task, (T,), -1 where it is not known.
    zone
        Zone of each node, (N,), numbered from 0.
    record_bytes
        Of a record into an operator, by id; an edge into one that is missing is left out.

    Cost O(K Z + P Z + T Z).
    """
    zones = int(zone.max(initial=-1)) + 1
    where = _zones_of_tasks(graph, shares, task_node, zone, zones)
    crossing, left_out = np.zeros((graph.tasks, zones)), []
    for edge in graph.topology.edges:
        source, target = (graph.topology.operators[i] for i in (edge.source, edge.target))
        ends = (graph.slice_of(edge.source), graph.slice_of(edge.target))
        placed = all(bool((where[tasks].sum(axis=1) > 0.0).all()) for tasks in ends)
        if edge.substreams is None or not placed or target.id not in record_bytes:
            left_out += [edge] if source.key_groups or target.key_groups else []
            continue
        mb_s = edge.substreams.rate * record_bytes[target.id] / MB
        sender = graph.offset[edge.source] + edge.substreams.from_index
        receiver = graph.offset[edge.target] + edge.substreams.to_index
        for z in range(zones):
            for here, there in ((sender, receiver), (receiver, sender)):
                crossing[:, z] += np.bincount(here, mb_s * (1.0 - where[there, z]), minlength=graph.tasks)
    return ZoneTraffic(shares.share[:, None] * crossing[shares.task], tuple(left_out))


def _zones_of_tasks(
    graph: TaskGraph, shares: KeyGroupShares, task_node: IntArray, zone: IntArray, zones: int
) -> FloatArray:
    """Return which part of each task is in each zone, (T, Z); nothing where it is not known."""
    where = np.zeros((graph.tasks, zones))
    placed = np.flatnonzero(task_node >= 0)
    where[placed, zone[task_node[placed]]] = 1.0
    keyed = np.unique(shares.task)
    where[keyed] = 0.0
    np.add.at(where, (shares.task, zone[shares.node]), shares.share)
    return where

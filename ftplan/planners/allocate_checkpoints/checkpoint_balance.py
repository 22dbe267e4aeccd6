"""How evenly the copies of an allocation lie on the nodes, measured in load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.rules import fair_shares


@dataclass(frozen=True, eq=False)
class CheckpointBalance:
    """Copies on each node against its fair share. Arrays have shape (nodes,), in the cluster's order.

    Loads are in load units per window, summed over the copies' key groups. ``largest_deviation`` is the largest
    ``|load / fair - 1|``: infinite where a node without a share holds load, 0 where there is no load at all.
    """

    load: FloatArray
    count: IntArray
    fair_load: FloatArray
    largest_deviation: float


def deviation(load: FloatArray, fair_load: FloatArray) -> float:
    """Return the largest relative deviation of *load* from *fair_load*, both of shape (nodes,)."""
    shared = fair_load > 0
    if np.any(load[~shared] > 0):
        return float("inf") if shared.any() else 0.0
    if not shared.any():
        return 0.0
    return float(np.max(np.abs(load[shared] / fair_load[shared] - 1.0)))


def checkpoint_balance(
    assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries
) -> CheckpointBalance:
    """Return load, number and fair share of the copies on each node.

    All operators count together. Key groups that the statistics do not know have load 0; copies on nodes that the
    cluster does not know are left out (``verify`` names them). Cost O(copies).
    """
    nodes = len(cluster.nodes)
    load = np.zeros(nodes)
    count = np.zeros(nodes, dtype=np.int64)
    rows = sorted(
        (str(item["operator"]), int(item["key_group"]), str(node))
        for item in assignments
        for node in item["checkpoints"]
    )
    for operator, key_group, node in rows:
        position = cluster.position.get(node)
        if position is None:
            continue
        load[position] += series.load_of(operator, key_group)
        count[position] += 1
    fair_load = load.sum() * fair_shares(cluster)
    return CheckpointBalance(load, count, fair_load, deviation(load, fair_load))

"""The figures of a checkpoint allocation, as a whole and by operator, beside those of a random plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.metrics.checkpoint_balance import checkpoint_balance
from ftplan.metrics.correlation import COPIES_AT_ONCE, node_sums, standardised
from ftplan.model.cluster import Cluster
from ftplan.model.statistics import KeyGroupSeries


@dataclass(frozen=True, slots=True)
class AllocationScore:
    """Figures of an allocation. Correlations are in load units per window; low is good.

    ``by_operator`` maps an operator to its part of the correlation and to what a random plan expects of it. The
    imbalance is the largest relative deviation of a node's copies from its fair share of load, None where a node
    without a share holds load; zone_separation is None where there is no copy.
    """

    correlation: float
    random: float
    by_operator: Mapping[str, tuple[float, float]]
    imbalance: float | None
    max_copies_per_node: int
    copies: int
    zone_separation: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a plan's ``summary`` names them."""
        return {
            "correlation": self.correlation,
            "by_operator": {name: value for name, (value, _) in self.by_operator.items()},
            "imbalance": self.imbalance,
            "max_copies_per_node": self.max_copies_per_node,
            "copies": self.copies,
            "zone_separation": self.zone_separation,
        }


def allocation_score(
    assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries
) -> AllocationScore:
    """Score an allocation whose nodes the cluster knows; key groups without statistics count as idle.

    A random plan puts as many copies of each group on different nodes that accept checkpoints, not with the primary.
    Cost O(W (K + N + copies)) without a matrix of groups times nodes.
    """
    position = cluster.position
    rows = sorted(
        (series.position[name], position[item["primary"]], sorted(position[n] for n in item["checkpoints"]))
        for item in assignments
        if (name := (item["operator"], item["key_group"])) in series.position
    )
    columns = np.array([row[0] for row in rows], dtype=np.int64)
    home = np.array([row[1] for row in rows], dtype=np.int64)
    count = np.array([len(row[2]) for row in rows], dtype=np.int64)
    hosts = np.array([node for row in rows for node in row[2]], dtype=np.int64)
    group = np.repeat(np.arange(len(rows)), count)

    z = standardised(series.loads[:, columns])
    sums = node_sums(z, home, len(cluster.nodes))
    load = series.mean_load[columns]
    cost = np.zeros(len(rows))
    for start in range(0, len(hosts), COPIES_AT_ONCE):
        part = slice(start, start + COPIES_AT_ONCE)
        np.add.at(cost, group[part], np.einsum("wk,wk->k", z[:, group[part]], sums[:, hosts[part]]))
    cost *= load

    accepts = cluster.accepting("checkpoints")
    own = accepts[home] if len(home) else np.zeros(0, dtype=np.bool_)
    elsewhere = z.T @ sums[:, accepts].sum(axis=1) - np.where(own, np.einsum("wk,wk->k", z, sums[:, home]), 0.0)
    places = int(accepts.sum()) - own.astype(np.int64)
    random = np.where(places > 0, elsewhere / np.maximum(places, 1), 0.0) * load * count

    operator = series.operator[columns]
    by_operator = {
        name: (float(cost[operator == i].sum()), float(random[operator == i].sum()))
        for i, name in enumerate(series.operators)
        if (operator == i).any()
    }
    balance = checkpoint_balance(assignments, cluster, series)
    zones = cluster.zone_names
    apart = [
        zones[position[node]] != zones[position[item["primary"]]]
        for item in assignments
        for node in item["checkpoints"]
    ]
    return AllocationScore(
        correlation=float(cost.sum()),
        random=float(random.sum()),
        by_operator=by_operator,
        imbalance=balance.largest_deviation if balance.largest_deviation != float("inf") else None,
        max_copies_per_node=int(balance.count.max(initial=0)),
        copies=int(balance.count.sum()),
        zone_separation=sum(apart) / len(apart) if apart else None,
    )

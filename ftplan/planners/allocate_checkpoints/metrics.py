"""The figures of a checkpoint allocation, as a whole and by operator, compared with a random plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.planned_copies import PlannedCopies, planned_copies
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners.allocate_checkpoints.copy_measures import checkpoint_balance, overloaded_windows
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, copy_values


@dataclass(frozen=True, slots=True)
class AllocationScore:
    """Figures of an allocation.

    ``value`` is that of the objective and ``random`` the one expected of a random plan; ``by_operator`` maps an
    operator that has copies to its part of both. The usable share counts (copy, window) pairs in which the node of the
    primary is overloaded: the part of them in which the copy is usable, None where there are none. The imbalance is the
    largest relative deviation of the load of a node's copies from its fair share, None where a node without a share
    holds load. zone_separation is None where there is no copy.
    """

    objective: CheckpointObjective
    value: float
    random: float
    by_operator: Mapping[str, tuple[float, float]]
    usable_share: float | None
    random_usable_share: float | None
    imbalance: float | None
    max_copies_per_node: int
    copies: int
    zone_separation: float | None

    @property
    def key(self) -> str:
        """What a plan's ``summary`` calls the objective: its name with underscores."""
        return self.objective.name.replace("-", "_")

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a plan's ``summary`` names them."""
        return {
            self.key: self.value,
            "usable_share": self.usable_share,
            "by_operator": {name: value for name, (value, _) in self.by_operator.items()},
            "imbalance": self.imbalance,
            "max_copies_per_node": self.max_copies_per_node,
            "copies": self.copies,
            "zone_separation": self.zone_separation,
        }

    def random_to_dict(self) -> dict[str, Any]:
        """Return the figures expected of a random plan, as a plan's ``summary`` names it."""
        return {
            self.key: self.random,
            "usable_share": self.random_usable_share,
            "by_operator": {name: random for name, (_, random) in self.by_operator.items()},
        }


def allocation_score(
    assignments: Sequence[Mapping[str, Any]],
    cluster: Cluster,
    series: KeyGroupSeries,
    objective: CheckpointObjective | None = None,
) -> AllocationScore:
    """Score an allocation whose nodes the cluster knows; key groups without statistics count as idle.

    A random plan has as many copies of each group, on different nodes that accept checkpoints, none with the primary.
    Cost O(W (K + N + copies)) without a matrix of groups times nodes.
    """
    objective = (objective or CheckpointObjective()).resolved(series, cluster)
    plan = planned_copies(assignments, series, cluster)
    values = copy_values(objective, plan, series, cluster)
    usable = values
    if objective.name != "usable":
        usable = copy_values(replace(objective, name="usable", correlate="raw"), plan, series, cluster)
    wanted = wanted_copies(objective, plan, series, cluster)
    operator = series.operator[plan.columns]
    by_operator = {
        name: (float(values.value[operator[plan.group] == i].sum()), float(values.random[operator == i].sum()))
        for i, name in enumerate(series.operators)
        if (operator[plan.group] == i).any()
    }
    balance = checkpoint_balance(assignments, cluster, series)
    zones, position = cluster.zone_names, cluster.position
    apart = [
        zones[position[node]] != zones[position[item["primary"]]]
        for item in assignments
        for node in item["checkpoints"]
    ]
    return AllocationScore(
        objective=objective,
        value=float(values.value.sum()),
        random=float(values.random.sum()),
        by_operator=by_operator,
        usable_share=float(usable.value.sum()) / wanted if wanted else None,
        random_usable_share=float(usable.random.sum()) / wanted if wanted else None,
        imbalance=balance.largest_deviation if balance.largest_deviation != float("inf") else None,
        max_copies_per_node=int(balance.count.max(initial=0)),
        copies=int(balance.count.sum()),
        zone_separation=sum(apart) / len(apart) if apart else None,
    )


def wanted_copies(objective: CheckpointObjective, plan: PlannedCopies, series: KeyGroupSeries, cluster: Cluster) -> int:
    """Return the number of (copy, window) pairs in which the node of the copy's primary is overloaded."""
    objective = objective.resolved(series, cluster)
    nodes = objective.node_load(series.loads[:, plan.columns], series.window_s, plan.home, cluster)
    return int(np.sum(overloaded_windows(plan.home, nodes) * plan.count))

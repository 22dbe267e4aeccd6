"""How many key groups: usable checkpoints and skew against overhead, from one fine-grained statistics folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster, Placement
from ftplan.model.measures.key_group_series import key_group_series, merged
from ftplan.model.measures.node_load import NodeLoad
from ftplan.model.measures.stats_summary import gini
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.model.units import Measure
from ftplan.planners.allocate_checkpoints.algorithms.baselines import correlated, even
from ftplan.planners.allocate_checkpoints.copy_measures import overloaded_windows, usable_windows
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build

#: Part of the trace, from its start, that plans are made from; the rest judges them.
PLANNED_ON = 0.7
#: Seeds over which the random plans of ``even`` are averaged.
SEEDS = 5


def sweep_key_groups(problem: Problem, key_groups: Sequence[int], measure: Measure) -> list[dict[str, Any]]:
    """Return a row of figures for each number of key groups, from statistics with a multiple of it.

    Skew always; checkpoint files and key groups per task with a topology; usable share with a cluster too, whose
    ``placement.tasks`` place the key groups: of all copies in windows in which their primary's node is overloaded, on
    the last 30 % of the trace with plans made on the first 70 %, by ``correlated`` and by ``even`` (mean of 5 seeds);
    None where nothing is overloaded there. One copy each. Cost: that of six plans a number.

    Raises :class:`FtplanError` if a number does not divide the one measured, or a placement is missing.
    """
    assert problem.stats is not None
    fine = key_group_series(problem.stats, measure, problem.topology)
    return [_row(merged(fine, number), number, problem) for number in key_groups]


def _row(series: KeyGroupSeries, key_groups: int, problem: Problem) -> dict[str, Any]:
    by_operator = [series.mean_load[series.operator == i] for i in range(len(series.operators))]
    loaded = [load for load in by_operator if load.any()]
    row: dict[str, Any] = {
        "key_groups": key_groups,
        "heaviest_share": max((float(load.max() / load.sum()) for load in loaded), default=0.0),
        "heaviest_over_mean": max((float(load.max() / load.mean()) for load in loaded), default=0.0),
        "gini": max((gini(load) for load in loaded), default=0.0),
        "checkpoint_files": key_groups * len(series.operators),
    }
    if problem.topology is None:
        return row
    tasks = [problem.topology.operator(name).parallelism for name in series.operators]
    row["least_groups_per_task"] = min((key_groups // n for n in tasks), default=None)
    row["idle_tasks"] = sum(max(n - key_groups, 0) for n in tasks)
    if problem.cluster is not None:
        known = series.operators
        made = (replace(o, key_groups=key_groups) if o.id in known else o for o in problem.topology.operators)
        row |= _usable(series, replace(problem.topology, operators=tuple(made)), problem.cluster)
    return row


def _usable(series: KeyGroupSeries, topology: Topology, cluster: Cluster) -> Mapping[str, float | None]:
    """Return the usable share of planned and of even copies, and how unequal the nodes' own loads are."""
    placement = Placement(tasks=cluster.placement.tasks if cluster.placement is not None else {})
    split = round(series.loads.shape[0] * PLANNED_ON)
    first = replace(series, loads=series.loads[:split])
    options = AllocationOptions()
    problem = build(topology, cluster, placement, first, options)
    home = problem.by_group.home
    objective = CheckpointObjective().resolved(series, cluster)
    whole = objective.node_load(series.loads, series.window_s, home, cluster)
    later = NodeLoad(whole.load[split:], whole.capacity, whole.overload)
    usable = usable_windows(series.loads[split:], home, later)
    total = float(overloaded_windows(home, later).sum())
    mean = whole.load.mean(axis=0)
    busy = mean[mean > 0]

    def share(copies: Any) -> float:
        return float(np.take_along_axis(usable, copies, axis=1).sum()) / total

    planned = correlated(problem, options).answer if total else None
    spread = [even(problem, replace(options, seed=seed)).answer for seed in range(SEEDS)] if total else []
    shares = [share(answer.copies) for answer in spread if answer is not None]
    return {
        "heaviest_node_over_mean": float(busy.max() / busy.mean()) if busy.size else None,
        "usable_share": None if planned is None else share(planned.copies),
        "even_usable_share": sum(shares) / len(shares) if shares else None,
    }

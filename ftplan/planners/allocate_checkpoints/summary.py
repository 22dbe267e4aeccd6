"""The summary of a checkpoint allocation: its figures before and after, and those of a random plan.

It also says whether the allocation is worth having: better than random copies and than ``even``, in what an operator
wants (usable copies).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.availability import Losses, availability
from ftplan.model.measures.planned_copies import planned_copies
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE, TINY
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.body import current_assignments
from ftplan.planners.allocate_checkpoints.metrics import AllocationScore, allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.result import Result


def nothing_to_count(
    problem: CheckpointProblem, cluster: Cluster, series: KeyGroupSeries, objective: CheckpointObjective
) -> Warn | None:
    """Return the warning ``NO_USABLE_COPIES`` where the objective ``usable`` is 0 for every plan, None elsewhere.

    That is where no node with key groups is ever overloaded, or where no other node could ever take one of them.
    *objective* must be resolved. Planning goes by correlation then.
    """
    if objective.name != "usable" or not problem.load.size or not series.loads.shape[0]:
        return None
    if np.where(problem.allowed, problem.cost, 0.0).any():
        return None
    plan = planned_copies(_bare(problem), series, cluster)
    loads = series.loads[:, plan.columns]
    nodes = objective.node_load(loads, series.window_s, plan.home, cluster)
    hosts = np.unique(plan.home)
    windows = series.loads.shape[0]
    if not nodes.overloaded[:, hosts].any():
        most = float((nodes.load[:, hosts] / np.maximum(nodes.capacity[hosts], TINY)).max(initial=0.0))
        why = (
            f"no node is overloaded in any of {windows} windows (the highest utilisation is {most:.3g}, --overload "
            f"{objective.overload:g})"
        )
        fix = "give the true --capacity-per-core or a lower --overload"
    else:
        why = f"in no window in which a node is overloaded could another one take a key group of it ({windows} windows)"
        fix = "give the true --capacity-per-core or a higher --overload"
    return Warn(
        "NO_USABLE_COPIES",
        f"{why}, so that no copy counts as usable, wherever it lies: planned by --objective correlation instead; {fix}",
    )


def even_figures(
    problem: CheckpointProblem, options: AllocationOptions, cluster: Cluster, series: KeyGroupSeries
) -> dict[str, Any] | None:
    """Return objective and usable share of the plan of ``even`` with the same seed; None where it has none."""
    planner = registry.load(registry.row("allocate-checkpoints", "even"))
    result: Result[Allocation] = planner(problem, replace(options, bound=False))
    if result.answer is None:
        return None
    score = allocation_score(result.answer.assignments, cluster, series, options.objective)
    return {score.key: score.value, "usable_share": score.usable_share}


def no_gain(summary: Mapping[str, Any], objective: CheckpointObjective) -> list[Warn]:
    """Return the warning ``NO_GAIN_IN_USABLE_SHARE`` where a plan is no better than random copies or ``even``.

    Nothing is said where no node is ever overloaded, so that there is no usable share.
    """
    mine, random = summary["after"]["usable_share"], summary["random"]["usable_share"]
    even = (summary["even"] or {}).get("usable_share")
    if mine is None:
        return []
    others = {"random copies": random, "--algorithm even": even}
    reached = [f"{name} ({share:.4g})" for name, share in others.items() if share is not None and mine <= share + NOISE]
    if not reached:
        return []
    advice = "--algorithm even does as well" if objective.name == "usable" else "take --objective usable, or even"
    return [
        Warn(
            "NO_GAIN_IN_USABLE_SHARE",
            f"usable share {mine:.4g}, no better than {' and '.join(reached)}: in windows of overload this plan helps "
            f"no more than chance; {advice}",
        )
    ]


def summary(
    problem: CheckpointProblem,
    assignments: list[dict[str, Any]] | None,
    cluster: Cluster,
    series: KeyGroupSeries,
    topology: Topology,
    objective: CheckpointObjective,
    losses: Losses,
) -> dict[str, Any]:
    """Return the figures before and after, and those of a random plan, in the objective and as usable share."""
    current = current_assignments(cluster, topology, series)
    before = None
    if current is not None:
        # Groups without checkpoints are load of their node all the same.
        known = {(item["operator"], item["key_group"]) for item in current}
        rest = [item for item in _bare(problem) if (item["operator"], item["key_group"]) not in known]
        before = allocation_score([*current, *rest], cluster, series, objective)
    after = None if assignments is None else allocation_score(assignments, cluster, series, objective)
    random = objective.sign * problem.by_group.random_value
    expected: dict[str, Any] = {objective.name.replace("-", "_"): random}
    if after is not None:
        expected = after.random_to_dict() | expected
    return {
        "before": _figures(before, current, cluster, series, losses),
        "after": _figures(after, assignments, cluster, series, losses),
        "random": expected,
    }


def _bare(problem: CheckpointProblem) -> list[dict[str, Any]]:
    """Return the planned key groups with their primaries and without any copies, as assignments."""
    p = problem.by_group
    homes = zip(p.operators, p.key_group.tolist(), p.group_home.tolist(), strict=True)
    return [{"operator": o, "key_group": g, "primary": p.nodes[i], "checkpoints": []} for o, g, i in homes]


def _figures(
    score: AllocationScore | None,
    assignments: Sequence[Mapping[str, Any]] | None,
    cluster: Cluster,
    series: KeyGroupSeries,
    losses: Losses,
) -> dict[str, Any] | None:
    if score is None or assignments is None:
        return None
    return score.to_dict() | availability(assignments, cluster, series, losses)

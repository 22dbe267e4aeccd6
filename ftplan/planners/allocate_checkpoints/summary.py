"""The summary of a checkpoint allocation: its figures before and after, and those of a random plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.measures.availability import Losses, availability
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.planners.allocate_checkpoints.assignments import current_assignments
from ftplan.planners.allocate_checkpoints.metrics import AllocationScore, allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import CheckpointProblem


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

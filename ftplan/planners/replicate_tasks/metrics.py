"""The figures of a replication plan: before and after, and with the recoveries that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.planners.replicate_tasks.hosts import Current
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import FailureCase, NodeByTask

#: The name of the objective: that of recovery schedules, expected over the cases.
PRIORITY_TIME = "priority-time"


def expected(cases: Sequence[FailureCase], values: Sequence[float]) -> float:
    """Return the mean over the cases by their weights, of one value each."""
    return sum(c.weight * value for c, value in zip(cases, values, strict=True)) / sum(c.weight for c in cases)


def with_recovery(
    summary: Mapping[str, Any], cases: Sequence[FailureCase], after: Sequence[float] | None, before: float | None
) -> dict[str, Any]:
    """Return a summary with the priority x seconds down of the recoveries before and after.

    *after* is that of each case, None without a plan; *before* that with the replicas in place, None where unknown.
    """
    figures = dict(summary)
    if before is not None:
        figures["before"] = {**summary["before"], "priority_time": before}
    if after is not None:
        by_case = summary["after"]["by_case"]
        if by_case is not None:
            by_case = [{**row, "priority_time": value} for row, value in zip(by_case, after, strict=True)]
        figures["after"] = {**summary["after"], "by_case": by_case, "priority_time": expected(cases, after)}
    return figures


def summary(prepared: PreparedReplication, current: Current, node: NodeByTask | None) -> dict[str, Any]:
    """Return what the job is like, and the figures before and, where there is a plan, after it."""
    return {
        "tasks": prepared.graph.tasks,
        "failing_tasks": int(prepared.problem.fails.sum()),
        "cases": len(prepared.problem.cases),
        "before": figures_of(prepared, current.node),
        "after": None if node is None else {**figures_of(prepared, node), "by_case": _by_case(prepared, node)},
    }


def figures_of(prepared: PreparedReplication, node: NodeByTask) -> dict[str, Any]:
    """Return what replicas are worth during the outage, how many there are, and what they take."""
    replicated = prepared.problem.mask(node)
    return {
        **{name: prepared.problem.value_on(node, model) for name, model in prepared.compared.items()},
        "replicas": int(replicated.sum()),
        "cpu": float(prepared.cpu[replicated].sum()),
        "memory_mb": float(prepared.memory_mb[replicated].sum()),
    }


def _by_case(prepared: PreparedReplication, node: NodeByTask) -> list[dict[str, Any]] | None:
    """Return the metric in each scenario, None where there is but one case."""
    problem = prepared.problem
    if len(problem.cases) == 1:
        return None
    return [
        {
            "id": case.id,
            "probability": case.weight,
            "failed_tasks": int(case.failed.sum()),
            "value": problem.model.fidelity(live),
        }
        for case, live in zip(problem.cases, problem.live(problem.mask(node), node), strict=True)
    ]

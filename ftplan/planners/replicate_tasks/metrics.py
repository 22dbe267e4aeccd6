"""What a replication plan holds, and the figures beside it: before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.planners.replicate_tasks.hosts import Current
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask


def body(
    prepared: PreparedReplication,
    current: Current,
    node: NodeByTask,
    curve: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """Return the body of a plan: the replicas, and what changes against those in place, null where these are unknown.

    A replica that moves is started on its new node and stopped on its old one.
    """
    both = [task for task in node if task in current.node and None not in (node[task], current.node[task])]
    moved = [task for task in both if node[task] != current.node[task]]
    started = sorted({t for t in node if t not in current.node} | set(moved))
    stopped = sorted({t for t in current.node if t not in node} | set(moved))
    return {
        "replicas": _entries(prepared, node, sorted(node)),
        "activate": _entries(prepared, node, started) if current.known else None,
        "deactivate": _entries(prepared, current.node, stopped) if current.known else None,
        "curve": None if curve is None else list(curve),
    }


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


def _entries(prepared: PreparedReplication, node: NodeByTask, tasks: Sequence[int]) -> list[dict[str, Any]]:
    names = ((task, *prepared.graph.name(task)) for task in tasks)
    return [{"operator": operator, "index": index, "node": node[task]} for task, operator, index in names]

"""What a replication plan holds, and the figures beside it: before, after, and at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.api.replication.choice import at_random
from ftplan.api.replication.problem import Prepared
from ftplan.api.replication.upkeep import Current
from ftplan.metrics.fidelity import FidelityModel
from ftplan.metrics.key_aligned_fidelity import KeyAlignedModel
from ftplan.model.plan import Warn
from ftplan.model.task_graph import BoolArray
from ftplan.planners.budget import Budget

#: Random choices of the same budget that a plan is held against.
CHOICES = 20


def value(prepared: Prepared, model: FidelityModel | KeyAlignedModel, node: Mapping[int, str | None]) -> float:
    """Return the expected fidelity in *model* with replicas on nodes, given by task."""
    replicated, nodes = _arrays(prepared, node)
    return prepared.value(model, replicated, nodes)


def body(
    prepared: Prepared,
    current: Current,
    node: Mapping[int, str | None],
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
        "curve": None if curve is None else [dict(point) for point in curve],
    }


def summary(
    prepared: Prepared, current: Current, node: Mapping[int, str | None] | None, seed: int, clock: Budget | None = None
) -> tuple[dict[str, Any], tuple[Warn, ...]]:
    """Return what the job is like, and the figures before, after, and as the mean of random choices of that budget.

    A warning says where the clock left out some of these choices; without any, or without a clock, they are None.
    """
    problem = prepared.problem
    compared = node is not None and clock is not None
    random = _random(prepared, node, seed, clock) if node is not None and clock is not None else None
    judged = CHOICES if not compared else random["choices"] if random else 0
    text = f"the plan is compared with {judged} of {CHOICES} random choices: the time limit is over"
    return {
        "tasks": prepared.graph.tasks,
        "failing_tasks": int(problem.fails.sum()),
        "cases": len(problem.cases),
        "before": _figures(prepared, current.node),
        "after": None if node is None else {**_figures(prepared, node), "by_case": _by_case(prepared, node)},
        "random": random,
    }, () if judged == CHOICES else (Warn("COMPARISON_CUT", text),)


def _figures(prepared: Prepared, node: Mapping[int, str | None]) -> dict[str, Any]:
    replicated, nodes = _arrays(prepared, node)
    return {
        "output_fidelity": prepared.value(prepared.problem.model, replicated, nodes),
        "internal_completeness": prepared.value(prepared.completeness, replicated, nodes),
        "replicas": int(replicated.sum()),
        "cpu": float(prepared.cpu[replicated].sum()),
        "memory_mb": float(prepared.memory_mb[replicated].sum()),
    }


def _by_case(prepared: Prepared, node: Mapping[int, str | None]) -> list[dict[str, Any]] | None:
    """Return the metric in each scenario, None where there is but one case."""
    if len(prepared.problem.cases) == 1:
        return None
    replicated, nodes = _arrays(prepared, node)
    lives = prepared.live(replicated, nodes)
    return [
        {
            "id": case.id,
            "probability": case.weight,
            "failed_tasks": int(case.failed.sum()),
            "value": prepared.measured.fidelity(live),
        }
        for case, live in zip(prepared.problem.cases, lives, strict=True)
    ]


def _random(prepared: Prepared, node: Mapping[int, str | None], seed: int, clock: Budget) -> dict[str, Any] | None:
    """Return the mean figures of random choices within the budget, on no nodes in particular; None without any.

    Where the plan has nodes these are what it was short of: then the choices have no more replicas than the plan, and
    take no more cores.
    """
    problem, most = prepared.problem, None
    if any(name is not None for name in node.values()):
        most = len(node)
        problem = replace(problem, weight=prepared.cpu, budget=float(prepared.cpu[list(node)].sum()))
    fidelity, completeness = [], []
    for k in range(CHOICES):
        if clock.over():
            break
        chosen = at_random(problem, seed + k, most)
        fidelity.append(prepared.value(prepared.problem.model, chosen))
        completeness.append(prepared.value(prepared.completeness, chosen))
    if not fidelity:
        return None
    return {
        "output_fidelity": float(np.mean(fidelity)),
        "internal_completeness": float(np.mean(completeness)),
        "choices": len(fidelity),
    }


def _arrays(prepared: Prepared, node: Mapping[int, str | None]) -> tuple[BoolArray, list[str | None]]:
    replicated = np.zeros(prepared.graph.tasks, dtype=np.bool_)
    replicated[list(node)] = True
    return replicated, [node.get(task) for task in range(prepared.graph.tasks)]


def _entries(prepared: Prepared, node: Mapping[int, str | None], tasks: Sequence[int]) -> list[dict[str, Any]]:
    names = ((task, *prepared.graph.name(task)) for task in tasks)
    return [{"operator": operator, "index": index, "node": node[task]} for task, operator, index in names]

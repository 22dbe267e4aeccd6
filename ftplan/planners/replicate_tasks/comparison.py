"""What random choices of the same budget are worth: a baseline for a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.greedy import taken
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask

#: Random choices that a plan is held against.
CHOICES = 20


def random_choices(
    prepared: PreparedReplication, node: NodeByTask, seed: int, clock: Budget
) -> tuple[dict[str, Any] | None, tuple[Warn, ...]]:
    """Return the mean figures of random choices within the budget, on no nodes in particular; None without any.

    Each takes tasks that may fail in a random order, as long as they fit. Where the plan has nodes these are what it
    was short of: then the choices have no more replicas than the plan, and take no more cores. A warning says where
    the clock left out some of them.
    """
    problem, most = prepared.problem, None
    if any(name is not None for name in node.values()):
        most = len(node)
        problem = replace(problem, weight=prepared.cpu, budget=float(prepared.cpu[list(node)].sum()))
    models = prepared.compared
    figures: list[list[float]] = []
    while len(figures) < CHOICES and not clock.over():
        draw = np.random.default_rng(seed + len(figures))
        chosen = taken(problem, draw.permutation(np.flatnonzero(problem.fails)), most)
        figures.append([problem.value(chosen, model=model) for model in models.values()])
    text = f"the plan is compared with {len(figures)} of {CHOICES} random choices: the time limit is over"
    warnings = () if len(figures) == CHOICES else (Warn("COMPARISON_CUT", text),)
    if not figures:
        return None, warnings
    means = {name: float(mean) for name, mean in zip(models, np.mean(figures, axis=0), strict=True)}
    return {**means, "choices": len(figures)}, warnings

"""One step of a repair, a set-union knapsack: what each bound, tree, search and model of it is worth.

Sparse instances, those of the literature where FTPLAN_SUKP names their folder, others of the same shapes, and steps of
production Storm topologies where FTPLAN_STORM_TOPOLOGIES names theirs. Limits are seconds of the processor.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ablation import Answer, Case, Part
from recovery_instances import sparse
from recovery_storm import knapsack_of, topology_of
from sukp import read
from sukp_instances import Shape, generated

import ablations.recovery_schedule  # noqa: F401  # sets the clock
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.auto import auto_step
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice, StepSolver

STEPS = "ftplan.planners.recovery_schedule.algorithms"


def solved(solver: StepSolver, knapsack: SetUnionKnapsack, seconds: float) -> Answer:
    """Solve one step."""
    choice = solver(knapsack, Budget(seconds))
    return Answer("max", knapsack.value(choice.queries), choice.bound)


def cases() -> dict[str, Case]:
    knapsacks = {
        f"{queries} x {tasks}, zipf {zipf:g}, {capacity:.0%}": sparse(queries, tasks, capacity, 1, zipf)
        for queries, tasks, zipf, capacity in (
            (150, 250, 0.5, 0.3),
            (150, 250, 0.8, 0.6),
            (500, 1_000, 0.8, 0.1),
            (500, 1_000, 0.5, 0.3),
            (500, 500, 0.5, 0.1),
            (5_000, 10_000, 0.8, 0.3),
        )
    }
    knapsacks["generated 600 x 500"] = generated(Shape(600, 500, 0.10, 0.75, 11))
    knapsacks["generated 120 x 100"] = generated(Shape(120, 100, 0.05, 0.5, 3))
    if folder := os.environ.get("FTPLAN_SUKP"):
        for name in ("sukp_100_85_0.10_0.75", "sukp_500_485_0.10_0.75"):
            knapsacks[name] = read(Path(folder) / f"{name}.txt.gz")
    if folder := os.environ.get("FTPLAN_STORM_TOPOLOGIES"):
        for number, path in enumerate(sorted(Path(folder).glob("*.json"))[:2]):
            topology = topology_of(path, number)
            if topology is not None:
                knapsacks[f"{topology.name}"] = knapsack_of(topology, 0.2, number)
    made: dict[str, Case] = {f"exact: {name}": partial(solved, exact_step, k) for name, k in knapsacks.items()}
    return made | {f"auto: {name}": partial(solved, auto_step, k) for name, k in list(knapsacks.items())[1::3]}


def as_hinted(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: Any = None) -> StepChoice:
    """Stand in for a search that finds nothing."""
    return StepChoice(np.zeros(knapsack.queries, dtype=np.bool_) if hint is None else hint)


NO_DEEP_TREE = {f"{STEPS}.exact:deepen": lambda tree, budget: None}
NO_SETS = {f"{STEPS}.{name}:optimum_where_few": lambda knapsack: None for name in ("exact", "auto")}

PARTS = (
    Part("deep tree", NO_DEEP_TREE),
    Part("integer program where the gap is small", {f"{STEPS}.exact:TIGHT": -1.0}),
    Part("search within exact", {f"{STEPS}.exact:local_search_step": as_hinted}),
    Part(
        "completion of closures",
        {f"{STEPS}.exact:best_completion": lambda small, *rest: np.zeros(small.queries, dtype=np.bool_)},
    ),
    Part("all sets where few", NO_SETS),
    Part("auto: best density", {f"{STEPS}.auto:SOLVERS": ((exact_step, 0.2),)}),
    Part("auto: search", {f"{STEPS}.auto:NEAR": ((exact_step, 1.0),), f"{STEPS}.auto:FAR": ((exact_step, 1.0),)}),
)

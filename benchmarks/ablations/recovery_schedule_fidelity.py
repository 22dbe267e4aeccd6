"""The whole repair by ``fidelity-time``: what each bound, start, search and model of it is worth.

The instances of the ablation for ``priority-time``, and some whose sets of tasks are too many to write out. Limits are
seconds of the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from ablation import Answer, Case, Part
from recovery_priority_time import sparse

from ablations.recovery_schedule import (
    RECOVERY,
    answer,
    compile_searches,
    failing_later,
    no_model,
    nothing,
    storm_racks,
)
from ftplan.planners.recovery_schedule.algorithms.horizon.priority_time import AggregatedQueryPolicy
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.burst_cases import random_burst


def cases() -> dict[str, Case]:
    compile_searches()
    problems: dict[str, Callable[[], RecoveryProblem]] = {
        f"{queries} queries, {share:.0%} of the cores, {lanes} restores": partial(sparse, queries, share, 1, lanes)
        for queries, share, lanes in (
            (5, 0.3, 1),
            (10, 0.6, 1),
            (20, 0.6, 0),
            (50, 0.3, 0),
            (50, 0.6, 1),
            (200, 0.6, 1),
        )
    }
    racks = storm_racks((2, 6, 12))
    problems |= racks
    problems |= {f"burst {seed}": partial(random_burst, seed, 8) for seed in (2, 5)}
    if racks:
        problems["rack, later failures"] = lambda: failing_later(list(racks.values())[1](), 0, 3)
    plain = RecoveryOptions(objective="fidelity-time")
    made: dict[str, Case] = {name: partial(_planned, build, plain) for name, build in problems.items()}
    split = replace(plain, parallel_recovery=True)
    for queries, lanes in ((20, 0), (50, 1)):
        made[f"{queries} queries, split"] = partial(_planned, partial(sparse, queries, 0.6, 1, lanes), split)
    held = replace(plain, prefetch=False)
    made["20 queries, no prefetch"] = partial(_planned, partial(sparse, 20, 0.6, 2, 1), held)
    return made


def _planned(build: Callable[[], RecoveryProblem], options: RecoveryOptions, seconds: float) -> Answer:
    return answer(build(), options, seconds)


def no_search(instance: Any, start: Any, *rest: Any) -> Any:
    """Stand in for a search that finds nothing."""
    return start


def no_limit(model: Any, down: Any, wanted: Any, cost: Any, limit: Any, budget: Any) -> Any:
    """Stand in for the linear relaxation."""
    return np.ones(len(limit))


def no_table(graph: Any, model: Any, live: Any, able: Any, toll: Any, limit: Any, budget: Any) -> Any:
    """Stand in for the tables over operators."""
    return np.ones(len(limit))


def never(problem: Any, *rest: Any) -> Any:
    """Stand in for a plan over the horizon."""
    return SimpleNamespace(step=np.full(problem.knapsack.queries, problem.steps))


SEARCH = f"{RECOVERY}.repair.fidelity.search"
BOUND = f"{RECOVERY}.repair.fidelity.bound"
HORIZON = f"{RECOVERY}.horizon.fidelity_time"

PARTS = (
    Part("search of tasks", {f"{SEARCH}:anneal_tasks": no_search}),
    Part("bound: integer programs", {f"{BOUND}:most_by_program": lambda sets, segment, most, budget: most}),
    Part("interval model", {f"{SEARCH}:solve_intervals": no_model}),
    Part("all placements of few tasks", {f"{SEARCH}:optimum_where_few": nothing}),
    Part("bound: linear relaxation of streams", {f"{BOUND}:fidelity_bounds": no_limit}),
    Part("bound: tables over operators", {f"{BOUND}:most_by_table": no_table}),
    Part("search of sets", {f"{SEARCH}:search_orders": no_search}),
    Part("reverse greedy", {f"{SEARCH}:FidelityGains._by_reverse_greedy": lambda self, budget: iter(())}),
    Part("both searches", {f"{SEARCH}:search_orders": no_search, f"{SEARCH}:anneal_tasks": no_search}),
    Part("bound: mixtures of cores and restores", {f"{BOUND}:MIXTURES": 0}),
    Part("orders tried in full", {f"{RECOVERY}.repair.whole_repair:tried_orders": nothing}),
    Part("split: horizon's policies", {f"{RECOVERY}.by_objective:_split": lambda *rest: []}),
    Part("split: by tasks", {f"{RECOVERY}.by_objective:AggregatedTaskPolicy": AggregatedQueryPolicy}),
    Part("split: by whole queries", {f"{HORIZON}:plan_horizon": never}),
)

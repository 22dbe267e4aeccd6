"""The whole repair by ``fidelity-time``: what each bound, start, search and model of it is worth.

The instances of the ablation for ``priority-time``, and some whose sets of tasks are too many to write out. Limits are
seconds of the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from ablation import Case, Part
from recovery_priority_time import sparse

from ablations.recovery_schedule import (
    RECOVERY,
    compile_searches,
    failing_later,
    no_model,
    nothing,
    planned,
    storm_racks,
)
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.recovery_schedule.algorithms.horizon.priority_time import AggregatedQueryPolicy
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.burst_cases import random_burst
from tests.planners.recovery_schedule.algorithms.fidelity_cases import layers


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
    problems |= {f"{d} layers of {n}": partial(dense, d, n) for d, n in ((3, 12), (5, 20))}
    problems |= {f"burst {seed}": partial(random_burst, seed, 8) for seed in (2, 5)}
    if racks:
        problems["rack, later failures"] = lambda: failing_later(list(racks.values())[1](), 0, 3)
    return planned(problems, "fidelity-time", ((20, 0), (50, 1)))


def dense(depth: int, parallelism: int) -> RecoveryProblem:
    """Return a job of full edges that lost a third of its tasks, for which nodes come one after another."""
    graph = TaskGraph(layers(depth, parallelism))
    failed = np.random.default_rng(depth * parallelism).random(graph.tasks) < 1 / 3
    nowhere = np.full(graph.tasks, -1)
    hosts = tuple(Host(f"h{k}", float(max(1, failed.sum() // 4))) for k in range(4))
    arrivals = tuple(ArrivalEvent(30.0 * k, k, (30.0 * k, 30.0 * k)) for k in (1, 2, 3))
    return RecoveryProblem(graph, np.ones(graph.tasks), failed, nowhere, nowhere, hosts, 1, arrivals, horizon_s=200.0)


def no_search(instance: Any, start: Any, *rest: Any) -> Any:
    """Stand in for a search that finds nothing."""
    return start


def no_limit(model: Any, down: Any, wanted: Any, cost: Any, limit: Any, *rest: Any) -> Any:
    """Stand in for the linear relaxation."""
    return np.ones(len(limit))


def no_table(graph: Any, model: Any, live: Any, able: Any, toll: Any, limit: Any, budget: Any) -> Any:
    """Stand in for the tables over operators."""
    return np.ones(len(limit))


SEARCH = f"{RECOVERY}.repair.fidelity.search"
BOUND = f"{RECOVERY}.repair.fidelity.bound"

PARTS = (
    Part("bound: integer programs", {f"{BOUND}:most_by_program": lambda sets, segment, most, *rest: most}),
    Part("interval model", {f"{SEARCH}:solve_intervals": no_model}),
    Part("bound: linear relaxation of streams", {f"{BOUND}:fidelity_bounds": no_limit}),
    Part("bound: tables over operators", {f"{BOUND}:most_by_table": no_table}),
    Part("search of sets", {f"{SEARCH}:search_orders": no_search}),
    Part("reverse greedy", {f"{SEARCH}:FidelityGains._by_reverse_greedy": lambda self, budget: iter(())}),
    Part("bound: mixtures of cores and restores", {f"{BOUND}:MIXTURES": 0}),
    Part("orders tried in full", {f"{RECOVERY}.repair.whole_repair:tried_orders": nothing}),
    Part("split: horizon's policies", {f"{RECOVERY}.by_objective:_split": lambda *rest: []}),
    Part("split: by tasks", {f"{RECOVERY}.by_objective:AggregatedTaskPolicy": AggregatedQueryPolicy}),
)

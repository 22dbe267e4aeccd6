"""What each step restores and could have restored, against all sets of tasks that its nodes can hold."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.operator_centric import cheapest_first, with_step_bound
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import random_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState, by_queries
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.cases import graph, problem

POLICIES: dict[str, Policy] = {
    "exact": by_queries(exact_step),
    "operator-centric": with_step_bound(cheapest_first),
    "random": random_order,
}


def case(seed: int) -> RecoveryProblem:
    """Up to seven tasks on two nodes, two that arrive, and now and then a failure on the way."""
    draw = random.Random(seed)
    sources, outputs = draw.randint(1, 3), draw.randint(2, 4)
    operators: list[dict[str, Any]] = [
        {"id": "a", "parallelism": sources, "cpu": [draw.choice([0.0, 0.5, 1.0, 2.0]) for _ in range(sources)]},
        {
            "id": "b",
            "parallelism": outputs,
            "cpu": [draw.choice([0.5, 1.0, 1.5]) for _ in range(outputs)],
            "priority": [float(draw.randint(1, 5)) for _ in range(outputs)],
            "state_bytes": 100,
        },
    ]
    pairs = {(draw.randrange(sources), index) for index in range(outputs) for _ in range(2)}
    edge = {"from": "a", "to": "b", "substreams": [[i, j, 1.0] for i, j in sorted(pairs)]}
    tasks = graph(operators, [edge])
    failures: list[Any] = [(draw.choice([5.0, 50.0]), "node:n1", ["n1"], [])] if draw.random() < 0.5 else []
    return problem(
        tasks,
        [f"a/{i}" for i in range(sources)] + [f"b/{i}" for i in range(outputs)],
        {"n1": draw.choice([1.0, 2.0]), "n2": draw.choice([0.0, 1.0])},
        [(20.0, "n3", draw.choice([0.5, 1.5])), (60.0, "n4", draw.choice([1.0, 2.5]))],
        failures=failures,
        state_bytes=tasks.per_task("state_bytes"),
        bandwidth_bytes_s=10.0,
        capacity=draw.choice([None, 1.5]),
    )


def held(costs: list[float], room: list[float], pool: float, present: int) -> bool:
    """Return whether tasks of these sizes fit onto the nodes one by one, the first nodes sharing a pool."""
    if not costs:
        return True
    for host, free in enumerate(room):
        left = pool - costs[0] if host < present else pool
        if costs[0] <= free and left >= 0.0:
            rest = [*room[:host], free - costs[0], *room[host + 1 :]]
            if held(costs[1:], rest, left, present):
                return True
    return False


def most(state: StepState) -> float:
    """Return the largest summed priority that a set of tasks could restore in the state that a step finds."""
    tasks, present = state.problem.graph, state.problem.live_hosts
    priority = tasks.per_task("priority")
    needs = {}
    for query in np.flatnonzero(tasks.output).tolist():
        missing = tasks.upstream(np.arange(tasks.tasks) == query) & state.down
        if missing.any():
            needs[query] = set(np.flatnonzero(missing).tolist())
    room = state.room.tolist()
    pool = state.capacity - sum(room[present:])
    best = 0.0
    for size in range(len(needs) + 1):
        for chosen in itertools.combinations(needs, size):
            tasks_back = set().union(*(needs[query] for query in chosen))
            costs = sorted((float(state.cost[t]) for t in tasks_back if state.cost[t] > 0.0), reverse=True)
            worth = float(priority[list(chosen)].sum())
            if worth > best and held(costs, room, pool, present):
                best = worth
    return best


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(examples(25)))
def test_no_step_could_restore_more_than_its_bound(seed: int, policy: str) -> None:
    possible: dict[int, float] = {}

    def watched(state: StepState, budget: Budget, number: int) -> Decision:
        possible[state.step] = most(state)
        return POLICIES[policy](state, budget, number)

    result = construct_schedule(case(seed), RecoveryOptions(objective="priority", iterations=50), watched)
    if result.answer is None:
        assert result.status == "infeasible"
        return
    objectives = [step.objective for step in result.answer.steps]
    for step, objective in enumerate(objectives):
        assert objective.value is not None
        assert objective.bound is not None
        assert objective.value <= possible.get(step, 0.0) <= objective.bound + 1e-9
    assert result.bound == sum(objective.bound or 0.0 for objective in objectives)
    if result.status == "optimal":
        assert sum(objective.value or 0.0 for objective in objectives) == sum(possible.values())


def test_the_exact_planner_proves_most_of_these_cases_and_an_order_by_operators_does_not() -> None:
    """The cases tell good from bad: the same bound holds for both."""
    options = RecoveryOptions(objective="priority", iterations=50)
    proved = dict.fromkeys(("exact", "operator-centric"), 0)
    for name, seed in itertools.product(proved, range(25)):
        proved[name] += construct_schedule(case(seed), options, POLICIES[name]).status == "optimal"
    assert proved["exact"] >= 10
    assert proved["operator-centric"] < proved["exact"]

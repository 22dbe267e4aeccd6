"""Queries and nodes chosen together, against all choices and all ways to place them."""

from __future__ import annotations

from itertools import chain, combinations, product
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.recovery_schedule.algorithms.exact import exact
from ftplan.planners.recovery_schedule.algorithms.schedule import choose_and_pack, exact_packing
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.cases import graph, problem

SIZES = st.sampled_from([0.25, 0.5, 0.6, 0.75, 1.0])


def places(costs: list[float], rooms: list[float]) -> bool:
    """Return whether tasks can be placed, by trying all ways."""
    for hosts in product(range(len(rooms)), repeat=len(costs)):
        used = np.bincount(hosts, weights=costs, minlength=len(rooms)) if costs else np.zeros(len(rooms))
        if (used <= np.array(rooms) + 1e-9).all():
            return True
    return False


@settings(max_examples=40, deadline=None)
@given(
    shared=st.lists(SIZES, min_size=1, max_size=2),
    own=st.lists(SIZES, min_size=1, max_size=4),
    priority=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    rooms=st.lists(st.sampled_from([0.5, 0.8, 1.1]), min_size=1, max_size=3),
)
def test_no_other_queries_that_can_be_placed_are_worth_more(
    shared: list[float], own: list[float], priority: list[int], rooms: list[float]
) -> None:
    operators = [{"id": f"s{i}", "cpu": size} for i, size in enumerate(shared)]
    operators += [{"id": f"q{i}", "cpu": size, "priority": priority[i]} for i, size in enumerate(own)]
    edges = [{"from": f"s{i % len(shared)}", "to": f"q{i}"} for i in range(len(own))]
    tasks = graph(operators, edges)
    unused = {f"s{i}" for i in range(len(own), len(shared))}  # sources that nothing reads are queries of their own
    failed = [f"{operator['id']}/0" for operator in operators]
    case = problem(tasks, failed, {f"n{i}": room for i, room in enumerate(rooms)})
    needs = {f"q{i}": ({f"s{i % len(shared)}", f"q{i}"}, priority[i]) for i in range(len(own))}
    needs |= {name: ({name}, 1) for name in unused}
    cost = {str(operator["id"]): float(str(operator["cpu"])) for operator in operators}
    best = 0
    for chosen in chain.from_iterable(combinations(needs, r) for r in range(len(needs) + 1)):
        wanted = set().union(*(needs[name][0] for name in chosen)) if chosen else set()
        if places([cost[name] for name in sorted(wanted)], rooms):
            best = max(best, sum(needs[name][1] for name in chosen))
    assert_best(case, best)
    with patch.object(choose_and_pack, "MOST_TASKS", 0), patch.object(exact_packing, "MOST_TASKS", 0):
        assert_best(case, best)  # by CP-SAT, as where tasks are many


def assert_best(case: RecoveryProblem, best: float) -> None:
    """Assert that the plan of step 0 is worth *best*."""
    result = exact(case, RecoveryOptions("priority", prefetch=False))
    if result.answer is None:
        assert best == 0
        return
    objective = result.answer.steps[0].objective
    assert objective.value == best
    assert objective.bound is not None
    assert objective.bound >= best


def test_few_tasks_are_placed_without_a_solver() -> None:
    tasks = graph([{"id": f"q{i}", "cpu": 0.5, "priority": i + 1} for i in range(3)], [])
    case = problem(tasks, [f"q{i}/0" for i in range(3)], {"a": 0.7, "b": 0.9})
    with patch.dict("sys.modules", {"ortools.sat.python": None}):
        assert_best(case, 5.0)

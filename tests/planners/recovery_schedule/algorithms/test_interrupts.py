"""Solvers of recovery planners run beside the main thread, which stays open to signals; slices of kernels are short."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ortools.linear_solver import pywraplp
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact
from ftplan.planners.recovery_schedule.algorithms.horizon import ruin_and_recreate as search
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_bound import fidelity_bounds
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import solve_time_indexed
from ftplan.planners.recovery_schedule.algorithms.schedule import choose_and_pack, exact_packing
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.planners.recovery_schedule.algorithms.cases import figure_2, graph, problem
from tests.planners.recovery_schedule.algorithms.time_indexed_cases import shared_repair


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows by whether the main thread was free at each call of a solver."""
    free: list[bool] = []

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            free.append(threading.current_thread() is not threading.main_thread())
            return real(*args, **more)

        return call

    monkeypatch.setattr(cp_model.CpSolver, "solve", watched(cp_model.CpSolver.solve))
    monkeypatch.setattr(mathopt, "solve", watched(mathopt.solve))
    monkeypatch.setattr(pywraplp.Solver, "Solve", watched(pywraplp.Solver.Solve))
    return free


def test_the_proof_of_a_repair(threads: list[bool]) -> None:
    repair = shared_repair(1, queries=5, steps=3)
    _, _, optimal = solve_time_indexed(repair, np.full(5, 3), Budget(60.0), 0)
    assert optimal
    assert threads == [True]


def test_the_linear_program_of_fidelity(threads: list[bool]) -> None:
    tasks = figure_2()
    down = np.ones(tasks.tasks, dtype=np.bool_)
    model = fidelity_model(tasks, rates(tasks))
    fidelity_bounds(model, down, down, np.ones(tasks.tasks), np.array([3.0, 6.0]), Budget(60.0))
    assert threads
    assert all(threads)


def test_the_placement_of_tasks(threads: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_packing, "MOST_TASKS", 0)
    monkeypatch.setattr(choose_and_pack, "MOST_TASKS", 0)
    tasks = graph([{"id": f"q{i}", "cpu": cpu, "priority": 9 * cpu} for i, cpu in enumerate((0.6, 0.6, 0.6, 0.4))], [])
    exact(problem(tasks, [f"q{i}/0" for i in range(4)], {"a": 1.0, "b": 1.0}), RecoveryOptions())
    assert len(threads) >= 2
    assert all(threads)


def test_slices_of_the_search_are_short_where_rounds_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(search, "_anneal", lambda problem, instance, solution, rounds, *rest: asked.append(rounds))
    for queries, steps in ((10, 3), (10, 4000)):
        repair = shared_repair(1, queries=queries, steps=steps)
        asked.clear()
        search.ruin_and_recreate(repair, np.full(queries, steps), Budget(1e9), 0)
        each = search.MOVED * (repair.entries / queries + 2 * steps)
        assert max(asked) * each <= search.CHUNK_WORK
        assert sum(asked) == queries * search.ROUNDS_PER_QUERY

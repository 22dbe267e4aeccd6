"""The time limit of recovery-schedule holds for the whole command. The clock is a counter: no test waits for one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan import compiled
from ftplan.api import verify
from ftplan.model import failed_queries
from ftplan.planners import budget
from ftplan.planners.recovery_schedule import smallest_fix as recovery_fix
from tests.planners.recovery_schedule.recovery_cases import CLUSTER, TOPOLOGY, loaded

ARRIVALS = 200


class Ticking:
    """A clock that goes on by some seconds each time that it is looked at."""

    def __init__(self, tick_s: float) -> None:
        self.now, self.tick_s = 0.0, tick_s

    def monotonic(self) -> float:
        self.now += self.tick_s
        return self.now


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    clock = Ticking(0.0)
    monkeypatch.setattr(budget, "time", clock)
    monkeypatch.setattr(compiled, "set_apart", lambda seconds: None)  # those are seconds of another clock
    return clock


def many_arrivals(*fail: str) -> ftplan.Problem:
    """Return a case in which zones fail, or all, and nodes arrive one by one, at uncertain times."""
    arrivals = [
        {"at_s": [10.0 * k + 10.0, 10.0 * k + 15.0], "node": {"id": f"a{k}", "cpu": 1.5}} for k in range(ARRIVALS)
    ]
    return loaded({"fail": list(fail or ("zone:a", "zone:b")), "arrivals": arrivals})


def codes(plan: Any) -> list[str]:
    return [warning.code for warning in plan.warnings]


def test_queries_are_traced_once_for_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[bytes] = []
    real = failed_queries.trace

    def counting(graph: Any, failed: Any) -> Any:
        traced.append(failed.tobytes())
        return real(graph, failed)

    monkeypatch.setattr(failed_queries, "trace", counting)
    plan = ftplan.plan("recovery-schedule", loaded({"fail": ["zone:a"]}), objective="priority-time", max_cpu=1.0)
    assert plan.summary["random"]["orders"] == 20
    assert len(traced) == len(set(traced)) == 1


def test_what_was_traced_is_that_of_the_failure() -> None:
    problem = many_arrivals()
    assert problem.topology is not None
    graph = failed_queries.TaskGraph(problem.topology)
    for seed in range(10):
        failed = np.random.default_rng(seed % 6).random(graph.tasks) < 0.5
        found, anew = failed_queries.failed_queries(graph, failed), failed_queries.trace(graph, failed)
        assert found.query.tolist() == anew.query.tolist()
        assert found.member.tolist() == anew.member.tolist()
    assert len(graph.traced) == failed_queries.KEPT


@pytest.mark.parametrize("objective", ["priority", "priority-time", "fidelity-time"])
@pytest.mark.parametrize("algorithm", ["auto", "best-density", "exact", "operator-centric"])
def test_no_loop_runs_on_without_the_clock(ticking: Ticking, algorithm: str, objective: str) -> None:
    problem = many_arrivals()
    ticking.tick_s = 0.02
    limit_s = 2.0
    plan = ftplan.plan(
        "recovery-schedule", problem, algorithm=algorithm, objective=objective, time_limit_s=limit_s, samples=10_000
    )
    assert ticking.now <= limit_s + 2.0
    assert "COMPARISON_CUT" in codes(plan)
    assert plan.status in ("optimal", "feasible", "no-plan-in-time")
    if plan.plan is not None:
        assert len(plan.plan["steps"]) == 1 + ARRIVALS
        assert verify(plan, problem).valid


def test_steps_that_the_time_does_not_last_for_recover_nothing(ticking: Ticking) -> None:
    problem = many_arrivals("zone:a")
    ticking.tick_s = 0.2
    plan = ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority", time_limit_s=1.0)
    assert plan.status == "feasible"
    assert plan.plan is not None
    recovered = [bool(step["recover"]) for step in plan.plan["steps"]]
    assert recovered[0]
    assert not any(recovered[3:])
    last = plan.plan["steps"][-1]["objective"]
    assert last["bound"] > last["value"] == 0.0  # what is still down could have come back
    assert verify(plan, problem).valid


def test_comparisons_say_how_far_they_came(ticking: Ticking) -> None:
    problem = many_arrivals()
    whole = ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority", time_limit_s=1.0)
    assert whole.summary["random"]["orders"] == 20
    assert whole.summary["sampled"]["samples"] == 100
    assert "COMPARISON_CUT" not in codes(whole)
    ticking.tick_s = 0.0004
    cut = ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority", time_limit_s=1.0)
    orders = cut.summary["random"]["orders"]
    assert 0 < orders < 20
    (said,) = [warning.message for warning in cut.warnings if warning.code == "COMPARISON_CUT"]
    assert f"{orders} of 20 random orders" in said
    ticking.tick_s = 0.1
    none = ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority", time_limit_s=1.0)
    assert none.summary["random"] is None
    assert none.summary["before"] is None
    (said,) = [warning.message for warning in none.warnings if warning.code == "COMPARISON_CUT"]
    assert "no blocking recovery, 0 of 20 random orders" in said


def test_the_smallest_fix_is_looked_for_within_the_time(ticking: Ticking, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {**CLUSTER, "nodes": [{**node, "cpu": 0.1, "used_cpu": 0.0} for node in CLUSTER["nodes"]]}
    failure = {"format": "ftplan/failure", "format_version": "1.0", "fail": ["node:n1", "node:n2"]}
    problem = ftplan.load(topology=TOPOLOGY, cluster=cluster, failure=failure)
    tried: list[Any] = []
    real = recovery_fix._fits

    def counting(*given: Any) -> Any:
        tried.append(given)
        return real(*given)

    monkeypatch.setattr(recovery_fix, "_fits", counting)
    plan = ftplan.plan("recovery-schedule", problem, arrivals=False)
    assert len(tried) > 10
    assert plan.infeasible is not None
    tried.clear()
    ticking.tick_s = 10.0  # over at once
    cut = ftplan.plan("recovery-schedule", problem, time_limit_s=1.0, arrivals=False)
    assert not tried
    assert cut.status == "infeasible"
    assert cut.infeasible is not None
    assert cut.infeasible.smallest_fix


def test_the_warning_names_the_limit_of_the_command(ticking: Ticking) -> None:
    problem = many_arrivals()
    ticking.tick_s = 0.05
    plan = ftplan.plan("recovery-schedule", problem, objective="priority-time", time_limit_s=3.0)
    said = [warning.message for warning in plan.warnings if warning.code == "TIME_LIMIT"]
    assert said == ["stopped by the clock after 3 s: another run may differ"]


def test_compiling_counts_on_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(compiled, "_apart_s", 0.0)
    limit = budget.Budget(5.0)
    now[0] = 20.0
    compiled.set_apart(18.0)
    assert limit.left_s == 3.0
    assert not limit.over()

"""``time_limit_s`` bounds the whole of a plan: with a clock that runs by looks, not by seconds.

Every look at the clock takes a second of it, so that the deadline falls in the midst of the work, at the same place on
every machine. What still looks at the clock after that must be little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftplan
from benchmarks.instances import LayerSizes, layered
from ftplan.api import verify
from ftplan.io.model_entries import topology_entry
from ftplan.planners import budget
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.circuit import circuit
from ftplan.planners.fidelity_circuit.reduction import reduce
from ftplan.planners.replicate_tasks import make as replicate_tasks
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from tests.places import ROOT

WIDE, LAYERS = 12, 5


class Clock:
    """Goes on by one second at each look."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1.0
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "now", clock)
    monkeypatch.setattr(replicate_tasks, "now", clock)
    return clock


def job() -> dict[str, Any]:
    return topology_entry(layered(LayerSizes(LAYERS, 1, WIDE, 2), 0, cpu=0.5))


def placed() -> dict[str, Any]:
    """Ten nodes with room for few replicas, so that the choice is fitted again and again."""
    nodes = [f"n{k}" for k in range(10)]
    tasks = {f"o{k}": [nodes[(k * WIDE + t) % 10] for t in range(WIDE)] for k in range(LAYERS)}
    machines = [{"id": n, "cpu": 4.5, "zone": f"z{k % 5}"} for k, n in enumerate(nodes)]
    return {"format": "ftplan/cluster", "format_version": "1.0", "nodes": machines, "placement": {"tasks": tasks}}


def failing() -> dict[str, Any]:
    scenarios = [{"id": f"n{k}", "probability": 0.1, "fail": [f"node:n{k}"]} for k in range(10)]
    return {"format": "ftplan/failure", "format_version": "1.0", "scenarios": scenarios}


@pytest.mark.parametrize("algorithm", ["auto", "greedy", "structure-aware", "exact"])
@pytest.mark.parametrize("limit", [5.0, 50.0, 500.0])
@pytest.mark.parametrize("more", [{"budget": 30}, {"budget": 30, "curve": True}, {"target": 0.5}], ids=str)
def test_no_work_after_the_deadline(clock: Clock, algorithm: str, limit: float, more: dict[str, Any]) -> None:
    problem = ftplan.load(topology=job(), cluster=placed(), failure=failing())
    clock.time = 0.0
    plan = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, time_limit_s=limit, **more)
    # the looks that steps take to see that it is over; where each had a clock of its own there were 42 to 134 more
    assert clock.time <= limit + 40.0
    assert plan.status in ("feasible", "optimal", "no-plan-in-time")
    if plan.plan is not None:
        assert verify(plan, problem).valid


def test_random_choices_are_cut_and_counted(clock: Clock) -> None:
    problem = ftplan.load(topology=job())
    plan = ftplan.plan("replicate-tasks", problem, algorithm="greedy", budget=20, time_limit_s=1.0)
    assert plan.summary["random"] is None
    said = {w.code: w.message for w in plan.warnings}
    assert "0 of 20 random choices" in said["COMPARISON_CUT"]
    assert said["TIME_LIMIT"] == "stopped by the clock after 1 s: another run may differ"


def test_a_reduction_ends_with_the_clock(clock: Clock) -> None:
    from ftplan.planners.replicate_tasks.budget import parse_budget
    from ftplan.planners.replicate_tasks.prepare import prepare

    problem = prepare(ftplan.load(topology=job()), parse_budget(20, None, None, None)).problem
    free, one = np.zeros(problem.tasks, dtype=np.bool_), np.ones(problem.tasks, dtype=np.int64)
    made = circuit(problem.graph, problem.model, free, one)
    clock.time = 0.0
    with pytest.raises(OutOfTime):
        reduce(made, 20, budget=Budget(30.0))
    assert clock.time <= 35.0


def test_what_is_in_place_stays_where_nothing_is_found_in_time() -> None:
    from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
    from ftplan.planners.replicate_tasks.budget import parse_budget
    from ftplan.planners.replicate_tasks.prepare import prepare

    problem = prepare(ftplan.load(topology=job()), parse_budget(20, None, None, None)).problem
    before = structure_aware(problem, ReplicationOptions(iterations=1)).answer
    assert before is not None
    current = before.nodes()
    late = ReplicationOptions(time_limit_s=60.0, ends=0.0)
    answer = structure_aware(replace(problem, current=current), late).answer
    assert answer is not None
    assert (answer.nodes() == current).all()


def test_parts_end_with_the_command(clock: Clock) -> None:
    whole = Budget(100.0, ends=10.0)
    assert whole.part(1.0).ends == 10.0
    clock.time = 20.0
    assert whole.over()
    assert whole.part(0.5).left_s == 0.0


def test_the_warning_tells_a_part_from_the_whole(clock: Clock) -> None:
    some = Budget(1000.0)
    some.cut = True
    assert "a part of the search" in some.warnings()[0].message
    clock.time = 2000.0
    assert "stopped by the clock after 1000 s" in some.warnings()[0].message


def test_a_flow_that_is_cut_still_gives_copies_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from ftplan.planners.allocate_checkpoints.algorithms.models import flow

    monkeypatch.setattr(flow, "flows_of", _late)
    root = ROOT / "tests" / "data" / "small"
    problem = ftplan.load(topology=root / "topology.yaml", cluster=root / "cluster.yaml", stats=root / "stats")
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", balance="count")
    assert plan.plan is not None
    assert verify(plan, problem).valid


def _late(*args: object) -> None:
    raise OutOfTime

"""Fidelity over time: bounds against every set of tasks, and parts of queries where these pay."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_bound import fidelity_bounds
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_time import AggregatedTaskPolicy, reverse_greedy
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.cases import graph, problem
from tests.topologies import topologies


@given(topologies(operators=4, parallelism=2), st.data())
@settings(deadline=None)
def test_no_set_of_tasks_exceeds_the_bound(topology: Topology, data: st.DataObject) -> None:
    tasks = TaskGraph(topology)
    model = fidelity_model(tasks, rates(tasks))
    cost = tasks.per_task("cpu")
    down = np.array([data.draw(st.booleans()) for _ in range(tasks.tasks)])
    wanted = down & np.array([data.draw(st.sampled_from([True, True, False])) for _ in range(tasks.tasks)])
    capacity = np.array([0.0, 1.0, 2.5, 4.0, 100.0])
    most = fidelity_bounds(model, down, wanted, cost, capacity, Budget(3600))
    for chosen in itertools.product([False, True], repeat=int(wanted.sum())):
        live = ~down
        live[np.flatnonzero(wanted)[list(chosen)]] = True
        used = float(cost[live & down].sum())
        assert np.all(model.fidelity(live) <= most[used <= capacity] + 1e-12)


@given(topologies(), st.booleans())
@settings(deadline=None)
def test_the_order_holds_each_wanted_task_once(topology: Topology, paths: bool) -> None:
    tasks = TaskGraph(topology)
    model = fidelity_model(tasks, rates(tasks))
    down = np.arange(tasks.tasks) % 3 != 0
    wanted = down & (np.arange(tasks.tasks) % 5 != 1)
    cost, rank = tasks.per_task("cpu"), tasks.topological_rank
    orders = [reverse_greedy(model, down, wanted, cost, rank, Budget(3600), paths=paths).tolist() for _ in range(2)]
    assert sorted(orders[0]) == np.flatnonzero(wanted).tolist()
    assert orders[0] == orders[1]


def merging_lanes() -> RecoveryProblem:
    """Four lanes of three tasks that end in one output: no query is whole before all is back."""
    operators = [
        {"id": "source", "parallelism": 4, "rate_out": [4, 3, 2, 1]},
        {"id": "parse", "parallelism": 4},
        {"id": "sink"},
    ]
    edges = [
        {"from": "source", "to": "parse", "partitioning": "one-to-one"},
        {"from": "parse", "to": "sink", "partitioning": "merge"},
    ]
    tasks = graph(operators, edges)
    failed = [f"{name}/{i}" for name in ("source", "parse") for i in range(4)] + ["sink/0"]
    arriving = [(10.0 * i, f"n{i}", 2.0) for i in range(1, 5)]
    return problem(tasks, failed, rooms={"n0": 1.0}, arriving=arriving, horizon_s=100.0)


def test_lanes_come_back_by_their_rate() -> None:
    case = merging_lanes()
    model = fidelity_model(case.graph, rates(case.graph))
    options = RecoveryOptions(objective="fidelity-time", time_limit_s=3600)
    result = construct_schedule(case, options, AggregatedTaskPolicy())
    whole = construct_schedule(case, options, by_queries(best_density_step))
    assert result.answer is not None
    assert whole.answer is not None
    value = fidelity_time_of(result.answer, case, model)
    # three cores by 10 s bring the sink and the first lane, then a lane every 10 s
    assert value == pytest.approx(0.4 * 10 + 0.7 * 10 + 0.9 * 10 + 1.0 * 60)
    assert fidelity_time_of(whole.answer, case, model) <= value
    bound = by_objective(case, replace(options, iterations=1), Method(best_density_step)).bound
    assert bound is not None
    assert value <= bound <= 100.0


@given(topologies(operators=4, parallelism=3), st.data())
@settings(deadline=None, max_examples=30)
def test_a_schedule_stays_within_its_bound(topology: Topology, data: st.DataObject) -> None:
    tasks = TaskGraph(topology)
    failed = ["/".join(map(str, tasks.name(t))) for t in range(tasks.tasks) if data.draw(st.booleans())]
    arriving = [(10.0, "n1", 2.0), (20.0, "n2", 1.0), (20.0, "n3", 3.0)]
    failures = [(15.0, "node:n1", ["n1"], [])] if data.draw(st.booleans()) else []
    case = problem(tasks, failed, {"n0": 2.0}, arriving, failures=failures, horizon_s=60.0)
    options = RecoveryOptions(objective="fidelity-time", iterations=5)
    result = construct_schedule(case, options, AggregatedTaskPolicy())
    bound = by_objective(case, options, Method(best_density_step)).bound
    if result.answer is not None:
        assert bound is not None
        model = fidelity_model(tasks, rates(tasks))
        assert fidelity_time_of(result.answer, case, model) <= bound + 1e-9

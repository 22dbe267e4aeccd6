"""How tasks were used, by hand, and who is to blame under back pressure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ftplan.model.measures.measured_tasks import measured_groups, measured_tasks
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import scores
from ftplan.planners.scale_out.bottlenecks.histories import OperatorHistory, histories
from ftplan.planners.scale_out.bottlenecks.rules_file import shipped_rules
from ftplan.planners.scale_out.demand.operator_demand import measured_flows, operator_demand, tasks_kept_busy
from ftplan.planners.scale_out.problem import required_tasks
from tests.model.measures.measured_cases import WINDOW_S, measured, tables
from tests.planners.scale_out.scaling_cases import operator as scalable
from tests.topologies import operator

NAN = math.nan


def _histories(topology: Topology, statistics: dict[str, Any], **more: Any) -> tuple[OperatorHistory, ...]:
    graph, stats = TaskGraph(topology), tables(statistics)
    found = measured_tasks(graph, stats, measured_groups(graph, stats))
    every = slice(0, stats.manifest.windows)
    flows = measured_flows(graph, stats, found, every).flows
    demand = operator_demand(graph, found, flows, stats.manifest.window_s)
    return histories(graph, found, demand, stats.manifest.window_s, every, **more)


def _alone(*rows: tuple[Any, ...], windows: int = 2, **fields: Any) -> OperatorHistory:
    """Return the history of an operator ``o`` without others; *fields* go to it or to :func:`histories`."""
    more = {name: fields.pop(name) for name in ("task_capacity", "task_memory") if name in fields}
    topology = Topology((operator("o", fields.pop("tasks", 1), **fields),), ())
    return _histories(topology, measured(["o"], tasks=rows, windows=windows), **more)[0]


def test_cpu_is_busy_time_then_cpu_time_then_time_per_record() -> None:
    """30 s of 60 busy; 30 cpu seconds on half a core; 600 records of 25 ms on half a core."""
    fields: dict[str, Any] = {"cpu": 0.5, "record_time_s": 0.025}
    by_time = _alone(("o", 0, 0, 600.0, None, 15_000.0, None, 30_000.0), **fields)
    by_cpu = _alone(("o", 0, 0, 600.0, None, 15_000.0), **fields)
    by_record = _alone(("o", 0, 0, 600.0), **fields)
    for history in (by_time, by_cpu, by_record):
        assert history.cpu.ravel().tolist() == pytest.approx([50.0, 0.0])
        assert history.true_rate == pytest.approx(20.0)
        assert history.needed.tolist() == pytest.approx([0.5, 0.0])
    unknown = _alone(("o", 0, 0, 600.0, None, None, 50.0), task_memory=np.array([100.0]))
    assert unknown.memory.ravel().tolist() == [50.0, 50.0]
    assert np.isnan(unknown.inputs[..., [0, 2]]).all()
    assert math.isnan(unknown.true_rate)
    assert unknown.needed.tolist() == [0.0, 0.0]


def test_a_task_that_uses_more_cores_than_it_reserves_needs_more_tasks() -> None:
    history = _alone(("o", 0, 0, 600.0, None, 90_000.0), windows=1)
    assert history.cpu.ravel().tolist() == [100.0]
    assert history.needed.tolist() == pytest.approx([1.5])


def test_capacity_stands_in_for_true_rates() -> None:
    unknown = _alone(("o", 0, 0, 600.0), task_capacity=40.0)
    assert unknown.cpu.ravel().tolist() == pytest.approx([25.0, 0.0])
    assert unknown.needed.tolist() == pytest.approx([0.25, 0.0])
    busy = _alone(("o", 0, 0, 600.0, None, None, None, 30_000.0), task_capacity=40.0)
    assert busy.cpu.ravel().tolist() == pytest.approx([50.0, 0.0])
    assert busy.true_rate == 40.0


def test_data_is_what_came_and_waits_over_what_a_window_takes() -> None:
    """True rate 20/s, so 1,200 a window: 300 came and 300 wait, then nothing, then too much."""
    rows = [
        ("o", 0, 0, 300.0, None, None, None, 15_000.0, 300.0),
        ("o", 0, 2, 300.0, None, None, None, 15_000.0, 50_000.0),
    ]
    assert _alone(*rows, windows=3).data.ravel().tolist() == pytest.approx([50.0, 0.0, 100.0])


def test_memory_is_over_what_a_task_may_hold_and_stays_while_nothing_is_seen() -> None:
    rows = [("o", 0, 1, 1.0, None, None, 30.0), ("o", 1, 0, 1.0, None, None, 200.0)]
    history = _alone(*rows, tasks=2, windows=3, task_memory=np.array([120.0, 100.0]))
    np.testing.assert_array_equal(history.memory, [[NAN, 100.0], [25.0, 100.0], [25.0, 100.0]])
    assert np.isnan(_alone(*rows, tasks=2, task_memory=np.array([np.inf, np.nan])).memory).all()


def test_true_rates_are_those_of_the_look_back_else_of_all_windows() -> None:
    graph = TaskGraph(Topology((operator("o", 2),), ()))
    rows = [("o", 0, 0, 10.0, None, None, None, 1_000.0), ("o", 0, 1, 90.0, None, None, None, 3_000.0)]
    stats = tables(measured(["o"], tasks=[*rows, ("o", 1, 0, 50.0, None, None, None, 1_000.0)]))
    found = measured_tasks(graph, stats, {})
    history = histories(graph, found, np.zeros((1, 2)), WINDOW_S, slice(1, 2))[0]
    assert history.true_rate == 40.0
    assert history.true_rate == 40.0


def test_back_pressure_is_not_blamed_on_the_operator_that_waits() -> None:
    """``slow`` takes 50 records/s of 100 that are offered; ``fast`` before it is blocked half of the time.

    The input queue of ``fast`` is full, and all that is seen of it is 50 records/s. By its true rate of 400/s one task
    is plenty, and ``slow`` needs two. ``last``, which ``slow`` starves, will need as many.
    """
    ids = ("source", "fast", "slow", "last")
    job = Topology(tuple(operator(name, 1) for name in ids), tuple(Edge(i, i + 1, "full") for i in range(3)))
    rows: list[tuple[Any, ...]] = []
    for window in range(5):
        read = 50.0 * WINDOW_S
        rows += [
            ("source", 0, window, 0.0, read, None, None, 1_000.0, 3_000.0 * window),
            ("fast", 0, window, read, read, None, None, 1_000.0 * read / 400.0, 20_000.0),
            ("slow", 0, window, read, read, None, None, 60_000.0, 20_000.0),
            ("last", 0, window, read, None, None, None, 1_000.0 * read / 60.0, 0.0),
        ]
    source, fast, slow, last = _histories(job, measured(ids, tasks=rows, windows=5))
    assert [h.true_rate for h in (fast, slow, last)] == pytest.approx([400.0, 50.0, 60.0])
    for history in (source, fast, slow, last):
        assert history.demand[1:].tolist() == pytest.approx([100.0] * 4)
    uses = [tasks_kept_busy(float(h.demand[-1]), h.true_rate) for h in (fast, slow, last)]
    needed = [required_tasks(scalable(use=use), 1.0) for use in uses]
    assert needed == [1, 2, 2]
    blocked, blamed = (scores(shipped_rules(), h.inputs)[-1, 0] for h in (fast, slow))
    assert blamed > blocked
    observed = [h.processed[-1, 0] / WINDOW_S for h in (fast, slow)]
    assert observed == [50.0, 50.0]  # which does not tell the two apart

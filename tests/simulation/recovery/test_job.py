"""A job as it runs: at the rates that are derived, and as fast as files say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import FtplanError
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.model.measures.recovery_time import input_rate
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.simulation.recovery.job import JobOptions, node_cores, running_job
from tests.simulation.recovery.file_cases import COSTS, TOPOLOGY, problem, scene

OPTIONS = JobOptions(batch_s=0.5, record_bytes=80.0, headroom=1.25, window_s=10.0)


def _graph(topology: Any = TOPOLOGY) -> TaskGraph:
    loaded = ftplan.load(topology=topology).topology
    assert loaded is not None
    return TaskGraph(loaded)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_records_flow_at_the_derived_rates(seed: int) -> None:
    graph = _graph(ftplan.generate("topology", operators=6, parallelism=(1, 4), seed=seed))
    made = running_job(graph, graph.per_task("cpu"), np.zeros(graph.tasks), None, OPTIONS)
    flow = rates(graph)
    job, seconds = made.job, 400.0
    into = np.where(job.source, flow.out, flow.into)
    # a stream rounds down once, and what it lacks is lost downstream: never more than the records of a few streams
    processed = job.records_in(int(seconds / job.batch_s))[-1]
    assert processed == pytest.approx(into * seconds, rel=0.02, abs=3.0 * job.streams)
    assert (processed <= into * seconds + 1e-6).all()
    assert job.rate.sum() == pytest.approx(input_rate(graph))
    assert made.usual_cpu == pytest.approx(np.where(into > 0.0, graph.per_task("cpu"), 0.0))
    pairs = list(zip(job.receiver.tolist(), job.sender.tolist(), strict=True))
    assert pairs == sorted(set(pairs))


def test_a_task_is_as_fast_as_a_core_or_the_headroom_says() -> None:
    graph = _graph()
    job = running_job(graph, np.array([0.4, 0.4, 0.2, 0.2, 2.0, 0.0]), np.zeros(6), None, OPTIONS).job
    assert job.threads.tolist() == [1.0, 1.0, 1.0, 1.0, 2.5, 1.0]
    assert job.record_time_s == pytest.approx(np.array([0.4, 0.4, 0.2, 0.2, 2.0, 0.0]) / 50.0)


def test_a_measured_capacity_says_how_fast_tasks_and_nodes_are() -> None:
    graph, costs = _graph(), load_recovery_costs(COSTS).value
    made = running_job(graph, graph.per_task("cpu"), np.zeros(6), costs, OPTIONS)
    assert made.capacity_factor == pytest.approx(1.5)
    assert made.job.threads == pytest.approx(1.5 * graph.per_task("cpu"))
    # the sources and the middle take 0.7 of a core at 100 records/s, 1.05 at 150
    assert node_cores(np.array([1.0, 1.0, 1.0, 4.0]), np.array([0, 1, 2, 2, 0, 1]), made) == pytest.approx(
        np.array([1.0, 1.0, 1.0, 4.0]) * max(1.0, 1.5 * made.usual_cpu[[0, 4]].sum(), 1.5 * made.usual_cpu[2:4].sum())
    )
    assert scene(costs=COSTS).cores == pytest.approx([1.05] * 5)
    assert scene().cores == (1.0,) * 5


def test_a_stated_time_of_a_record_wins() -> None:
    operators = [{"id": "a", "rate_out": 10, "record_time_s": 0.02}, {"id": "b"}]
    edges = [{"from": "a", "to": "b", "partitioning": "one-to-one"}]
    graph = _graph({**TOPOLOGY, "operators": operators, "edges": edges})
    made = running_job(graph, graph.per_task("cpu"), np.zeros(2), None, OPTIONS)
    assert made.usual_cpu == pytest.approx([0.2, 1.0])


def test_a_job_without_input_is_refused() -> None:
    graph = _graph({**TOPOLOGY, "operators": [{"id": "a", "rate_out": 0}], "edges": []})
    with pytest.raises(FtplanError, match="no source emits anything"):
        running_job(graph, np.ones(1), np.zeros(1), None, OPTIONS)


def test_a_query_with_too_few_records_is_left_out() -> None:
    sources = [{**TOPOLOGY["operators"][0], "rate_out": [50, 0.1]}, *TOPOLOGY["operators"][1:]]
    topology = {**TOPOLOGY, "operators": sources}
    of_slow = scene(given=problem(topology=topology))
    assert np.flatnonzero(of_slow.running.job.output).tolist() == [2]
    assert [w.message for w in of_slow.warnings if w.code == "QUERIES_NOT_JUDGED"] == [
        "query:sink/1 gets fewer than 2 records in 10 s (--window), too few to judge latency: left out"
    ]
    longer = scene(given=problem(topology=topology), window_s=20.0)
    assert np.flatnonzero(longer.running.job.output).tolist() == [2, 3]
    with pytest.raises(FtplanError, match=r"every query gets fewer than 2 records in 0\.01 s"):
        running_job(_graph(topology), np.ones(6), np.zeros(6), None, replace(OPTIONS, window_s=0.01))

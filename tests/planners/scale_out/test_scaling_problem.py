"""From files to the question of a scale-out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.topology import Topology
from ftplan.planners.scale_out.bottlenecks.rules_file import SHIPPED
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare
from ftplan.planners.scale_out.problem import ScalableOperator, acting, lacks_tasks, task_use
from ftplan.planners.scale_out.room import by_id, job_weights, jobs_of, room
from tests.effort import examples
from tests.model.measures.measured_cases import measured, tables
from tests.planners.scale_out.cases import (
    BARE,
    CLUSTER,
    GROUPS,
    JOB,
    RATES,
    STATE,
    TASKS,
    TOPOLOGY,
    job,
    offered,
    shares,
    statistics,
)
from tests.topologies import operator, topologies

NONE = {"forecast": "none"}


def prepared(problem: ftplan.Problem | None = None, **options: Any) -> PreparedScaling:
    return prepare(job() if problem is None else problem, ScaleOutOptions(**{**NONE, **options}))


def operators(ready: PreparedScaling) -> dict[str, ScalableOperator]:
    return {item.id: item for item in ready.problem.operators}


def without(column: str, table: str = "tasks") -> ftplan.Problem:
    """Return the job whose statistics lack a column."""
    stats = dict(statistics())
    stats[table] = stats[table].assign(**{column: math.nan})
    return ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, stats=stats)


def codes(ready: PreparedScaling) -> dict[str, str]:
    return {warning.code: warning.message for warning in ready.problem.warnings}


def test_each_operator_needs_what_the_sources_offer_over_its_true_rate() -> None:
    """``rank`` sees what ``count`` lets through, and is sized for half of what ``clicks`` offers."""
    ready = prepared()
    known, peaks = operators(ready), {name: float(max(rate)) for name, rate in offered().items()}
    assert list(known) == sorted(known)
    demand = {"parse": peaks["clicks"], "count": peaks["clicks"], "rank": peaks["clicks"] / 2, "alive": peaks["beats"]}
    for name, rate in demand.items():
        assert known[name].use == pytest.approx(rate / RATES[name])
        assert dict(zip(known, ready.sized_for.tolist(), strict=True))[name] == pytest.approx(rate)
    for name, size in GROUPS.items():
        assert known[name].key_groups == size == known[name].most
        assert known[name].group_use.sum() == pytest.approx(known[name].use)
        assert known[name].state_bytes.sum() == pytest.approx(STATE[name])
    share = known["alive"].group_use / known["alive"].use
    assert share == pytest.approx(shares("alive"))
    assert {name: item.state for name, item in known.items() if item.state != "normal"}["count"] == "promoted"
    assert lacks_tasks(known["count"], 0.7)
    assert lacks_tasks(known["rank"], 0.7)
    assert {list(known)[i] for i in acting(ready.problem)} >= {"count", "rank"}
    assert known["clicks"].state == known["beats"].state == "normal"  # nothing tells how busy they are
    assert not lacks_tasks(known["parse"], 0.7)
    tasks = task_use(known["count"], 4, even_ranges(24, 4))
    assert tasks.sum() == pytest.approx(4.2)


def test_jobs_places_and_room() -> None:
    ready = prepared()
    known, question = operators(ready), ready.problem
    assert {name: item.job for name, item in known.items()} == {
        "alive": 0, "beats": 0, "clicks": 1, "count": 1, "parse": 1, "rank": 1,
    }  # fmt: skip
    out = {"alive": 60.0 * 0.1, "rank": 210.0}
    assert question.weight.tolist() == pytest.approx([value / sum(out.values()) for value in out.values()])
    assert question.nodes == ("n1", "n2", "n3", "n4")
    assert question.free.tolist() == pytest.approx([8 - 0.5 - 1 - 1 - 0.5 - 1, 8 - 0.5 - 1 - 1 - 0.5 - 1, 4.0, 6.0])
    assert dict(zip(known, question.now, strict=True))["count"] == (0, 1, 2, 2)
    assert known["count"].copies[:4] == ((3,), (3,), (2,), (0,))
    assert known["alive"].copies == ()
    assert known["count"].task_memory == 512 * 2**20 / 8  # a core of the nodes that have least a core
    assert known["rank"].task_memory == 512 * 2**20 / 16


def test_nodes_that_take_no_tasks_have_no_room() -> None:
    nodes = [{**node, "accepts": ["checkpoints"]} if node["id"] == "n4" else node for node in CLUSTER["nodes"]]
    nodes[2] = {**nodes[2], "used_cpu": 3.5}
    ready = prepared(job(nodes=nodes))
    assert ready.problem.free.tolist() == pytest.approx([4.0, 4.0, 0.5, 0.0])
    replicas = {"rank": ["n1"], "parse": [None, "n2"]}
    assert prepared(job({"replicas": replicas})).problem.free.tolist() == pytest.approx([3.5, 3.0, 4.0, 6.0])


def test_other_files_are_read_and_named() -> None:
    """The shipped rules are the default ones; checkpoints of a plan win over those of the cluster, by operator."""
    groups = [{"operator": "rank", "key_group": k, "primary": "n2", "checkpoints": ["n3", "n1"]} for k in range(8)]
    envelope = {"format": "ftplan/plan", "format_version": "1.0", "kind": "allocate-checkpoints"}
    given = {**envelope, "plan": {"assignments": groups}}
    costs = {
        "format": "ftplan/recovery-costs", "format_version": "1.0", "state": "remote",
        "parameters": {"restart_s": {"value": 12.0, "low": 10.0, "high": 14.0}},
    }  # fmt: skip
    plain, ready = prepared(), prepared(rules=str(SHIPPED), checkpoints=given, costs=costs)
    assert [file.role for file in ready.inputs] == ["rules", "checkpoints", "costs"]
    np.testing.assert_array_equal(plain.scores, ready.scores)
    known = operators(ready)
    assert known["rank"].copies == ((0, 2),) * 8
    assert known["count"].copies == operators(plain)["count"].copies
    assert (ready.setting.setup_s, ready.setting.remote) == (12.0, True)
    with pytest.raises(FtplanError, match="names node 'n3', and there is no cluster"):
        prepared(ftplan.load(**BARE), checkpoints=given)


def test_a_cluster_is_not_needed() -> None:
    ready = prepared(ftplan.load(**BARE))
    assert ready.problem.nodes == ()
    assert ready.problem.now == ((),) * 6
    assert all(item.copies == () for item in ready.problem.operators)
    assert all(math.isinf(item.task_memory) for item in ready.problem.operators)
    assert "NO_PLACEMENT" not in codes(ready)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 420.0),
        ({"growth": 2.0}, 840.0),
        ({"look_back_s": 1.0}, 420.0),
        ({"demand": "mean", "look_back_s": 60.0 * 8}, 420.0),
        ({"demand": "mean"}, float(np.mean(offered()["clicks"]))),
        ({"demand": "p10"}, 150.0),
        ({"task_capacity": 42.0}, 420.0),
    ],
)
def test_what_operators_are_sized_for(options: Mapping[str, Any], expected: float) -> None:
    ready = prepared(**options)
    known = operators(ready)
    assert known["parse"].use == pytest.approx(expected / options.get("task_capacity", RATES["parse"]))
    assert known["count"].use == pytest.approx(expected / options.get("task_capacity", RATES["count"]))


def test_what_is_foretold_counts_where_it_is_more() -> None:
    plain, ahead = prepared(), prepared(forecast="trend", horizon_s=360.0)
    assert all(item is None for item in plain.forecasts)
    for before, after, told in zip(plain.sized_for, ahead.sized_for, ahead.forecasts, strict=True):
        assert told is not None
        assert len(told.mean) == 6
        assert after == pytest.approx(max(before, told.high.max()))
    names = [item.id for item in ahead.problem.operators]
    parse, count = (ahead.forecasts[names.index(name)] for name in ("parse", "count"))
    assert parse is not None
    assert count is not None
    assert parse.high == pytest.approx(count.high)  # of one source, by equal selectivities


def test_shuffled_files_ask_the_same_question() -> None:
    stats = dict(statistics())
    for name in ("tasks", "key_groups"):
        stats[name] = stats[name].sample(frac=1.0, random_state=3)
    rows = {**TOPOLOGY, "operators": TOPOLOGY["operators"][::-1], "edges": TOPOLOGY["edges"][::-1]}
    cluster = {**CLUSTER, "nodes": CLUSTER["nodes"][::-1]}
    here, there = prepared(), prepared(ftplan.load(topology=rows, cluster=cluster, stats=stats))
    assert here.problem.nodes == there.problem.nodes
    for name in ("weight", "free"):
        np.testing.assert_array_equal(getattr(here.problem, name), getattr(there.problem, name))
    assert here.problem.now == there.problem.now
    np.testing.assert_array_equal(here.scores, there.scores)
    for one, other in zip(here.problem.operators, there.problem.operators, strict=True):
        for name in ("group_use", "state_bytes"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        empty = {"group_use": None, "state_bytes": None, "score": None}
        assert replace(one, **empty).__dict__ == replace(other, **empty).__dict__  # type: ignore[arg-type]
    assert here.problem.warnings == there.problem.warnings
    assert here.inputs == there.inputs == ()


def test_another_alarming_threshold_asks_what_it_would_have_asked_at_once() -> None:
    later, at_once = prepared(alarming="auto").alarmed_at(66.0), prepared(alarming=66.0)
    assert later.thresholds == at_once.thresholds
    assert later.timelines == at_once.timelines
    assert [item.state for item in later.problem.operators] == [item.state for item in at_once.problem.operators]
    np.testing.assert_array_equal(later.setting.lead_s, at_once.setting.lead_s)
    assert prepared(alarming="auto", scale_in=60.0).thresholds.alarming == 65.0
    with pytest.raises(FtplanError, match="--alarming: 71: must not be above --promote"):
        later.alarmed_at(71.0)


def test_a_start_is_late_where_the_state_is_not_there_in_time() -> None:
    """With little bandwidth the copy of the state of ``count`` takes longer than it was prepared."""
    for bandwidth, late in ((1000.0, False), (0.001, True)):
        ready = prepared(bandwidth=bandwidth, setup_s=0.0)
        line = ready.timelines[[item.id for item in ready.problem.operators].index("count")]
        assert [event.late for event in line.events if event.after == "promoted"] == [late]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"promote": 90.0}, "--promote: 90: no score lies above it"),
        ({"scale_in": 10.0}, "--scale-in: 10: no score lies below it"),
        ({"alarming": 22.0}, "--alarming: 22: must be above --scale-in"),
    ],
)
def test_thresholds_that_no_score_reaches_are_refused(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message):
        prepared(**options)


@pytest.mark.parametrize("missing", ["topology", "stats"])
def test_inputs_are_needed(missing: str) -> None:
    problem = replace(job(), **{missing: None})  # type: ignore[arg-type]
    with pytest.raises(FtplanError, match=f"a scale-out needs {missing}: give --{missing}"):
        prepared(problem)


def test_statistics_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTPLAN_MAX_MEMORY_GB", "0.0001")
    with pytest.raises(FtplanError, match=r"14 tasks and 40 key groups over 40 windows need about .* longer windows"):
        prepared()


def test_what_is_unknown_is_said() -> None:
    known = codes(prepared())
    assert set(known) == {"SHORT_TRACE", "NO_BUSY_TIME"}
    assert "record_time_s of beats, clicks, or" in known["NO_BUSY_TIME"]
    timeless = codes(prepared(without("busy_ms")))
    assert "record_time_s of alive, beats, clicks, count, parse and 1 more" in timeless["NO_BUSY_TIME"]
    stated = [{**item, "record_time_s": 0.01} for item in TOPOLOGY["operators"]]
    timed = ftplan.load(topology={**TOPOLOGY, "operators": stated}, stats=JOB["stats"])
    assert "NO_BUSY_TIME" not in codes(prepared(timed))
    assert "NO_MEMORY" in codes(prepared(ftplan.load(**BARE)))
    assert "NO_MEMORY" not in codes(prepared(ftplan.load(**BARE), task_memory=1e9))
    assert "no queue_length of beats, clicks" in codes(prepared(without("queue_length")))["NO_QUEUE"]
    rows = [("clicks", 0, 0, 0.0, 5.0), ("rank", 0, 0, 5.0)]
    astray = {**measured(TASKS, tasks=rows, substreams=[("clicks", 0, "rank", 0, 0, 5.0)])}
    astray["manifest"] = {**astray["manifest"], "coverage": 0.25}
    known = codes(prepared(ftplan.load(topology=TOPOLOGY, stats=astray)))
    assert "records from clicks to rank, but the topology no such edge" in known["STREAM_NOT_IN_TOPOLOGY"]
    assert "only 25% of the windows have records" in known["LOW_COVERAGE"]
    placement = {"tasks": {name: nodes for name, nodes in CLUSTER["placement"]["tasks"].items() if name != "rank"}}
    ready = prepared(job(placement=placement))
    assert "the tasks of rank are" in codes(ready)["NO_PLACEMENT"]
    assert ready.problem.now[-1] == ()
    edges = [{**edge, "partitioning": "split"} if edge["to"] == "count" else edge for edge in TOPOLOGY["edges"]]
    changed = prepared(ftplan.load(topology={**TOPOLOGY, "edges": edges}, stats=JOB["stats"]))
    assert "meet on parse -> count follows" in codes(changed)["PARTITIONING_CHANGES"]


def test_key_groups_alone_tell_what_tasks_did() -> None:
    """Then the sources are unknown: what came to the keyed operators counts, at what a task is said to take."""
    stats = {name: value for name, value in statistics().items() if name != "tasks"}
    ready = prepared(ftplan.load(topology=TOPOLOGY, stats=stats), task_capacity=100.0)
    known = operators(ready)
    assert {"NO_STATISTICS", "SHORT_TRACE"} <= set(codes(ready))
    assert "beats, clicks, parse" in codes(ready)["NO_STATISTICS"]
    assert known["alive"].use == pytest.approx(0.6)
    assert known["count"].use == pytest.approx(4.0, rel=0.1)  # as much as it let through
    assert known["parse"].state == "normal"
    assert math.isnan(known["parse"].score)
    assert known["parse"].use == 0.0


def test_operators_without_key_groups_in_the_statistics_divide_by_task() -> None:
    stats = {**statistics(), "key_groups": statistics()["key_groups"].iloc[:0]}
    known = operators(prepared(ftplan.load(topology=TOPOLOGY, stats=stats)))
    tasks = task_use(known["alive"], 4, even_ranges(8, 4))
    of_task = shares("alive").reshape(4, 2).sum(axis=1)
    assert tasks / tasks.sum() == pytest.approx(of_task)
    assert known["alive"].group_use[0] == pytest.approx(known["alive"].group_use[1])


def test_what_techniques_cost_by() -> None:
    ready = prepared()
    at = [item.id for item in ready.problem.operators].index("count")
    setting = ready.setting
    assert (setting.setup_s, setting.bandwidth_mb_s, setting.delay_s, setting.remote) == (30.0, 50.0, 0.002, False)
    assert np.asarray(setting.interval_s)[at] == 30.0
    assert np.asarray(setting.regular).tolist() == [index == at for index in range(6)]
    assert np.asarray(setting.rate)[at] == pytest.approx(420.0)
    events = ready.timelines[at].events
    since = [event.window for event in events if event.after == "prepared"]
    promoted = [event.window for event in events if event.after == "promoted"]
    lead = promoted[-1] - since[-1] if since and since[-1] < promoted[-1] else 0
    assert np.asarray(setting.lead_s)[at] == lead * 60.0
    asked = prepared(setup_s=5.0, bandwidth=7.0, checkpoint_interval_s=10.0).setting
    assert (asked.setup_s, asked.bandwidth_mb_s) == (5.0, 7.0)
    assert not np.asarray(asked.regular).any()
    assert set(np.asarray(asked.interval_s).tolist()) == {10.0}
    often = prepared(checkpoint_interval_s=10.0, checkpoint_records=2100.0).setting  # 5 s at 420 records a second
    assert np.asarray(often.interval_s)[at] == pytest.approx(5.0)
    assert (np.asarray(often.interval_s) <= 10.0).all()
    assert "BANDWIDTH_ASSUMED" in codes(prepared(ftplan.load(**BARE)))


@settings(max_examples=examples(60))
@given(topologies(operators=7))
def test_jobs_are_connected_parts(topology: Topology) -> None:
    """Of operators by id; networkx finds them too."""
    ordered = by_id(topology)
    assert [item.id for item in ordered.operators] == sorted(item.id for item in topology.operators)
    known = nx.Graph()
    known.add_nodes_from(item.id for item in topology.operators)
    known.add_edges_from((topology.operators[e.source].id, topology.operators[e.target].id) for e in topology.edges)
    job_of = jobs_of(ordered)
    parts = sorted((sorted(part) for part in nx.connected_components(known)), key=lambda part: part[0])
    assert [[ordered.operators[i].id for i in np.flatnonzero(job_of == j)] for j in range(len(parts))] == parts
    weight = job_weights(ordered, np.zeros(len(ordered.operators)))
    assert len(weight) == len(parts)
    assert weight.sum() == pytest.approx(1.0)


def test_jobs_weigh_by_output_and_priority() -> None:
    topology = Topology((operator("a", 2, output=True, priority=[1.0, 3.0]), operator("b", 1, output=True)), ())
    assert job_weights(topology, np.array([10.0, 60.0])).tolist() == pytest.approx([0.25, 0.75])
    assert job_weights(topology, np.array([np.nan, 0.0])).tolist() == pytest.approx([2 / 3, 1 / 3])
    assert room(topology, None).now == ((), ())


COLUMN = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 700.0, 60_000.0, 1e9]))


@settings(max_examples=examples(60), deadline=None)
@given(topologies(operators=5), st.data())
def test_any_statistics_ask_a_question_that_holds_together(topology: Topology, data: st.DataObject) -> None:
    """Rows with any columns missing, of any of the tasks."""
    names = [item.id for item in topology.operators]
    rows = [
        (item.id, task, window, data.draw(st.sampled_from([0.0, 5.0, 1e6])), *(data.draw(COLUMN) for _ in range(5)))
        for item in topology.operators
        if data.draw(st.booleans())
        for task in range(item.parallelism)
        for window in range(3)
        if data.draw(st.booleans())
    ]
    problem = ftplan.Problem(topology=topology, stats=tables(measured(names, tasks=rows, windows=3)))
    ready = prepare(problem, ScaleOutOptions(forecast="none", task_memory=1e6))
    question = ready.problem
    assert question.weight.sum() == pytest.approx(1.0)
    assert ready.scores.shape == (3, len(names))
    known = ready.scores[~np.isnan(ready.scores)]
    low, high = ready.reachable
    assert ((low - 1e-9 <= known) & (known <= high + 1e-9)).all()
    for item, history in zip(question.operators, ready.histories, strict=True):
        assert item.id == history.operator
        assert math.isfinite(item.use)
        assert item.use >= 0.0
        assert item.group_use.sum() == pytest.approx(item.use if item.keyed else 0.0)
        assert 0.0 <= item.throughput_percentage <= 1.0 + 1e-9
        for column in (history.cpu, history.memory, history.data):
            some = column[~np.isnan(column)]
            assert ((some >= 0.0) & (some <= 100.0)).all()
        assert not (history.demand < 0.0).any()

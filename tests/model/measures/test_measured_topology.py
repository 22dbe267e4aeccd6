"""A topology weighed by statistics: against DuckDB over the Parquet files, and as the topology's own rates imply."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.io.stats_store import load_stats
from ftplan.model.failed_queries import failed_queries
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.rates import FullStream, rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Substreams, Topology
from tests.model.measures.measured_cases import folder, implied, measured, substreams_of, tables
from tests.model.measures.slow_fidelity import slow_fidelity, slow_rates
from tests.topologies import operator, topologies


def chain(partitioning: str = "full", **of_b: object) -> Topology:
    """Return a (3 tasks) -> b (3) -> c (2)."""
    operators = (operator("a", 3), operator("b", 3, **of_b), operator("c", 2, output=True))
    return Topology(operators, (Edge(0, 1, partitioning), Edge(1, 2, "full")))  # type: ignore[arg-type]


def weighed(topology: Topology, **rows: Any) -> tuple[Topology, list[str]]:
    """Return a topology weighed by rows of statistics, and the codes of the warnings."""
    stats = tables(measured([o.id for o in topology.operators], **rows))
    answer = measured_topology(topology, stats)
    return answer.topology, [warning.code for warning in answer.warnings]


def message(topology: Topology, **rows: Any) -> str:
    stats = tables(measured([o.id for o in topology.operators], **rows))
    (warning,) = measured_topology(topology, stats).warnings
    return warning.message


@pytest.mark.parametrize("seed", range(5))
def test_means_are_those_that_duckdb_finds(seed: int, tmp_path: Path) -> None:
    """Absent windows are zero; b gets its shares by what the tasks of a and z read, c by measured substreams."""
    draw = np.random.default_rng(seed)
    operators = (operator("a", 4), operator("b", 3), operator("c", 5, output=True), operator("z", 2))
    topology = Topology(operators, (Edge(0, 1, "full"), Edge(1, 2, "full"), Edge(3, 1, "split")))
    by_task = [
        (o.id, i, w, int(draw.integers(0, 500)), None if o.id == "c" else int(draw.integers(0, 900)))
        for o in operators
        for i in range(o.parallelism)
        for w in range(6)
        if draw.random() < 0.6
    ]
    pairs = [
        ("b", i, "c", j, w, int(draw.integers(0, 80)))
        for i in range(3)
        for j in range(5)
        for w in range(6)
        if draw.random() < 0.4
    ]
    path = folder(tmp_path / "stats", measured("abcz", tasks=by_task, substreams=pairs, windows=6))
    given_rates = rates(TaskGraph(measured_topology(topology, load_stats(path).value).topology))
    graph = TaskGraph(topology)

    sql = f"select operator, task, sum(records_out) / 360, sum(records_in) from '{path}/tasks.parquet' group by all"
    rows = {(o, i): (out, into) for o, i, out, into in duckdb.sql(sql).fetchall()}
    for name, tasks in (("a", 4), ("b", 3), ("z", 2)):
        for i in range(tasks):
            out = rows.get((name, i), (0.0, 0.0))[0]
            assert given_rates.out[graph.number(name, i)] == pytest.approx(out or 0.0, rel=1e-11)
    read = np.array([rows.get(("b", i), (0.0, 0.0))[1] for i in range(3)])
    sent = sum(rows.get(("a", i), (0.0, 0.0))[0] for i in range(4))
    full = given_rates.streams[0]
    assert isinstance(full, FullStream)
    assert full.received() == pytest.approx(sent * read / read.sum(), rel=1e-9)

    sql = f"select from_task, to_task, sum(records) / 360 from '{path}/substreams.parquet' group by all"
    expected = {(1, i, 2, j): rate for i, j, rate in duckdb.sql(sql).fetchall() if rate > 0.0}
    found = {key: rate for key, rate in substreams_of(_weighed_by(topology, path)).items() if key[0] == 1 and rate > 0}
    assert found == pytest.approx(expected, rel=1e-11)
    into_c = [sum(rate for key, rate in expected.items() if key[3] == j) for j in range(5)]
    assert given_rates.into[graph.slice_of(2)] == pytest.approx(into_c, rel=1e-9)


def _weighed_by(topology: Topology, path: Path) -> Topology:
    return measured_topology(topology, load_stats(path).value).topology


@settings(deadline=None, max_examples=50)
@given(topologies())
def test_statistics_of_a_topology_at_its_own_rates_change_nothing(topology: Topology) -> None:
    """A topology is weighed by the log of one window in which it worked as it says."""
    listed = {edge.source for edge in topology.edges if edge.substreams is not None}
    operators = [replace(o, rate_out=None) if i in listed else o for i, o in enumerate(topology.operators)]
    plain = replace(topology, operators=tuple(operators))
    again = measured_topology(plain, tables(implied(plain))).topology
    before, after = rates(TaskGraph(plain)), rates(TaskGraph(again))
    assert after.out == pytest.approx(before.out, rel=1e-9)
    assert after.into == pytest.approx(before.into, rel=1e-9)
    old, new = substreams_of(plain), substreams_of(again)
    assert {k: v for k, v in new.items() if v} == pytest.approx({k: v for k, v in old.items() if v}, rel=1e-9)
    # its edges may list other rates than its tasks emit, which the two tables then show as well
    said = measured_topology(again, tables(implied(again))).warnings
    assert [warning for warning in said if "by records_out" not in warning.message] == []


@settings(deadline=None, max_examples=50)
@given(topologies(), st.data())
def test_queries_stay_as_the_topology_says(topology: Topology, data: st.DataObject) -> None:
    """Whatever was measured between which tasks; and rates and fidelity are those that the written-out rules give."""
    every = [(o.id, i) for o in topology.operators for i in range(o.parallelism)]
    some = st.lists(st.tuples(st.sampled_from(every), st.sampled_from(every), st.integers(0, 3)), max_size=12)
    pairs = [(*a, *b, 0, n) for a, b, n in data.draw(some)]
    by_task = [(*task, 0, *data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))) for task in every]
    names = [o.id for o in topology.operators]
    stats = tables(measured(names, tasks=by_task if data.draw(st.booleans()) else [], substreams=pairs))
    again = measured_topology(topology, stats).topology
    old, new = TaskGraph(topology), TaskGraph(again)
    failed = np.array([data.draw(st.booleans()) for _ in range(old.tasks)])
    before, after = failed_queries(old, failed), failed_queries(new, failed)
    assert after.query.tolist() == before.query.tolist()
    assert after.member.tolist() == before.member.tolist()
    out, into, _ = slow_rates(again)
    given_rates = rates(new)
    for i, o in enumerate(again.operators):
        for task in range(o.parallelism):
            assert given_rates.out[new.offset[i] + task] == pytest.approx(out[i, task])
            assert given_rates.into[new.offset[i] + task] == pytest.approx(into.get((i, task), 0.0))
    live = {(i, k): not failed[new.offset[i] + k] for i, o in enumerate(again.operators) for k in range(o.parallelism)}
    value = fidelity_model(new, given_rates).fidelity(~failed)
    assert value == pytest.approx(slow_fidelity(again, live), abs=1e-9)


def test_an_edge_carries_what_was_measured_and_stays_full() -> None:
    """Task c/1 got nothing, and depends on all of b alike."""
    rows = [("b", 0, "c", 0, 0, 120), ("b", 2, "c", 0, 1, 360)]
    topology, codes = weighed(chain(), substreams=rows)
    assert codes == []
    graph = TaskGraph(topology)
    assert graph.pairs(topology.edges[1]) is None
    given_rates = rates(graph)
    assert given_rates.out[graph.slice_of(1)].tolist() == [1.0, 0.0, 3.0]
    assert given_rates.into[graph.slice_of(2)].tolist() == [4.0, 0.0]
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[graph.number("b", 0)] = False
    intact = fidelity_model(graph, given_rates).intact(live)
    assert intact[graph.slice_of(2)] == pytest.approx([0.75, 2 / 3])


def test_a_full_edge_without_measured_substreams_stays_rank_one() -> None:
    """A thousand tasks to a thousand: what they read and emit makes vectors, no matrix."""
    operators = (operator("a", 1000), operator("b", 1000, output=True))
    by_task = [(o, i, 0, (i + 1) * (o == "b"), (i + 2) * (o == "a")) for o in "ab" for i in range(1000)]
    topology, codes = weighed(Topology(operators, (Edge(0, 1, "full"),)), tasks=by_task)
    assert codes == []
    assert topology.edges[0].substreams is None
    given_rates = rates(TaskGraph(topology))
    (stream,) = given_rates.streams
    assert isinstance(stream, FullStream)
    sent = sum(i + 2 for i in range(1000)) / 120
    assert stream.received() == pytest.approx([sent * (i + 1) / 500_500 for i in range(1000)])


def test_shares_of_a_second_input_are_what_the_measured_one_leaves() -> None:
    """Of 5 and 3 records/s that b's tasks read, a measured edge brings 4 and 1; the rest came from z."""
    operators = (operator("a", 2), operator("b", 2, output=True), operator("z", 1))
    topology = Topology(operators, (Edge(0, 1, "one-to-one"), Edge(2, 1, "full")))
    rows = [("b", 0, 0, 600), ("b", 1, 0, 360), ("z", 0, 0, 0, 360)]
    pairs = [("a", 0, "b", 0, 0, 480), ("a", 1, "b", 1, 0, 120)]
    again, codes = weighed(topology, tasks=rows, substreams=pairs)
    assert codes == []
    share = again.operators[1].input_share
    assert share is not None
    assert share / share.sum() == pytest.approx([1 / 3, 2 / 3])
    given_rates = rates(TaskGraph(again))
    assert given_rates.into[TaskGraph(again).slice_of(1)] == pytest.approx([5.0, 3.0])


def test_records_that_are_counted_on_each_edge_are_emitted_once() -> None:
    """Every outgoing edge carries the whole output; some counters add the edges up."""
    operators = (operator("a", 1), operator("b", 1, output=True), operator("c", 1, output=True))
    topology = Topology(operators, (Edge(0, 1, "full"), Edge(0, 2, "full")))
    pairs = [("a", 0, "b", 0, 0, 120), ("a", 0, "c", 0, 0, 120)]
    for records_out, emitted, codes in ((240, 1.0, []), (120, 1.0, []), (360, 3.0, ["RATES_DISAGREE"])):
        again, said = weighed(topology, tasks=[("a", 0, 0, 0, records_out)], substreams=pairs)
        assert again.operators[0].rate_out == pytest.approx([emitted])
        assert said == codes


def test_what_topology_and_statistics_disagree_on() -> None:
    stated = chain(rate_out=[2.0, 2.0, 4.0], input_share=[1, 1, 2])
    near = [("b", i, 0, records, 60 * 2 * rate) for i, (records, rate) in enumerate([(100, 2.01), (100, 2), (200, 4)])]
    assert weighed(stated, tasks=near)[1] == []
    far = [("b", i, 0, 100, records) for i, records in enumerate([240, 120, 480])]
    text = message(stated, tasks=far)
    assert text.startswith("b/1 emits 2 records/s by the topology, 1 by the statistics (50.0% apart): these weigh")
    assert text.endswith("(and 1 more)")  # the shares
    listed = Substreams(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 5.0]))
    edges = (stated.edges[0], Edge(1, 2, None, listed))
    pairs = [("b", 0, "c", 0, 0, 360), ("b", 1, "c", 1, 0, 240)]
    text = message(replace(chain(), edges=edges), substreams=pairs)
    assert text == "b/1 -> c/1 carries 5 records/s by the topology, 2 by the statistics (60.0% apart): these weigh"


def test_what_the_two_tables_disagree_on() -> None:
    """Inputs weigh by substreams, outputs by records_out, as where a topology states both."""
    given_rows = {"tasks": [("b", 0, 0, 0, 600)], "substreams": [("b", 0, "c", 0, 0, 120)]}
    text = message(chain(), **given_rows)
    assert text.startswith("b/0 sends 1 records/s to c by the substreams of the statistics, 5 by records_out")
    again, _ = weighed(chain(), **given_rows)
    graph = TaskGraph(again)
    assert rates(graph).out[graph.number("b", 0)] == 5.0
    assert rates(graph).into[graph.number("c", 0)] == 1.0


def test_streams_that_the_topology_does_not_have() -> None:
    """They are named and left out."""
    text = message(chain(), substreams=[("c", 0, "a", 2, 0, 120), ("a", 0, "c", 1, 0, 600)])
    assert text == "the statistics have 5 records/s from a to c, but the topology no such edge (and 1 more)"
    pairs = [("a", 0, "b", 1, 0, 240), ("a", 2, "b", 1, 0, 120), ("a", 1, "b", 1, 0, 360)]
    topology, codes = weighed(chain("one-to-one"), substreams=pairs)
    assert codes == ["SUBSTREAM_NOT_IN_TOPOLOGY"]
    text = message(chain("one-to-one"), substreams=pairs)
    assert text == (
        "the statistics have 2 records/s from a/0 to b/1, which do not meet in the topology, and 1 between 1 more "
        "pairs of them"
    )
    assert rates(TaskGraph(topology)).into[TaskGraph(topology).slice_of(1)].tolist() == [0.0, 3.0, 0.0]
    only_outside, codes = weighed(chain("one-to-one"), substreams=pairs[:1])
    assert codes == ["SUBSTREAM_NOT_IN_TOPOLOGY"]
    assert only_outside.edges[0].substreams is None


def test_what_has_no_statistics_stays_as_it_is() -> None:
    topology = chain(rate_out=[1.0, 2.0, 3.0])
    assert measured_topology(topology, None).topology is topology
    again, codes = weighed(topology, tasks=[("c", 0, 0, 7)])
    assert codes == []
    assert again.operators[:2] == topology.operators[:2]
    assert again.operators[2].rate_out is None
    assert [(e.partitioning, e.substreams) for e in again.edges] == [("full", None)] * 2


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ({"substreams": [("a", 7, "b", 0, 0, 1)]}, "task a/7, but 'a' has 3 tasks in the topology"),
        ({"tasks": [("a", 3, 0, 1)]}, "task a/3, but 'a' has 3 tasks in the topology"),
        ({"tasks": [("a", 1, 0, 1e18)]}, "task a/1 has 8.33333e.15 records/s, more than 1e.12"),
        ({"substreams": [("a", 1, "b", 0, 0, 1e18)]}, "task a/1 has 8.33333e.15 records/s, more than 1e.12"),
    ],
)
def test_statistics_of_another_job(rows: dict[str, Any], text: str) -> None:
    with pytest.raises(FtplanError, match=text):
        weighed(chain(), **rows)


def test_an_operator_that_the_topology_does_not_have() -> None:
    stats = tables(measured(["a", "bb"], substreams=[("a", 0, "bb", 0, 0, 1)]))
    with pytest.raises(FtplanError, match="operator 'bb', which the topology does not know"):
        measured_topology(chain(), stats)


def test_the_order_of_rows_decides_nothing() -> None:
    draw = np.random.default_rng(1)
    pairs = [("b", i, "c", j, w, float(draw.random())) for i in range(3) for j in range(2) for w in range(50)]
    stats = [measured("abc", substreams=some, windows=50) for some in (pairs, pairs[::-1])]
    first, second = (measured_topology(chain(), tables(one)).topology.edges[1].substreams for one in stats)
    assert first is not None
    assert second is not None
    assert first.rate.tolist() == second.rate.tolist()

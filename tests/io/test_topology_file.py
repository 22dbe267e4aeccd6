"""Topology files: exact messages, warnings, defaults, and what is written loads back equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.io.topology_checks import find_cycle
from ftplan.io.topology_file import load_topology
from ftplan.model.topology import Checkpointing
from tests.io.documents import topology_document
from tests.io.examples import said, topology, with_edge, with_operator, write

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (with_edge(2, to="reports"), "edges[2].to: unknown operator 'reports' (did you mean 'report'?)"),
        (with_edge(2, to="zzz"), "edges[2].to: unknown operator 'zzz'; there are flights, weather, join, report"),
        (with_edge(0, **{"from": "flihgts", "to": "joins"}),
         "edges[0].from: unknown operator 'flihgts' (did you mean 'flights'?) (and 1 more)"),
        (topology(edges=[{"from": "flights", "to": "weather"}, {"from": "weather", "to": "join"},
                   {"from": "join", "to": "flights"}, {"from": "join", "to": "report"}]),
         "edges: cycle: flights -> weather -> join -> flights; the graph must be acyclic"),
        (with_edge(0, to="flights"), "edges[0]: self loop: 'flights' feeds itself, but the graph must be acyclic"),
        (with_operator(0, cpu=[1, 2, 3]),
         "operators[0].cpu: wrong length: got 3, expected 4 = parallelism of 'flights'"),
        (with_operator(1, input_share=[1]),
         "operators[1].input_share: wrong length: got 1, expected 2 = parallelism of 'weather'"),
        (with_operator(0, rate_out=-3), "operators[0].rate_out: must be at least 0, got -3"),
        (with_operator(0, rate_out=[1, 2, -3, 4]), "operators[0].rate_out[2]: must be at least 0, got -3"),
        (with_operator(0, rate_out=NAN), "operators[0].rate_out: must be a finite number, got NaN"),
        (with_operator(0, cpu=[1, 1, INF, 1]), "operators[0].cpu[2]: must be a finite number, got infinity"),
        (with_operator(0, selectivity=-INF), "operators[0].selectivity: must be a finite number, got -infinity"),
        (with_operator(3, id="join"), "operators[3].id: duplicate id 'join' (also operators[2]) (and 1 more)"),
        (with_operator(0, id="a b"), "operators[0].id: 'a b' is no id (letters, digits, '.', '_' and '-')"),
        (with_operator(0, id=""), "operators[0].id: is empty"),
        (with_operator(0, id=False), "operators[0].id: is read as false, not as text: quote it"),
        (with_operator(0, id=7), "operators[0].id: is read as the number 7, not as text: quote it"),
        (with_operator(0, parallelism=0), "operators[0].parallelism: must be at least 1, got 0"),
        (with_operator(0, parallelism=2.5), "operators[0].parallelism: expected a whole number, got 2.5"),
        (with_operator(0, parallelism="4"), "operators[0].parallelism: expected a whole number, got '4'"),
        (with_operator(0, parallelism=10**12),
         "operators[0].parallelism: must be at most 10,000,000, got 1000000000000"),
        (with_operator(0, cpu="1.5"),
         "operators[0].cpu: expected a number or a list of numbers, got '1.5': write it without quotes"),
        (with_operator(0, cpu=True), "operators[0].cpu: expected a number or a list of numbers, got true"),
        (with_operator(0, inputs="corelated"), "operators[0].inputs: expected 'independent' or 'correlated', got "
         "'corelated' (did you mean 'correlated'?)"),
        (with_operator(0, input_share=[0, 0, 0, 0]),
         "operators[0].input_share: all shares are 0; at least one must be more"),
        (with_operator(0, priority=0), "operators[0].priority: must be more than 0, got 0"),
        (with_operator(0, key_groups=0), "operators[0].key_groups: must be at least 1, got 0"),
        (with_operator(0, checkpoint={"interval_s": 0}),
         "operators[0].checkpoint.interval_s: must be more than 0, got 0"),
        (with_operator(0, output="yes"), "operators[0].output: expected true or false, got 'yes'"),
        (with_edge(0, partitioning="one-to-one", to="report"), "edges[0].partitioning: one-to-one needs equal "
         "parallelism, but 'flights' has 4 and 'report' has 2"),
        (with_edge(0, partitioning="split"), "edges[0].partitioning: split needs fewer upstream than downstream tasks, "
         "but 'flights' has 4 and 'join' has 4"),
        (with_edge(1, partitioning="merge"), "edges[1].partitioning: merge needs more upstream than downstream tasks, "
         "but 'weather' has 2 and 'join' has 4"),
        (with_edge(0, substreams=[[0, 0, 1], [4, 0, 1]]),
         "edges[0].substreams[1][0]: index 4 is out of range: 'flights' has 4 tasks (0 to 3)"),
        (with_edge(0, substreams=[[0, -1, 1]]), "edges[0].substreams[0][1]: must be at least 0, got -1"),
        (with_edge(0, substreams=[[0, 0, -1]]), "edges[0].substreams[0][2]: must be at least 0, got -1"),
        (with_edge(0, substreams=[[0, 0]]),
         "edges[0].substreams[0][2]: expected 3 values: [from index, to index, records/s]"),
        (with_edge(0, substreams=[[0, 0, 1], [0, 0, 2]]),
         "edges[0].substreams[1]: duplicate substream 0 -> 0 (also substreams[0])"),
        (topology(operators=[]), "operators: needs at least one entry"),
        (topology(operators=None), "operators: expected a list, got nothing"),
        (topology(edges=[{"to": "join"}]), "edges[0].from: is missing"),
        (topology(edges=["join"]), "edges[0]: expected a mapping, got 'join'"),
        (topology(format="ftplan/cluster"),
         "format: this is a cluster file (ftplan/cluster); expected a topology (ftplan/topology)"),
        (topology(format="ftplan/topolgy"),
         "format: unknown format 'ftplan/topolgy' (did you mean 'ftplan/topology'?); "
         "expected 'ftplan/topology'"),
        (topology(format_version="2.0"), "format_version: 2.0 is newer than this ftplan reads (1.x); upgrade ftplan"),
        (topology(format_version="one"), "format_version: expected '1.0', got 'one'"),
        (topology(format_version="0.9"), "format_version: there is no version 0.9; expected '1.0'"),
        ({"format": "ftplan/topology"}, "format_version: is missing; expected '1.0'"),
        ({"operators": []}, "format: is missing; expected 'format: ftplan/topology'"),
    ],
)  # fmt: skip
def test_messages(document: dict[str, Any], message: str) -> None:
    assert said(load_topology, document) == f"topology: {message}"


def test_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "topology.yaml", "format: ftplan/topology\nformat_version: 1.0\noperators: [{id: no}]\n")
    assert said(load_topology, "topology.yaml") == (
        "topology.yaml: operators[0].id: is read as false, not as text: quote it"
    )
    write(tmp_path, "list.yaml", "[1]")
    assert said(load_topology, "list.yaml") == (
        "list.yaml: expected a mapping that begins with 'format: ftplan/topology', got a list"
    )


def test_defaults() -> None:
    loaded = load_topology(topology())
    assert loaded.warnings == ()
    assert (loaded.input.role, loaded.input.path) == ("topology", None)
    flights, _, join, report = loaded.value.operators
    assert flights.cpu.tolist() == [1.0] * 4
    assert flights.checkpoint == Checkpointing(None, "incremental")
    assert (flights.output, report.output, join.inputs, flights.rate_out) == (False, True, "correlated", None)
    assert load_topology(with_operator(0, output=True)).value.operators[0].output
    assert load_topology(topology(edges=[{"from": "flights", "to": "join"}])).value.edges[0].partitioning == "full"
    assert load_topology(topology(format_version=1.1)).value.operators
    assert load_topology(with_operator(0, parallelism=4.0)).value.operators[0].parallelism == 4


@pytest.mark.parametrize(
    ("document", "code", "message"),
    [
        (with_operator(0, paralelism=3), "UNKNOWN_KEY",
         "operators[0].paralelism: unknown key is ignored (did you mean 'parallelism'?)"),
        (with_operator(0, checkpoint={"intervall_s": 3}), "UNKNOWN_KEY",
         "operators[0].checkpoint.intervall_s: unknown key is ignored (did you mean 'interval_s'?)"),
        (with_operator(2, key_groups=3), "FEW_KEY_GROUPS",
         "operators[2].key_groups: 3 key groups for 4 tasks of 'join': some tasks own none"),
        (with_edge(0, substreams=[[0, 0, 1]]), "SUBSTREAMS_WIN",
         "edges[0].partitioning: is ignored, since there are substreams"),
    ],
)  # fmt: skip
def test_warnings(document: dict[str, Any], code: str, message: str) -> None:
    (warning,) = load_topology(document).warnings
    assert (warning.code, warning.message) == (code, f"topology: {message}")


def test_unknown_keys_are_ignored() -> None:
    loaded = load_topology(with_operator(0, colour="red"))
    assert loaded.warnings == ()
    assert [warning.message for warning in loaded.ignored] == ["topology: operators[0].colour: unknown key is ignored"]


@pytest.mark.parametrize(("rate", "warns"), [(100.9, False), (102.0, True), (98.0, True)])
def test_rates_that_disagree(rate: float, warns: bool) -> None:
    """One per cent is tolerated."""
    document = with_edge(0, substreams=[[i, i, 60.0] for i in range(4)] + [[i, (i + 1) % 4, 40.0] for i in range(4)])
    del document["edges"][0]["partitioning"]
    document["operators"][0]["rate_out"] = [100.0, 100.0, rate, 100.0]
    warnings = load_topology(document).warnings
    assert [w.code for w in warnings] == (["RATES_DISAGREE"] if warns else [])
    if warns:
        assert warnings[0].message == (
            f"topology: edges[0].substreams: task flights/2 sends 100 records/s, but its rate_out is {rate:g}; "
            "inputs weigh by substreams, outputs by rate_out"
        )


def test_rates_that_disagree_on_several_edges_are_one_warning() -> None:
    document = with_edge(0, substreams=[[i, i, 60.0] for i in range(4)])
    del document["edges"][0]["partitioning"]
    document["edges"].append(dict(document["edges"][0]))
    document["operators"][0]["rate_out"] = [100.0] * 4
    (warning,) = [w for w in load_topology(document).warnings if w.code == "RATES_DISAGREE"]
    assert warning.message.startswith("topology: edges[0].substreams: task flights/0 sends 60 records/s")
    assert warning.message.endswith("outputs by rate_out (and 1 more)")


def test_find_cycle() -> None:
    assert find_cycle("abc", [("a", "b"), ("b", "c"), ("a", "c")]) is None
    assert find_cycle("abcd", [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]) == ("b", "c", "b")
    long = [str(i) for i in range(50)]
    document = topology(
        operators=[{"id": i} for i in long],
        edges=[{"from": a, "to": b} for a, b in zip(long, [*long[1:], "0"], strict=True)],
    )
    assert said(load_topology, document) == (
        "topology: edges: cycle: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> … 39 more … -> 49 -> 0; "
        "the graph must be acyclic"
    )


rates = st.just(0.0) | st.floats(1e-3, 1e6)
ids = st.text("abcXYZ019._-", min_size=1, max_size=6)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    operators = []
    for name in names:
        tasks = draw(st.integers(1, 5))

        def per_task(values: st.SearchStrategy[float], tasks: int = tasks) -> st.SearchStrategy[Any]:
            return values | st.lists(values, min_size=tasks, max_size=tasks)

        optional = {
            "name": st.text(max_size=5),
            "labels": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
            "inputs": st.sampled_from(["independent", "correlated"]),
            "key_groups": st.integers(1, 20),
            "selectivity": rates,
            "cpu": per_task(rates),
            "rate_out": per_task(rates),
            "input_share": st.lists(st.floats(0.1, 9), min_size=tasks, max_size=tasks),
            "state_bytes": per_task(rates),
            "record_time_s": rates,
            "checkpoint": st.fixed_dictionaries(
                {}, optional={"interval_s": st.floats(0.1, 100), "kind": st.sampled_from(["full", "incremental"])}
            ),
            "deterministic": st.booleans(),
            "output": st.booleans(),
            "priority": per_task(st.floats(0.1, 10)),
        }
        operators.append({"id": name, "parallelism": tasks, **draw(st.fixed_dictionaries({}, optional=optional))})
    edges = []
    for _ in range(draw(st.integers(0, 6)) if len(names) > 1 else 0):
        a, b = sorted(draw(st.lists(st.integers(0, len(names) - 1), min_size=2, max_size=2, unique=True)))
        up, down = operators[a]["parallelism"], operators[b]["parallelism"]
        edge: dict[str, Any] = {"from": names[a], "to": names[b]}
        if draw(st.booleans()):
            pairs = st.tuples(st.integers(0, up - 1), st.integers(0, down - 1))
            edge["substreams"] = [[i, k, draw(rates)] for i, k in draw(st.sets(pairs, max_size=6))]
        else:
            special = "one-to-one" if up == down else "split" if up < down else "merge"
            edge["partitioning"] = draw(st.sampled_from(["full", special]))
        edges.append(edge)
    document = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    return {**document, "name": draw(st.text(max_size=5))} if draw(st.booleans()) else document


@given(documents())
def test_round_trip(document: dict[str, Any]) -> None:
    """What is written loads back equal, field by field."""
    first = load_topology(document).value
    written = topology_document(first)
    second = load_topology(written).value
    assert topology_document(second) == written
    assert second.name == first.name
    for one, other in zip(first.operators, second.operators, strict=True):
        for field in one.__slots__:
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    for edge, again in zip(first.edges, second.edges, strict=True):
        assert (edge.source, edge.target, edge.partitioning) == (again.source, again.target, again.partitioning)
        assert (edge.substreams is None) == (again.substreams is None)
        if edge.substreams is not None and again.substreams is not None:
            for field in edge.substreams.__slots__:
                np.testing.assert_array_equal(getattr(edge.substreams, field), getattr(again.substreams, field))

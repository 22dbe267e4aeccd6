"""Failure files: selectors held against topology and cluster, arrivals, scenarios, round trip."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.io.cluster_file import load_cluster
from ftplan.io.failure_file import load_failure
from ftplan.io.selector_checks import check_selector
from ftplan.io.topology_file import load_topology
from ftplan.model.names import parse_selector
from tests.io.documents import failure_document
from tests.io.examples import cluster, failure, said, topology

KINDS = "node, zone, operator, task, query, key-group"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fail": ["rack-a"]}, f"fail[0]: selector 'rack-a': expected KIND:NAME with KIND one of {KINDS}, for "
         "instance node:n1 or task:join/3"),
        ({"fail": [{"select": "task:join"}]}, "fail[0].select: selector 'task:join': expected task:OPERATOR/NUMBER, "
         "for instance task:join/3"),
        ({"fail": ["zone:rack-c"]}, "fail[0]: zone:rack-c: unknown zone 'rack-c' (did you mean 'rack-b'?)"),
        ({"fail": ["zone:rack-a", "node:n3"]}, "fail[1]: node:n3: unknown node 'n3' (did you mean 'n2'?)"),
        ({"fail": ["operator:joins"]}, "fail[0]: operator:joins: unknown operator 'joins' (did you mean 'join'?)"),
        ({"fail": ["task:join/4"]}, "fail[0]: task:join/4: 'join' has 4 tasks (0 to 3)"),
        ({"fail": ["key-group:join/8"]}, "fail[0]: key-group:join/8: 'join' has 8 key groups (0 to 7)"),
        ({"fail": ["key-group:flights/0"]},
         "fail[0]: key-group:flights/0: 'flights' has no key groups in the topology"),
        ({"fail": ["query:join/0"]}, "fail[0]: query:join/0: 'join' is no output operator; queries end at report"),
        ({"fail": "node:n1"}, "fail: expected a list, got 'node:n1'"),
        ({"fail": [{"at_s": -1, "select": "node:n1"}]}, "fail[0].at_s: must be at least 0, got -1"),
        ({"fail": [{"at_s": 1}]}, "fail[0].select: is missing"),
        ({"arrivals": [{"at_s": [360, 120], "node": {"id": "r", "cpu": 1}}]},
         "arrivals[0].at_s: the range [360, 120] ends before it begins"),
        ({"arrivals": [{"at_s": [360], "node": {"id": "r", "cpu": 1}}]},
         "arrivals[0].at_s: expected 2 values, got 1"),
        ({"arrivals": [{"at_s": 1, "node": {"id": "r", "cpu": 1}}] * 2},
         "arrivals[1].node.id: duplicate id 'r' (also arrivals[0])"),
        ({"scenarios": [{"id": "a", "probability": 1.5, "fail": []}]},
         "scenarios[0].probability: must be at most 1, got 1.5"),
        ({"scenarios": [{"id": "a", "probability": 0.5, "fail": ["node:n7"]}]},
         "scenarios[0].fail[0]: node:n7: unknown node 'n7' (did you mean 'n2'?)"),
        ({"scenarios": [{"id": "a", "probability": 0.1, "fail": []}] * 2},
         "scenarios[1].id: duplicate id 'a' (also scenarios[0])"),
    ],
)  # fmt: skip
def test_messages(changes: dict[str, Any], message: str) -> None:
    job, machines = load_topology(topology()).value, load_cluster(cluster()).value
    text = said(load_failure, failure(**changes), job, machines)
    assert text.split(" (did")[0] == f"failure: {message}".split(" (did")[0]


def test_arrivals_may_fail() -> None:
    """An arriving node can be selected, and may reuse an id."""
    document = failure(fail=["node:r1"], arrivals=[{"at_s": 5, "node": {"id": "r1", "cpu": 1}}])
    found = load_failure(document, None, load_cluster(cluster()).value).value
    assert str(found.fail[0].select) == "node:r1"
    assert found.arrivals[0].at_s == (5, 5)


def test_without_topology_and_cluster() -> None:
    job = load_topology(topology()).value
    assert str(load_failure(failure(fail=["operator:join"]), job).value.fail[0].select) == "operator:join"
    found = load_failure(failure(fail=["task:any/7", "zone:any"])).value
    assert [str(fail.select) for fail in found.fail] == ["task:any/7", "zone:any"]


def test_probabilities_above_one() -> None:
    scenarios = [{"id": name, "probability": 0.6, "fail": ["zone:a"]} for name in "ab"]
    (warning,) = load_failure(failure(scenarios=scenarios)).warnings
    assert warning.message == (
        "failure: scenarios: the probabilities sum to 1.2, more than 1; they are used as weights"
    )


def test_round_trip() -> None:
    first = load_failure(failure()).value
    assert failure_document(first)["fail"] == ["zone:rack-a", {"at_s": 60.0, "select": "node:n2"}]
    assert load_failure(failure_document(first)).value == first
    empty = {"format": "ftplan/failure", "format_version": "1.0"}
    assert failure_document(load_failure(empty).value) == empty


def test_zone_of_a_cluster_without_zones() -> None:
    machines = load_cluster(cluster(nodes=[{"id": "a", "cpu": 1}])).value
    assert said(check_selector, parse_selector("zone:x"), None, machines) == (
        "zone:x: unknown zone 'x'; no node of the cluster has a zone"
    )

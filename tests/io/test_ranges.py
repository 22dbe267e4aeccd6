"""Numbers beyond what the models carry are refused by name and range, by the readers and by the JSON Schemas."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError, shortened
from ftplan.io.cluster_file import load_cluster
from ftplan.io.failure_file import load_failure
from ftplan.io.schemas import schema
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.model import ranges
from tests.io import examples
from tests.io.examples import said

LOADERS = {"topology": load_topology, "cluster": load_cluster, "failure": load_failure}
BASES: dict[str, dict[str, Any]] = {
    "topology": examples.with_operator(2, checkpoint={"interval_s": 1}, input_share=[1, 1, 1, 1]),
    "cluster": examples.cluster(network={"bandwidth_mb_s": 1, "delay_s": 0}, zones=[{"id": "rack-a"}]),
    "failure": examples.failure(),
}
#: Kind, place, range.
PLACES: list[tuple[str, tuple[Any, ...], ranges.Range]] = [
    ("topology", ("operators", 2, "cpu"), ranges.CORES),
    ("topology", ("operators", 2, "rate_out"), ranges.RATE),
    ("topology", ("operators", 2, "selectivity"), ranges.SELECTIVITY),
    ("topology", ("operators", 2, "input_share", 1), ranges.SHARE),
    ("topology", ("operators", 2, "state_bytes"), ranges.BYTES),
    ("topology", ("operators", 2, "record_time_s"), ranges.SECONDS),
    ("topology", ("operators", 2, "priority"), ranges.PRIORITY),
    ("topology", ("operators", 2, "checkpoint", "interval_s"), ranges.INTERVAL_S),
    ("cluster", ("nodes", 0, "cpu"), ranges.NODE_CORES),
    ("cluster", ("nodes", 0, "used_cpu"), ranges.NODE_CORES),
    ("cluster", ("nodes", 0, "memory_mb"), ranges.MEMORY_MB),
    ("cluster", ("nodes", 0, "failure_probability"), ranges.PROBABILITY),
    ("cluster", ("zones", 0, "failure_probability"), ranges.PROBABILITY),
    ("cluster", ("network", "bandwidth_mb_s"), ranges.BANDWIDTH_MB_S),
    ("cluster", ("network", "delay_s"), ranges.SECONDS),
    ("failure", ("fail", 1, "at_s"), ranges.TIME_S),
    ("failure", ("arrivals", 0, "node", "cpu"), ranges.NODE_CORES),
    ("failure", ("scenarios", 0, "probability"), ranges.PROBABILITY),
]


def at(kind: str, place: tuple[Any, ...], value: float) -> dict[str, Any]:
    document = copy.deepcopy(BASES[kind])
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


@pytest.mark.parametrize(("kind", "place", "allowed"), PLACES)
def test_ends(kind: str, place: tuple[Any, ...], allowed: ranges.Range) -> None:
    judge = jsonschema.Draft202012Validator(schema(kind))
    for value in (allowed.low, allowed.high, *([0.0] if allowed.zero else [])):
        assert LOADERS[kind](at(kind, place, value)).value
        assert judge.is_valid(at(kind, place, value))
    outside = [allowed.low / 2, 5e-324, allowed.high * 2, 1e300, *([] if allowed.zero else [0.0])]
    for value in outside:
        document = at(kind, place, value)
        assert not judge.is_valid(document)
        message = said(LOADERS[kind], document)
        assert f"{place[-1] if isinstance(place[-1], str) else place[-2]}" in message
        known = (f"must be {allowed}, got {value:g}", "must be at most 1, got", "must be more than 0, got 0.0")
        assert any(text in message for text in known)


def test_a_derived_rate() -> None:
    document = examples.topology()
    for operator in document["operators"]:
        operator["selectivity"] = 1e9
    document["operators"].append({"id": "last", "selectivity": 1e9})
    document["edges"].append({"from": "report", "to": "last"})
    assert said(load_topology, document) == (
        "topology: operators[4]: its derived rate of 6e+27 records/s must be 0 or from 1e-24 to 1e+24: mend "
        "selectivity, or give rate_out"
    )
    document["operators"][3]["rate_out"] = 5.0
    assert load_topology(document).value


@pytest.mark.parametrize("value", [1e-10, 1e19])
def test_a_measured_number(value: float) -> None:
    row = {**examples.key_group_row(), "records": value}
    assert said(load_stats, {"manifest": examples.manifest(), "key_groups": [row]}) == (
        f"statistics: key_groups: column 'records': row 0: must be 0 or from 1e-09 to 1e+18, got {value:g}"
    )


def test_a_number_that_no_column_holds() -> None:
    row = {**examples.key_group_row(), "records": 10**400}
    with pytest.raises(FtplanError, match="cannot be made an Arrow table"):
        load_stats({"manifest": examples.manifest(), "key_groups": [row]})


def test_more_cores_than_any_task_has() -> None:
    row = {**examples.key_group_row(key_group=3), "cpu_ms": 1e18}
    manifest = examples.manifest(measures=["records", "cpu_ms"], operators={"join": {"key_groups": 8}})
    stats = {"manifest": manifest, "key_groups": [row]}
    problem = ftplan.load(topology=examples.topology(), stats=stats)
    with pytest.raises(FtplanError, match=r"task join/1 takes 4\.16667e\+12 cores, more than 1e\+06"):
        ftplan.plan("replicate-tasks", problem, budget=1)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("cpu", [1e-9, 3e-7, 9.99e-7, 1e-6, 1e6])
@pytest.mark.parametrize("algorithm", ["operator-centric", "best-density", "local-search", "exact", "auto"])
def test_the_smallest_and_the_largest_tasks_recover(cpu: float, algorithm: str) -> None:
    """A task of less than a millionth of a core made no end: sizes were counted in millionths, and it had none."""
    topology = examples.topology()
    for operator in topology["operators"][:2]:
        operator["cpu"] = cpu
    nodes = {"tasks": {o["id"]: ["n10"] * o["parallelism"] for o in topology["operators"]}}
    cluster = examples.cluster(placement=nodes)
    for node in cluster["nodes"]:
        node["cpu"] = max(4.0, 10 * cpu)
    problem = ftplan.load(topology=topology, cluster=cluster)
    plan = ftplan.plan("recovery-schedule", problem, algorithm=algorithm, fail=["node:n10"], iterations=2)
    assert plan.plan is not None
    assert verify(plan, problem).violations == ()


def test_messages_quote_little_and_are_short() -> None:
    long = "x" * 5000
    for document in (
        examples.with_operator(0, id=long + "!"),
        examples.with_operator(0, **{"parallelism": long}),
        examples.with_edge(0, to=long),
        examples.with_edge(0, to="a b " * 500),
        examples.topology(format=long),
        {**examples.topology(), "operators": [{"id": f"{long}{i}"} for i in range(2)] * 2},
    ):
        message = said(load_topology, document)
        assert len(message) <= 400
        assert "x" * 81 not in message
        assert "a b " * 21 not in message
    assert shortened("the plan's one thing " + "and " * 30 + "the other's") == (
        "the plan's one thing " + "and " * 30 + "the other's"
    )
    assert shortened("a\nb " + repr("c d" * 40) + " e") == "a b '" + ("c d" * 40)[:79] + "…' e"

"""A selector means the same to every command: ``zone:ID`` of a node without a zone is that node."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import explain, verify
from ftplan.api.checking import check_files
from ftplan.model.plan import Plan
from tests.planners.recovery_schedule.recovery_cases import CLUSTER, PLACEMENT, TOPOLOGY, statistics

#: n3 and n10 have no zone; n1 stands in a zone that is called like n10.
NODES = [
    {"id": "n10", "cpu": 8},
    {"id": "n1", "cpu": 8, "zone": "n10"},
    {"id": "n2", "cpu": 8, "zone": "a"},
    {"id": "n3", "cpu": 8},
]
PLACED = {**PLACEMENT, "join": ["n1", "n3", "n2", "n10"]}
ENVELOPE = {"format": "ftplan/failure", "format_version": "1.0"}
STATS = statistics(key_groups=[("join", g, 0, 10.0, 1.0) for g in range(8)])
#: What each selector fails, as nodes.
SAME = [("zone:n3", ["node:n3"]), ("zone:n10", ["node:n1", "node:n10"])]


def problem(*fail: Any, arrivals: Any = (), **more: Any) -> ftplan.Problem:
    coming = {"arrivals": list(arrivals)} if arrivals else {}
    failure = {**ENVELOPE, "fail": list(fail), **coming} if fail or arrivals else None
    cluster = {**CLUSTER, "nodes": NODES, "placement": {"tasks": PLACED}, **more}
    return ftplan.load(topology=TOPOLOGY, cluster=cluster, failure=failure, stats=STATS)


def recovery(given: ftplan.Problem, **fail: Any) -> Plan:
    return ftplan.plan("recovery-schedule", given, **fail)


def replication(given: ftplan.Problem, **fail: Any) -> Plan:
    return ftplan.plan("replicate-tasks", given, budget="4", **fail)


def allocation(given: ftplan.Problem, **fail: Any) -> Mapping[str, Any]:
    """Two key groups on each of four nodes, without copies."""
    homes = [node for node in PLACED["join"] for _ in range(2)]
    groups = [{"operator": "join", "key_group": g, "primary": node, "checkpoints": []} for g, node in enumerate(homes)]
    return {**ENVELOPE, "format": "ftplan/plan", "kind": "allocate-checkpoints", "plan": {"assignments": groups}}


def scores(plan: Any, given: ftplan.Problem, **fail: Any) -> Mapping[str, float | None]:
    return {metric.name: metric.value for metric in ftplan.evaluate(plan, given, **fail).metrics}


@pytest.mark.parametrize("plan", [recovery, replication])
@pytest.mark.parametrize(("zone", "nodes"), SAME)
def test_plans_are_equal(plan: Callable[..., Plan], zone: str, nodes: list[str]) -> None:
    """By ``--fail`` and by a failure file; and ``verify`` resolves the zone as the planner did."""
    by_nodes = plan(problem(), fail=nodes).plan
    assert plan(problem(), fail=[zone]).plan == by_nodes
    found = plan(problem(zone))
    assert found.plan == by_nodes
    assert verify(found, problem(zone)).violations == ()


@pytest.mark.parametrize("plan", [recovery, replication, allocation])
@pytest.mark.parametrize(("zone", "nodes"), SAME)
def test_evaluations_are_equal(plan: Callable[..., Any], zone: str, nodes: list[str]) -> None:
    made = plan(problem(), fail=["node:n2"])
    by_nodes = scores(made, problem(), fail=nodes)
    assert by_nodes != scores(made, problem(), fail=["task:source/1"])
    assert scores(made, problem(), fail=[zone]) == by_nodes
    assert scores(made, problem(zone)) == scores(made, problem(*nodes))


@pytest.mark.parametrize(("zone", "nodes"), SAME)
def test_a_later_failure(zone: str, nodes: list[str]) -> None:
    """The zone of a node without one also fails while a recovery is under way."""

    def queries(*names: str) -> Any:
        given = problem("node:n2", *({"at_s": 30, "select": name} for name in names))
        plan = recovery(given)
        assert verify(plan, given).violations == ()
        assert plan.plan is not None
        return plan.plan["queries"], plan.plan["unrecovered"]

    assert queries(zone) == queries(*nodes)


@pytest.mark.parametrize(("node", "zone"), [({"id": "r1", "cpu": 8}, "r1"), ({"id": "r1", "cpu": 8, "zone": "c"}, "c")])
def test_the_zone_of_an_arriving_node(node: Any, zone: str) -> None:
    """It fails once it is there, whether it has a zone or is one of its own."""
    arrival = {"at_s": 60, "node": node}
    by_zone = recovery(problem("node:n2", {"at_s": 90, "select": f"zone:{zone}"}, arrivals=[arrival]))
    by_node = recovery(problem("node:n2", {"at_s": 90, "select": "node:r1"}, arrivals=[arrival]))
    assert by_zone.plan is not None
    assert by_node.plan is not None
    triggers = [step["trigger"] for step in by_zone.plan["steps"]]
    assert triggers == ["failure", "arrival:r1", f"failure:zone:{zone}"]
    assert by_zone.plan["queries"] == by_node.plan["queries"]


def test_explain_and_check(tmp_path: Path) -> None:
    plan = recovery(problem(), fail=["node:n2"])
    by_zone = explain(plan, problem(), "query:sink/0", fail=["zone:n3"])
    assert by_zone.rows == explain(plan, problem(), "query:sink/0", fail=["node:n3"]).rows
    for name, document in (("cluster", {**CLUSTER, "nodes": NODES}), ("failure", {**ENVELOPE, "fail": ["zone:n3"]})):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    valid, wrong = check_files([tmp_path / "cluster.json", tmp_path / "failure.json"])
    assert (len(valid), wrong) == (2, [])


def test_probability_of_a_node_that_is_a_zone() -> None:
    """What the cluster says of zone n3 holds for n3, and no warning calls the zone unused."""
    given = problem(zones=[{"id": "n3", "failure_probability": 0.25}])
    assert [warning.code for warning in given.warnings] == []
    assert scores(allocation(given), given)["loss-probability"] == 0.25


@pytest.mark.parametrize("plan", [recovery, replication, allocation])
def test_an_unknown_zone_is_refused(plan: Callable[..., Any]) -> None:
    made = plan(problem(), fail=["node:n2"])
    with pytest.raises(ftplan.FtplanError, match="zone:n1: unknown zone 'n1'"):
        ftplan.evaluate(made, problem(), fail=["zone:n1"])

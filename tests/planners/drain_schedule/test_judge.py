"""Drain schedules are judged, scored, explained and compared by what they do, whoever made them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from tests.planners.drain_schedule.cases import CLUSTER, JOB, TASKS, TOPOLOGY, Oracle, job, planned, rounds

LIMITS: dict[str, Any] = {"max": 3, "max_per_zone": 2, "min_fidelity": 0.1, "keep_priority": 5}


def document(**options: Any) -> dict[str, Any]:
    """Return a plan of the job, one node a round if nothing else is asked, without its summary."""
    made: dict[str, Any] = json.loads(planned(job(), **{"max": 1, **options}).to_json())
    del made["summary"], made["objective"], made["status"]
    return made


def by_hand(*nodes: list[str], **more: Any) -> dict[str, Any]:
    plan = {"rounds": [{"nodes": list(some)} for some in nodes], **more}
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "drain-schedule", "plan": plan}


def codes(given: dict[str, Any], problem: ftplan.Problem | None = None, **how: Any) -> list[str]:
    return [violation.code for violation in verify(load_plan(given).value, problem or job(), **how).violations]


def together(made: dict[str, Any], *nodes: str) -> None:
    """Put some nodes into the first round of those that hold one of them, and take them out of the others."""
    listed = made["plan"]["rounds"]
    first = next(item for item in listed if set(nodes) & set(item["nodes"]))
    for item in listed:
        item["nodes"] = [node for node in item["nodes"] if node not in nodes]
    first["nodes"] += nodes
    made["plan"]["rounds"] = [{"nodes": item["nodes"]} for item in listed if item["nodes"]]


@pytest.mark.parametrize(
    ("options", "nodes", "code"),
    [
        ({"max": 2}, ("n1", "n2", "n3"), "OVER_ROUND_LIMIT"),
        ({"max": 5, "max_per_zone": 1}, ("n1", "n2"), "OVER_ZONE_LIMIT"),
        ({"max": 2}, ("n1", "n4"), "COPIES_TOGETHER"),
        ({"max": 2, "keep_copies": "none"}, ("n1", "n6"), "REPLICA_WITH_PRIMARY"),
        ({"max": 2, "keep_priority": 5}, ("n5", "n10"), "QUERY_DOWN"),
        ({"max": 2, "min_fidelity": 0.33}, ("n3", "n6"), "ROUND_BELOW_FIDELITY"),
    ],
)
def test_each_rule_has_a_code(options: dict[str, Any], nodes: tuple[str, ...], code: str) -> None:
    made = document(**options)
    assert codes(made) == []
    together(made, *nodes)
    assert code in codes(made)
    made["rules"] = []
    assert set(codes(made)) == {"RULE_MISSING"}
    assert code in codes(made, strict=True)


Change = Callable[[list[dict[str, Any]], dict[str, Any]], Any]
CHANGES: dict[str, tuple[Change, str]] = {
    "a node that is not there": (lambda r, p: r[0]["nodes"].append("n99"), "UNKNOWN_NODE"),
    "a node twice": (lambda r, p: r[0]["nodes"].append(r[1]["nodes"][0]), "ASSIGNED_TWICE"),
    "a node less": (lambda r, p: r.pop(), "MISSING_NODE"),
    "a node that may go": (lambda r, p: p["unplaced"].append({"node": r.pop()["nodes"][0]}), "MISSING_NODE"),
    "unplaced and not there": (lambda r, p: p["unplaced"].append({"node": "n99"}), "UNKNOWN_NODE"),
    "unplaced and restarted": (lambda r, p: p["unplaced"].append({"node": "n1"}), "ASSIGNED_TWICE"),
    "another number": (lambda r, p: r[0].update(round=1), "WRONG_ROUND"),
    "another time": (lambda r, p: r[0].update(duration_s=1.0), "WRONG_DURATION"),
    "another fidelity": (lambda r, p: r[0].update(fidelity=0.123), "WRONG_FIDELITY"),
    "other queries": (lambda r, p: r[0]["queries_down"].pop(), "WRONG_QUERIES"),
    "other zones": (lambda r, p: r[0]["zones"].append("b"), "WRONG_ZONES"),
    "a move": (
        lambda r, p: r[0]["moves"].append({"operator": "sink", "index": 0, "from": "n3", "to": "n4"}),
        "WRONG_MOVE",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_round_states(name: str) -> None:
    made, (change, code) = document(), CHANGES[name]
    change(made["plan"]["rounds"], made["plan"])
    assert code in codes(made)


MOVES: dict[str, tuple[Callable[[dict[str, Any], list[dict[str, Any]]], Any], str]] = {
    "a task that is not there": (lambda m, r: m.update(index=99), "UNKNOWN_TASK"),
    "a node that is not there": (lambda m, r: m.update(to="n99"), "UNKNOWN_NODE"),
    "from where it does not run": (lambda m, r: m.update({"from": "n5"}), "WRONG_MOVE"),
    "to where it restarts too": (lambda m, r: m.update(to=m["from"]), "OVER_CAPACITY"),
    "not at all": (lambda m, r: r[0]["moves"].pop(0), "OVER_CAPACITY"),
    "twice": (lambda m, r: r[0]["moves"].append(dict(m)), "OVER_CAPACITY"),
    "all to one node": (lambda m, r: [x.update(to="n3") for x in r[0]["moves"]], "OVER_CAPACITY"),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves(name: str) -> None:
    made = document(move=True, max_cpu=0.6, nodes=["node:n1", "node:n2"], max=2)
    assert codes(made) == []
    change, code = MOVES[name]
    listed = made["plan"]["rounds"]
    change(listed[0]["moves"][0], listed)
    assert code in codes(made)


def test_a_plan_made_by_hand() -> None:
    """It restarts what it lists, and is held to keeping copies and replicas apart."""
    assert codes(by_hand(["n1", "n2"], ["n3"])) == []
    assert codes(by_hand(["n1", "n4"])) == ["COPIES_TOGETHER"]
    assert codes(by_hand(["n1"], ["n1"])) == ["ASSIGNED_TWICE"]
    assert codes({**by_hand(["n1", "n4"]), "rules": []}) == []
    moving = by_hand(["n3"])
    moving["plan"]["rounds"][0]["moves"] = [
        {"operator": "prices", "index": 0, "from": "n3", "to": "n2"},
        {"operator": "sink", "index": 0, "to": "n2"},
    ]
    assert codes(moving) == []
    assert ftplan.evaluate(load_plan(moving).value, job())["lowest-fidelity"] == 1.0


def test_strict_holds_copies_apart_whatever_the_options_say() -> None:
    plan = planned(job(), keep_copies="none", max=7, no_limits=True)
    assert verify(plan, job()).violations == ()
    assert {v.code for v in verify(plan, job(), strict=True).violations} == {"COPIES_TOGETHER"}


def test_planning_again_proves_the_bound() -> None:
    plan = planned(job(), **LIMITS)
    assert verify(plan, job(), prove=True, time_limit_s=3600.0).violations == ()
    assert plan.objective is not None
    low = json.loads(plan.to_json())
    low["objective"].update(bound=plan.objective.value + 1, gap=None)
    low["plan"]["rounds"].append({"nodes": []})
    assert "BOUND_REFUTED" in codes(low, prove=True, time_limit_s=3600.0)


def test_scores_while_something_fails_besides() -> None:
    """What fails is down in every round, unless its replica lives."""
    plan, oracle = planned(job(), **LIMITS), Oracle(JOB, {})
    for fail, more in ((["node:n4"], {"n4"}), (["zone:a"], {"n1", "n2", "n3"}), (["node:n5", "node:n6"], {"n5", "n6"})):
        scores = ftplan.evaluate(plan, job(), fail=fail)
        worst = min(oracle.fidelity(frozenset(nodes) | more) for nodes in rounds(plan))
        assert scores["lowest-fidelity"] == pytest.approx(worst, abs=1e-9)
        down = max(len(oracle.queries_down(frozenset(nodes) | more)) for nodes in rounds(plan))
        assert scores["queries-down"] == down
    calm = ftplan.evaluate(plan, job())
    after = plan.summary["after"]
    for name, key in (("rounds", "rounds"), ("duration-s", "duration_s"), ("lost-output-s", "lost_output_s")):
        assert calm[name] == pytest.approx(after[key])
    named = ftplan.evaluate(planned(job(), max=1), job(), fail=["task:clicks/3", "task:sink/2"])
    assert named["priority-down"] == 2 + 3 + 5  # in the round of n2, which holds clicks/1 and the replica of clicks/3


def test_moved_tasks_fail_where_they_are() -> None:
    plan = planned(job(), move=True, nodes="node:n3", max_cpu=0.6)
    assert plan.plan is not None
    hosts = {move["to"] for move in plan.plan["rounds"][0]["moves"]}
    assert hosts
    assert ftplan.evaluate(plan, job())["lowest-fidelity"] == 1.0
    lost = ftplan.evaluate(plan, job(), fail=[f"node:{node}" for node in hosts])["lowest-fidelity"]
    assert lost is not None
    oracle = Oracle(JOB, {})
    assert lost == pytest.approx(oracle.fidelity(frozenset({"n3", *hosts})), abs=1e-9)


def test_why_a_node_is_in_its_round() -> None:
    plan, oracle = planned(job(), **LIMITS), Oracle(JOB, LIMITS)
    listed = rounds(plan)
    for node in ("n1", "n10"):
        found = explain(plan, job(), f"node:{node}")
        own = next(k for k, nodes in enumerate(listed) if node in nodes)
        assert f"round {own}" in found.title
        assert {row["round"] for row in found.rows} == set(range(len(listed))) - {own}
        for row in found.rows:
            assert (row["ruled out by"] is None) == oracle.allowed(frozenset([*listed[row["round"]], node]))


def test_why_a_node_that_moves_its_tasks_is_in_its_round() -> None:
    cluster = {**CLUSTER, "placement": {"tasks": TASKS}}
    problem = ftplan.load(topology=TOPOLOGY, cluster=cluster)
    plan = planned(problem, move=True, max_cpu=0.5, no_limits=True)
    assert len(rounds(plan)) > 1
    found = explain(plan, problem, "node:n1")
    assert {row["ruled out by"] for row in found.rows} <= {"OVER_CAPACITY", None}
    assert any(row["ruled out by"] for row in found.rows)


def test_when_a_query_is_down_and_what_becomes_of_a_zone() -> None:
    plan, oracle = planned(job(), **LIMITS), Oracle(JOB, LIMITS)
    found = explain(plan, job(), "query:sink/1")
    down = [k for k, nodes in enumerate(rounds(plan)) if ("sink", 1) in oracle.queries_down(frozenset(nodes))]
    assert [row["round"] for row in found.rows] == down
    kept = explain(plan, job(), "query:sink/3")
    assert kept.rows == ()
    assert kept.notes[-1] == "--keep-priority 5 keeps it up"
    zone = explain(plan, job(), "zone:a")
    assert [row["node"] for row in zone.rows] == ["n1", "n2", "n3"]
    assert [row["fidelity alone"] for row in zone.rows] == [
        pytest.approx(oracle.fidelity(frozenset([node]))) for node in ("n1", "n2", "n3")
    ]
    for selector, said in (
        ("node:n99", "unknown node 'n99'"),
        ("zone:z", "no node of the cluster is in this zone"),
        ("query:join/0", "is no output task"),
        ("operator:join", "a drain schedule explains node:ID, zone:ID and query:OPERATOR/INDEX"),
    ):
        with pytest.raises(FtplanError, match=said):
            explain(plan, job(), selector)


def test_what_changes() -> None:
    before, after = by_hand(["n1", "n2"], ["n3"], ["n6"]), by_hand(["n1"], ["n3", "n2"])
    found = diff(load_plan(before).value, load_plan(after).value)
    assert [(c["node"], c["from"], c["to"]) for c in found.changes] == [("n2", 0, 1), ("n6", 2, None)]
    assert found.details["rounds"] == {
        "from": 3,
        "to": 2,
        "changed": (
            {"round": 0, "from": ["n1", "n2"], "to": ["n1"]},
            {"round": 1, "from": ["n3"], "to": ["n2", "n3"]},
            {"round": 2, "from": ["n6"], "to": None},
        ),
    }
    moved = copy.deepcopy(before)
    moved["plan"]["rounds"][1]["moves"] = [{"operator": "sink", "index": 0, "from": "n3", "to": "n4"}]
    (change,) = diff(load_plan(before).value, load_plan(moved).value).changes
    assert change == {"operator": "sink", "index": 0, "what": "move", "from": None, "to": "n4"}
    assert not diff(load_plan(before).value, load_plan(before).value).changed

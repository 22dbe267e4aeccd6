"""Drain schedules from documents: what restarts, what rounds state, and fixes that work."""

from __future__ import annotations

import copy
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.planners.registry import rows
from tests.planners.drain_schedule.cases import (
    CHECKPOINTS,
    CLUSTER,
    COSTS,
    JOB,
    REPLICAS,
    TASKS,
    TOPOLOGY,
    Oracle,
    job,
    planned,
    rounds,
)

ALGORITHMS = [row.name for row in rows("drain-schedule")]
NODES = ["n1", "n2", "n3", "n4", "n5", "n6", "n10"]


@st.composite
def questions(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw a placement of the job's tasks, copies and replicas on its nodes, and limits."""
    node = st.sampled_from(NODES)
    placement = {
        "tasks": {name: [draw(node) for _ in nodes] for name, nodes in TASKS.items()},
        "checkpoints": {"join": [draw(st.lists(node, max_size=2, unique=True)) for _ in CHECKPOINTS["join"]]},
        "replicas": {name: [draw(st.none() | node) for _ in nodes] for name, nodes in REPLICAS.items()},
    }
    limits: dict[str, st.SearchStrategy[Any]] = {
        "min_fidelity": st.sampled_from([0.0, 0.1, 0.3, 0.6]),
        "keep_priority": st.sampled_from([3, 5]),
        "max_per_zone": st.integers(1, 3),
        "max": st.integers(1, 4),
        "keep_copies": st.sampled_from(["all", "checkpoints", "none"]),
        "no_limits": st.sampled_from([True, True, False]),
    }
    documents = {"topology": TOPOLOGY, "cluster": {**CLUSTER, "placement": placement}}
    return documents, draw(st.fixed_dictionaries({}, optional=limits))


@settings(max_examples=25, deadline=None)
@given(questions())
def test_rounds_are_allowed_and_no_fewer_than_the_fewest(question: tuple[dict[str, Any], dict[str, Any]]) -> None:
    documents, options = question
    oracle, problem = Oracle(documents, options), ftplan.load(**documents)
    fewest = oracle.fewest()
    for algorithm in ALGORITHMS:
        plan = planned(problem, algorithm=algorithm, **options)
        if fewest is None:
            assert plan.status == "infeasible"
            continue
        restarted = rounds(plan)
        assert plan.objective is not None
        assert plan.objective.bound is not None
        assert plan.objective.bound <= fewest <= len(restarted) == plan.objective.value
        assert algorithm != "exact" or len(restarted) == fewest
        assert sorted(node for nodes in restarted for node in nodes) == sorted(NODES)
        assert all(oracle.allowed(frozenset(nodes)) for nodes in restarted)
        assert plan.plan is not None
        for item in plan.plan["rounds"]:
            nodes = frozenset(item["nodes"])
            assert item["fidelity"] == pytest.approx(oracle.fidelity(nodes), abs=1e-9)
            down = [(query["operator"], query["index"]) for query in item["queries_down"]]
            assert down == oracle.queries_down(nodes)
        assert verify(plan, problem).violations == ()


@settings(max_examples=20, deadline=None)
@given(questions(), st.integers(1, 7))
def test_no_larger_set_may_stop_now(question: tuple[dict[str, Any], dict[str, Any]], most: int) -> None:
    documents, options = question
    options = {**options, "max": most}
    oracle = Oracle(documents, options)
    plan = planned(ftplan.load(**documents), algorithm="greedy", partial=True, **options)
    stop = plan.summary["ok_to_stop"]
    able = [name for name in NODES if oracle.allowed(frozenset([name]))]
    subsets = (frozenset(some) for size in range(most + 1) for some in combinations(able, size))
    largest = max(len(some) for some in subsets if not some or oracle.allowed(some))
    assert oracle.allowed(frozenset(stop["nodes"])) or not stop["nodes"]
    assert (stop["count"], stop["bound"], stop["most"]) == (len(stop["nodes"]), largest, most)
    assert stop["count"] == largest


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("options", "placement"),
    [
        ({"min_fidelity": 0.9}, {}),
        ({"keep_priority": 3}, {}),
        ({"keep_priority": 0.5}, {}),
        ({"min_fidelity": 0.6, "keep_priority": 2}, {}),
        ({}, {"checkpoints": {"join": [["n4"], ["n1"], *CHECKPOINTS["join"][2:]]}}),
        ({}, {"replicas": {**REPLICAS, "join": ["n1", None, "n4", "n10"]}}),
        ({"move": True, "max_cpu": 0.3}, {}),
        ({"move": True}, {"tasks": {**TASKS, "clicks": ["n4"] * 4, "join": ["n4"] * 4}, "replicas": {}}),
    ],
)
def test_the_smallest_fix_works(algorithm: str, options: dict[str, Any], placement: dict[str, Any]) -> None:
    refused = planned(job(placement), algorithm=algorithm, **options)
    assert (refused.status, refused.plan) == ("infeasible", None)
    assert refused.infeasible is not None
    assert re.match(r"node n\d+ cannot restart even alone", refused.infeasible.reason)
    cluster, fixed = copy.deepcopy({**CLUSTER, "placement": {**CLUSTER["placement"], **placement}}), dict(options)
    for fix in refused.infeasible.smallest_fix.split(" and "):
        if fix.startswith("add to the nodes of the cluster file: "):
            cluster["nodes"].append(yaml.safe_load(fix.partition(": ")[2]))
        elif fix.startswith("place the replica of task:join/"):
            cluster["placement"]["replicas"]["join"] = ["n6", None, None, "n10"]
        elif fix.startswith("no --"):
            del fixed[fix.removeprefix("no --").replace("-", "_")]
        else:
            name, _, value = fix.removeprefix("--").partition(" ")
            fixed[name.replace("-", "_")] = yaml.safe_load(value)
    helped = planned(ftplan.load(topology=TOPOLOGY, cluster=cluster), algorithm=algorithm, **fixed)
    assert helped.plan is not None, refused.infeasible.smallest_fix


def test_what_cannot_restart_is_named_where_some_may() -> None:
    plan = planned(job(), min_fidelity=0.5, partial=True)
    assert plan.plan is not None
    assert {item["node"] for item in plan.plan["unplaced"]} & {n for nodes in rounds(plan) for n in nodes} == set()
    alone = Oracle(JOB, {"min_fidelity": 0.5})
    assert [item["node"] for item in plan.plan["unplaced"]] == [n for n in NODES if not alone.allowed(frozenset([n]))]
    assert all("below 0.5" in item["reason"] for item in plan.plan["unplaced"])


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ({}, NODES),
        ({"nodes": "zone:a"}, ["n1", "n2", "n3"]),
        ({"nodes": ["node:n10", "zone:c"]}, ["n6", "n10"]),
        ({"nodes": "operator:prices"}, ["n3", "n5"]),
        ({"nodes": "task:sink/3"}, ["n10"]),
        ({"nodes": "key-group:join/7"}, ["n5"]),
        ({"nodes": "query:sink/0"}, ["n1", "n3"]),
        ({"label": "kernel=5.4"}, ["n1", "n2", "n5"]),
        ({"label": ["kernel=5.4", "disk=ssd"]}, ["n1"]),
        ({"label": "kernel=5.4", "nodes": "zone:a"}, ["n1", "n2"]),
    ],
)
def test_which_nodes_restart(options: dict[str, Any], nodes: list[str]) -> None:
    plan = planned(job(), **options)
    assert sorted(node for some in rounds(plan) for node in some) == sorted(nodes)
    assert plan.summary["nodes"] == len(nodes)
    assert verify(plan, job()).violations == ()


def test_what_moves_has_room() -> None:
    """Each task of a round's nodes that has no live replica moves to a node that stays, takes tasks and has room."""
    plan = planned(job(), move=True, max_cpu=0.6)
    assert plan.plan is not None
    oracle = Oracle(JOB, {})
    cores = {o["id"]: o["cpu"] for o in TOPOLOGY["operators"]}
    free = {node["id"]: 0.6 * node["cpu"] - node.get("used_cpu", 0.0) for node in CLUSTER["nodes"]}
    for placed in (oracle.home, oracle.replica):
        for (operator, _), node in placed.items():
            free[node] -= cores[operator]
    for item in plan.plan["rounds"]:
        nodes = frozenset(item["nodes"])
        moved = {(move["operator"], move["index"]): move["to"] for move in item["moves"]}
        assert {(oracle.position[o], i) for o, i in moved} == oracle.down(nodes)
        assert (item["fidelity"], item["queries_down"]) == (1.0, [])
        left = dict(free)
        for (operator, _), node in moved.items():
            assert node not in nodes
            left[node] -= cores[operator]
        assert min(left.values()) >= -1e-6 or min(free.values()) < 0
        assert all(left[node] >= -1e-6 for node in moved.values())


def test_replicas_and_checkpoints_of_plans(tmp_path: Path) -> None:
    """They count like those of the placement, and a plan says where it has them from."""
    bare = job(placement={"checkpoints": {}, "replicas": {}})
    made = {
        "replicas": [
            {"operator": o, "index": i, "node": n} for o, nodes in REPLICAS.items() for i, n in enumerate(nodes) if n
        ],
        "assignments": [
            {"operator": "join", "key_group": g, "primary": "n1", "checkpoints": n}
            for g, n in enumerate(CHECKPOINTS["join"])
        ],
    }
    given = {}
    for option, kind, table in (
        ("replicas", "replicate-tasks", "replicas"),
        ("checkpoints", "allocate-checkpoints", "assignments"),
    ):
        document = {"format": "ftplan/plan", "format_version": "1.0", "kind": kind, "plan": {table: made[table]}}
        given[option] = tmp_path / f"{option}.json"
        given[option].write_text(json.dumps(document))
    plan = planned(bare, min_fidelity=0.1, **given)
    assert plan.plan == planned(job(), min_fidelity=0.1).plan
    assert {item.role for item in plan.inputs} == {"topology", "cluster", "replicas", "checkpoints"}
    assert verify(plan, bare).violations == ()
    inside = planned(bare, min_fidelity=0.1, **{name: json.loads(path.read_text()) for name, path in given.items()})
    assert inside.plan == plan.plan
    assert verify(inside, bare).violations == ()
    given["replicas"].write_text(given["replicas"].read_text().replace("n6", "n5"))
    assert {v.code for v in verify(plan, bare).violations} >= {"STALE_INPUT"}


def test_the_time_of_a_round() -> None:
    """120 s, or 120 s and a start of 10 s with 4 MB at 2 MB/s, after which 132 s and half of 20 s are caught up.

    The sources emit 12 records/s of the 24 that the job can take, so that catching up takes as long as was missed.
    """
    plain = planned(job(), max=1)
    assert plain.plan is not None
    assert {item["duration_s"] for item in plain.plan["rounds"]} == {120.0}
    costly = planned(job(), max=1, costs=COSTS)
    assert costly.plan is not None
    times = {item["nodes"][0]: item["duration_s"] for item in costly.plan["rounds"]}
    assert times["n1"] == pytest.approx((120 + 10 + 2) * 2 + 10)
    assert times["n3"] == pytest.approx((120 + 10) * 2 + 10)
    quick = planned(job(), max=1, costs=COSTS, restart_s=5.0)
    assert quick.plan is not None
    assert quick.plan["rounds"][0]["duration_s"] == pytest.approx((50 + 10 + 2) * 2 + 10)
    moved = planned(job(), max=1, costs=COSTS, move=True)
    assert moved.plan is not None
    assert moved.plan["rounds"][0]["duration_s"] == pytest.approx(12 + 120 + 12 + (12 + 10))
    local = {**COSTS, "state": "local", "parameters": {"detection_s": {"value": 130}}}
    noticed = planned(job(), max=1, costs=local)
    assert noticed.plan is not None
    assert noticed.plan["rounds"][0]["duration_s"] == 130.0


def test_costs_beyond_what_they_were_fitted_on() -> None:
    outside = {**COSTS, "fitted_on": {"rates": [20, 30], "intervals_s": [30, 60]}}
    messages = [w.message for w in planned(job(), costs=outside).warnings if w.code == "OUTSIDE_FITTED_RANGE"]
    assert messages == [
        "the recovery costs were fitted on 20 to 30 records/s, the job has 12: durations are a guess",
        "the recovery costs were fitted on 30 to 60 seconds between checkpoints, the job has 20: durations are a guess",
    ]
    assert not any(w.code == "OUTSIDE_FITTED_RANGE" for w in planned(job(), costs=COSTS).warnings)
    slow = {**COSTS, "parameters": {"capacity_records_s": {"value": 12}}}
    with pytest.raises(FtplanError, match="process 12 records/s and gets 12: it never catches up"):
        planned(job(), costs=slow)


def test_a_round_without_any_limit_is_warned_of() -> None:
    free = job({"checkpoints": {}, "replicas": {}})
    assert "NO_LIMITS" in [w.code for w in planned(free, no_limits=True).warnings]
    assert "NO_LIMITS" not in [w.code for w in planned(free).warnings]
    assert "NO_LIMITS" not in [w.code for w in planned(free, no_limits=True, max=7).warnings]


def test_peers() -> None:
    """One by one takes a round a node, zone by zone a round a zone, whatever that breaks."""
    plan = planned(job(), max_per_zone=1, min_fidelity=0.1)
    peers = plan.summary["peers"]
    assert (peers["one_by_one"]["rounds"], peers["zone_by_zone"]["rounds"]) == (7, 4)
    assert peers["one_by_one"]["breaks"] == []
    assert peers["zone_by_zone"]["breaks"] == ["max-per-zone"]
    assert plan.summary["after"]["rounds"] == len(rounds(plan)) <= plan.summary["random"]["rounds"] <= 7
    oracle = Oracle(JOB, {})
    zones = [frozenset(["n1", "n2", "n3"]), frozenset(["n4", "n5"]), frozenset(["n6"]), frozenset(["n10"])]
    assert peers["zone_by_zone"]["lowest_fidelity"] == pytest.approx(min(map(oracle.fidelity, zones)))
    assert peers["zone_by_zone"]["lost_output_s"] == pytest.approx(120 * sum(1 - oracle.fidelity(z) for z in zones))

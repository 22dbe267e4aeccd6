"""Simulated peer rings from files: plans and rings in place, what is told, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.problem import Problem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.document import load_simulation
from ftplan.simulation.ring.layout import cut
from ftplan.simulation.ring.options import RingSimulationOptions
from ftplan.simulation.ring.scene import scene_of

Document = dict[str, Any]
TOPOLOGY: Document = {
    "format": "ftplan/topology", "format_version": "1.0",
    "operators": [
        {"id": "map", "parallelism": 1, "rate_out": 400.0},
        {"id": "count", "parallelism": 1, "key_groups": 16, "state_bytes": 16_000, "checkpoint": {"interval_s": 1.0}},
        {"id": "rank", "parallelism": 1, "key_groups": 8, "state_bytes": 8_000, "checkpoint": {"interval_s": 2.0}},
    ],
    "edges": [{"from": "map", "to": "count"}, {"from": "map", "to": "rank"}],
}  # fmt: skip
CLUSTER: Document = {
    "format": "ftplan/cluster", "format_version": "1.0", "network": {"bandwidth_mb_s": 10, "delay_s": 0.002},
    "nodes": [{"id": f"n{k}", "cpu": 4, "zone": f"rack-{'ab'[k % 2]}"} for k in range(1, 6)],
}  # fmt: skip
SHORT: Document = {"until_s": 12.0, "fail_at_s": 5.0, "tick_s": 0.05}


def by_hand(tokens: dict[str, float]) -> Document:
    """Return a ring made by hand."""
    entries = [{"node": node, "token": token} for node, token in tokens.items()]
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "peer-ring", "plan": {"ring": entries}}


PLAN = by_hand({"n1": 0.0, "n2": 0.25, "n3": 0.5, "n4": 0.75})


@pytest.fixture(scope="module")
def job() -> Problem:
    return ftplan.load(topology=TOPOLOGY, cluster=CLUSTER)


def test_a_failure_on_a_plan_made_by_hand(job: Problem) -> None:
    answer = ftplan.simulate("ring", job, PLAN, fail="node:n2", **SHORT)
    document: Document = json.loads(answer.to_json())
    load_simulation(document)
    assert answer.unmet is None
    assert (document["nothing_lost"], document["faults"]) == (True, [])
    (change,) = document["changes"]
    assert (change["event"], change["node"], change["others"], change["begun_s"]) == ("failure", "n3", ["n2"], 5.0)
    assert change["key_groups"] == 6  # 4 of 16 and 2 of 8
    assert change["replayed"] == pytest.approx(200.0 * (2.0 + 0.06), rel=0.1)
    assert change["predicted"]["replayed"] == pytest.approx(200.0 * (2.0 + 0.06), rel=0.01)
    assert document["records"]["sent"]["mean"] == pytest.approx(800.0 * 12.0)
    assert [node["node"] for node in document["nodes"]] == ["n1", "n2", "n3", "n4"]
    assert [node["failed"] for node in document["nodes"]] == [False, True, False, False]
    assert document["nodes"][2]["tokens"] == [0.25]
    assert {len(node["over_time"]["rate"]) for node in document["nodes"]} == {len(document["time_s"])}
    assert len(answer.to_frame()) == 4 * len(document["time_s"])


def test_a_plan_that_was_planned_for_a_failure_meets_it(job: Problem) -> None:
    plan = ftplan.plan("peer-ring", job, fail="zone:rack-a")
    document = ftplan.simulate("ring", job, plan, **SHORT).to_dict()
    assert document["failures"] == [{"at_s": 5.0, "nodes": ["n2", "n4"]}]
    assert document["nothing_lost"]


def test_a_failure_file_says_what_fails_later(job: Problem) -> None:
    failure = {
        "format": "ftplan/failure", "format_version": "1.0",
        "fail": [{"select": "node:n1"}, {"select": "node:n3", "at_s": 4.0}],
    }  # fmt: skip
    both = ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, failure=failure)
    document = ftplan.simulate("ring", both, PLAN, **SHORT).to_dict()
    assert document["failures"] == [{"at_s": 5.0, "nodes": ["n1"]}, {"at_s": 9.0, "nodes": ["n3"]}]
    assert [change["node"] for change in document["changes"]] == ["n2", "n4"]
    assert document["nothing_lost"]
    assert "LATER_FAILURES" not in {warning["code"] for warning in document["warnings"]}  # they do fail later


def test_nodes_that_fail_elsewhere_and_nodes_that_take_over_too_much(job: Problem) -> None:
    absent = ftplan.load(topology=TOPOLOGY, cluster={**CLUSTER, "nodes": [
        *CLUSTER["nodes"], {"id": "vault", "cpu": 4, "accepts": ["checkpoints"]},
    ]})  # fmt: skip
    said = {w.code: w.message for w in ftplan.simulate("ring", absent, PLAN, fail="node:vault", **SHORT).warnings}
    assert said["FAILS_ELSEWHERE"] == "vault is not on the ring: nothing happens when it fails"
    assert "OVERLOADED" not in said
    answer = ftplan.simulate("ring", job, PLAN, fail="node:n2", capacity_per_core=80.0, **SHORT)
    (text,) = (warning.message for warning in answer.warnings if warning.code == "OVERLOADED")
    assert text == "more comes in than can be processed after the take-over by n3: --balance lets load move"


def test_more_cells_of_time_than_anybody_reads_are_refused(job: Problem) -> None:
    with pytest.raises(FtplanError, match=r"--every: .* makes 200,000 cells of time; at most 100,000 are told"):
        ftplan.simulate("ring", job, PLAN, until_s=200.0, every_s=0.001)


def test_an_end_before_the_first_usual_tick(job: Problem) -> None:
    assert ftplan.simulate("ring", job, PLAN, interval_s=600.0, until_s=0.5).body["tick_s"] == 0.5


def test_neighbours_that_fail_together_lose_what_only_they_hold(job: Problem) -> None:
    answer = ftplan.simulate("ring", job, PLAN, fail=["node:n1", "node:n2"], **SHORT)
    (fault,) = answer.body["faults"]
    assert (fault["what"], fault["key_groups"], fault["first"]) == (
        "lost, since all who held them failed",
        6,
        "count/0",
    )
    assert answer.unmet is None
    assert "ALL_COPIES_FAILED" in {warning.code for warning in answer.warnings}


def test_clocks_beyond_the_bound_lose_records(job: Problem) -> None:
    answer = ftplan.simulate("ring", job, PLAN, fail="node:n1", skew_s=0.5, runs=3, **SHORT)
    assert not answer.body["nothing_lost"]
    assert answer.unmet is not None
    assert "though a copy should have been left: count/0 and " in answer.unmet
    assert "CLOCKS_DIFFER" in {warning.code for warning in answer.warnings}


def test_the_same_seed_the_same_bytes(job: Problem) -> None:
    asked = {"fail": "node:n4", "runs": 2, **SHORT}
    texts = [ftplan.simulate("ring", job, PLAN, **asked).to_json() for _ in range(2)]
    assert texts[0] == texts[1]
    assert ftplan.simulate("ring", job, PLAN, **asked, seed=3).to_json() != texts[0]
    shuffled = ftplan.load(topology=TOPOLOGY, cluster={**CLUSTER, "nodes": CLUSTER["nodes"][::-1]})
    one, other = (ftplan.simulate("ring", given, PLAN, **asked).body for given in (job, shuffled))
    assert one == other


def test_without_any_input() -> None:
    asked: Document = {"nodes": 4, "rate": 400.0, "interval_s": 1.0, "capacity_per_core": 1000.0}
    answer = ftplan.simulate("ring", ftplan.load(), **asked, fail="node:n1", hot=2.0)
    assert {"TOPOLOGY_ASSUMED", "CLUSTER_ASSUMED"} <= {warning.code for warning in answer.warnings}
    assert answer.body["nothing_lost"]
    rate = np.array(answer.body["nodes"][1]["over_time"]["rate"])
    assert rate[-1] == pytest.approx(300.0, rel=0.2)  # its own 100, and 200 of n1


def test_nodes_of_the_cluster_that_are_not_on_the_ring_join(job: Problem) -> None:
    document = ftplan.simulate(
        "ring", job, PLAN, hot=4.0, hot_node="n2", hot_at_s=2.0, until_s=40.0, tick_s=0.1, balance=True, window_s=2.0,
        accept=0.1, provision_s=1.0, spares=1,
    ).to_dict()  # fmt: skip
    joined = [change["node"] for change in document["changes"] if change["event"] == "scale-out"]
    assert joined == ["n5", "new1"]
    assert document["nothing_lost"]


def test_nodes_leave_one_after_the_other(job: Problem) -> None:
    document = ftplan.simulate("ring", job, PLAN, leave=["n1", "n3"], leave_at_s=2.0, until_s=15.0).to_dict()
    assert [(item["event"], item["others"]) for item in document["changes"]] == [
        ("scale-in", ["n1"]),
        ("scale-in", ["n3"]),
    ]
    assert document["nothing_lost"]
    assert [node["tokens"] for node in document["nodes"]] == [[], [0.0], [], [0.5]]


def test_a_plan_with_many_tokens(job: Problem) -> None:
    plan = ftplan.plan("peer-ring", job, algorithm="virtual-nodes", tokens=4)
    document = ftplan.simulate("ring", job, plan, fail="node:n3", **SHORT).to_dict()
    assert document["nothing_lost"]
    assert {tuple(change["others"]) for change in document["changes"]} == {("n3",)}
    noticed = [change["decided_s"] for change in document["changes"]]
    assert len(noticed) > 1
    assert max(noticed) - min(noticed) < 0.1  # by one checkpoint that does not come, whoever holds how much of it


def test_pieces_cover_all_positions_and_end_where_arcs_do(job: Problem) -> None:
    plan = ftplan.plan("peer-ring", ftplan.load(topology=TOPOLOGY, cluster=CLUSTER), algorithm="paper")
    problem = scene_of(job, plan, RingSimulationOptions()).prepared.problem
    ring = Ring(problem.position[[2, 3, 9]], np.array([0, 1, 2]))
    for batches in (10**6, 2 * 10**7):
        pieces = cut(problem, ring, batches)
        assert pieces.first[0] == 0
        assert {2, 3, 9} <= set(pieces.first.tolist())
        assert pieces.sums(problem.rate).sum() == pytest.approx(problem.rate.sum())
        owners = ring.owner(problem.position)
        assert ring.owner(pieces.position).tolist() == owners[pieces.first].tolist()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"nodes": 3}, "--nodes: PLAN says where its nodes are"),
        ({"tokens": "random"}, "--tokens: PLAN says"),
        ({"fail": "task:count/0"}, "what fails there is node:ID or zone:ID"),
        ({"fail": "node:n9"}, "unknown node 'n9'"),
        ({"fail": "node:n1", "fail_at_s": 9.0, "until_s": 9.0}, "--until: 9 s is not after the last failure, at 9 s"),
        ({"leave": "n5"}, "--leave: n5 is not on the ring"),
        ({"leave": ["n1", "n2", "n3"]}, "--leave: 1 node would be left"),
        ({"replication": 4}, "a ring of 4 nodes has room for 3 at most"),
        ({"hot": 2.0, "hot_node": "n5"}, "--hot-node: 'n5' is not on the ring"),
        ({"hot_node": "n1"}, "--hot says how many times"),
        ({"tick_s": 1e-4, "until_s": 1000.0}, "--tick: 0.0001 s makes 10,000,000 batches"),
        ({"tick_s": 100.0, "until_s": 10.0}, "--tick: 100 s is more than the 10 s"),
        ({"runs": 0}, "--runs: 0 is not a whole number"),
    ],
)  # fmt: skip
def test_what_is_refused(job: Problem, asked: Document, message: str) -> None:
    with pytest.raises(FtplanError, match=message):
        ftplan.simulate("ring", job, PLAN, **asked)


def test_inputs_that_do_not_fit(job: Problem) -> None:
    with pytest.raises(FtplanError, match="--nodes: the cluster file says"):
        ftplan.simulate("ring", job, nodes=4)
    with pytest.raises(FtplanError, match="is a plan of kind scale-out: simulate ring takes a peer-ring"):
        ftplan.simulate("ring", job, {**PLAN, "kind": "scale-out", "plan": {"operators": []}})
    tiered = ftplan.plan("peer-ring", job, tier="node:n5")
    with pytest.raises(FtplanError, match="tiered copies are not simulated: plan without --tier"):
        ftplan.simulate("ring", job, tiered)
    silent = {**TOPOLOGY, "operators": [{**TOPOLOGY["operators"][0], "rate_out": 0.0}, *TOPOLOGY["operators"][1:]]}
    with pytest.raises(FtplanError, match="no records come in"):
        ftplan.simulate("ring", ftplan.load(topology=silent, cluster=CLUSTER), PLAN)

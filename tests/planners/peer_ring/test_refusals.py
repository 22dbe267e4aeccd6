"""What cannot be asked of a peer ring, each with one line that says what would be right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.prepare import prepare
from tests.planners.peer_ring.cases import BARE, CLUSTER, EVEN, SPARE, by_hand, job
from tests.planners.rebalance.cases import TOPOLOGY

GONE = by_hand(("n1", 0.0), ("n9", 0.5))
THREE = by_hand(("n1", 0.0), ("n3", 0.25), ("n5", 0.5))


def told(problem: ftplan.Problem, **options: Any) -> str:
    with pytest.raises(FtplanError) as error:
        prepare(problem, PeerRingOptions.of("peer-ring", options))
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"add": ["n7"]}, "--add changes a ring in place: give its plan by --current"),
        ({"rebalance": True}, "--rebalance changes a ring in place"),
        ({"max_bytes": 1.0}, "--max-bytes changes a ring in place"),
        ({"current": EVEN, "add": ["n1"]}, "--add: n1 is on the ring in place already"),
        ({"current": EVEN, "add": ["v1"]}, "--add: v1 cannot be on a ring"),
        ({"current": EVEN, "add": ["n77"]}, "unknown node 'n77'"),
        ({"current": EVEN, "remove": [SPARE]}, "--remove: n7 is not on the ring in place"),
        ({"current": EVEN, "add": [SPARE], "remove": [SPARE]}, "--add and --remove both name n7"),
        ({"current": EVEN, "tier": ["n1"]}, "--tier: n1 is on the ring in place: let it leave by --remove too"),
        ({"remove": ["n1"], "tier": ["n1"]}, "--remove and --tier both name n1"),
        ({"remove": ["task:agg/0"]}, "names no nodes: give node ids, node:ID or zone:ID"),
        ({"tier": ["zone:vault"], "replication": 0}, "--replication has to be 1 or more"),
        ({"replication": 7}, "a ring of 7 nodes has room for 6 backups of each key group, not 7"),
        (
            {"replication": 9, "tier": ["zone:vault"]},
            "has room for 7 backups of each key group, not 9: owner",
        ),
        (
            {"current": THREE, "replication": 3},
            "are different nodes; give --replication 2 at most",
        ),
        ({"remove": [f"n{k}" for k in range(1, 8)]}, "no node is left for the ring"),
        ({"operator": ["aggg"]}, "--operator: unknown operator 'aggg'"),
        ({"operator": ["source"]}, "--operator: 'source' has no key groups in the topology"),
        ({"fail": ["task:agg/0"]}, "--fail: task:agg/0 is no part of a ring: what fails there is node:ID or zone:ID"),
        ({"fail": ["node:n77"]}, "--fail: node:n77: unknown node 'n77'"),
        ({"current": GONE}, "say --fail node:n9 if it is dead, --remove node:n9 if it leaves"),
        ({"current": by_hand(("n1", 0.5), ("n2", 0.5))}, "n1 and n2 have one token, 0.5"),
        ({"current": by_hand()}, "plan.ring: no node has a token"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: Mapping[str, Any], text: str) -> None:
    assert text in told(job(), **options)


def test_tokens_have_to_be_on_the_circle() -> None:
    for token in (1.0, -0.1, float("nan")):
        with pytest.raises(FtplanError):
            prepare(job(), PeerRingOptions.of("peer-ring", {"current": by_hand(("n1", 0.0), ("n2", token))}))


def test_a_ring_of_nodes_that_cannot_be_on_it_has_to_let_them_leave() -> None:
    nodes = [{**node, "accepts": ["tasks"]} if node["id"] == "n3" else node for node in CLUSTER["nodes"]]
    problem = job(cluster={**CLUSTER, "nodes": nodes})
    assert "n3 is on the ring in place, and can be no longer" in told(problem, current=EVEN)
    assert prepare(problem, PeerRingOptions.of("peer-ring", {"current": EVEN, "remove": ["n3"]})).problem.members.any()


def test_what_is_measured_needs_statistics() -> None:
    problem = ftplan.load(**BARE)
    assert "--load cpu_ms is measured: give --stats" in told(problem, load="cpu_ms")
    assert "--demand p95 is measured: give --stats" in told(problem, demand="p95")


def test_inputs_are_needed() -> None:
    assert "a peer ring needs cluster: give --cluster" in told(ftplan.load(topology=TOPOLOGY))
    operators = [{k: v for k, v in item.items() if k != "key_groups"} for item in TOPOLOGY["operators"]]
    problem = ftplan.load(topology={**TOPOLOGY, "operators": operators}, cluster=CLUSTER)
    assert "no operator of the topology has key_groups" in told(problem)


def test_a_ring_that_stays_keeps_its_copies() -> None:
    backups = [{**item, "backups": ["n1", "n2"]} for item in EVEN["plan"]["ring"]]
    current = {**EVEN, "plan": {"ring": backups}}
    assert "give --replication 2 for what its failure does" in told(job(), current=current, fail=["node:n1"])
    assert prepare(job(), PeerRingOptions.of("peer-ring", {"current": current})).problem.copies_in_place == 2


def test_another_plan_is_no_ring() -> None:
    other = {"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": []}}
    with pytest.raises(FtplanError, match=re.escape("--current needs a plan of kind peer-ring, not rebalance")):
        prepare(job(), PeerRingOptions.of("peer-ring", {"current": other}))

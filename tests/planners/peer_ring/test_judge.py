"""Rings are judged by what their tokens do, whoever made them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from tests.planners.peer_ring.cases import EVEN, by_hand, job, planned

Document = dict[str, Any]
Change = Callable[[Document], Any]

#: By name, options of plans that the changes below are made to.
IN_PLACE: dict[str, Any] = {"current": EVEN, "remove": []}
PLANS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two": {"replication": 2},
    "tier": {"tier": ["zone:vault"]},
    "grown": {**IN_PLACE, "add": ["n7"], "max_bytes": 2e9},
    "shrunk": {**IN_PLACE, "remove": ["n6"], "overload": 1.5, "capacity_per_core": 9.3},
    "enough": {**IN_PLACE, "add": ["n7"], "target_load": 1.4},
    "moved": {**IN_PLACE, "rebalance": True},
    "failed": {**IN_PLACE, "fail": ["node:n1", "node:n3"]},
}


@cache
def text(name: str) -> str:
    return planned(job(), **PLANS[name]).to_json()


def plan(name: str) -> Document:
    made: Document = json.loads(text(name))
    return made


def codes(given: Document, problem: ftplan.Problem | None = None, **how: Any) -> list[str]:
    return [violation.code for violation in verify(load_plan(given).value, problem or job(), **how).violations]


def ring(given: Document) -> list[Document]:
    listed: list[Document] = given["plan"]["ring"]
    return listed


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_valid_as_they_are_and_strictly(name: str) -> None:
    assert plan(name)["plan"] is not None, plan(name)["reason"]
    assert codes(plan(name)) == []
    assert codes(plan(name), strict=True) == []
    assert "replication" in plan(name)["rules"]


def test_what_plans_promise() -> None:
    assert {"zones-apart", "one-zone", "tokens"} <= set(plan("plain")["rules"])
    assert {"max-bytes"} <= set(plan("grown")["rules"])
    assert {"capacity"} <= set(plan("shrunk")["rules"])
    assert {"target-load"} <= set(plan("enough")["rules"])
    assert {"order"} <= set(plan("moved")["rules"])


def at(given: Document, node: str) -> Document:
    return next(item for item in ring(given) if item["node"] == node)


def swapped(given: Document) -> None:
    """Let the nodes of two neighbours change places such that one has its own zone beside it then."""
    listed = ring(given)
    for first, one, other in zip(listed, listed[1:], listed[2:], strict=False):
        if first["zone"] == other["zone"]:
            one["node"], other["node"] = other["node"], one["node"]
            return


def turned_round(given: Document) -> None:
    one, other = ring(given)[0], ring(given)[1]
    one["node"], other["node"] = other["node"], one["node"]


def bare(given: Document) -> None:
    given["plan"]["ring"] = [{"node": ring(given)[0]["node"], "token": ring(given)[0]["token"]}]


def only_tokens(given: Document) -> None:
    given["plan"] = {"ring": [{"node": item["node"], "token": item["token"]} for item in ring(given)]}
    given["summary"], given["objective"], given["status"] = {}, None, "feasible"


#: What is changed in which plan, and the code that has to be among those found.
CHANGES: dict[str, tuple[str, Change, str]] = {
    "unknown node": ("plain", lambda p: ring(p)[0].update(node="n77"), "UNKNOWN_NODE"),
    "unknown backup": ("plain", lambda p: ring(p)[0].update(backups=["n77"]), "UNKNOWN_NODE"),
    "two tokens at one place": ("plain", lambda p: ring(p)[1].update(token=ring(p)[0]["token"]), "ASSIGNED_TWICE"),
    "a node twice": ("plain", lambda p: ring(p)[1].update(node=ring(p)[0]["node"]), "ASSIGNED_TWICE"),
    "beside a position": ("plain", lambda p: ring(p)[1].update(token=ring(p)[1]["token"] + 0.001), "WRONG_TOKEN"),
    "no token": ("plain", lambda p: p["plan"].update(ring=[]), "TOO_FEW_NODES"),
    "one token": ("plain", bare, "TOO_FEW_NODES"),
    "a node less": ("plain", lambda p: ring(p).pop(), "NODE_MISSING"),
    "a node that leaves": ("shrunk", lambda p: ring(p)[0].update(node="n6"), "NOT_DRAINED"),
    "a node that joins": ("grown", lambda p: ring(p).remove(at(p, "n7")), "NOT_FILLED"),
    "a node of the tier": ("tier", lambda p: ring(p)[0].update(node="v1"), "WRONG_NODE"),
    "a node for copies": ("plain", lambda p: ring(p)[0].update(node="v1"), "WRONG_NODE"),
    "no tier": ("tier", lambda p: [item.pop("backups") for item in ring(p)], "NODE_MISSING"),
    "another tier": ("tier", lambda p: [item.update(backups=["n7"]) for item in ring(p)], "WRONG_NODE"),
    "neighbours": ("plain", swapped, "COPY_IN_SAME_ZONE"),
    "zones that lose": ("plain", swapped, "ZONE_LOSES"),
    "a load": ("plain", lambda p: ring(p)[2].update(load=1.0), "WRONG_LOAD"),
    "key groups": ("plain", lambda p: ring(p)[2].update(key_groups=99), "WRONG_LOAD"),
    "a state": ("plain", lambda p: ring(p)[2].update(state_bytes=99.0), "WRONG_LOAD"),
    "a zone": ("plain", lambda p: ring(p)[2].update(zone="q"), "WRONG_ZONES"),
    "backups": ("two", lambda p: ring(p)[2].update(backups=["n1", "n2"]), "WRONG_COPIES"),
    "too many bytes": ("grown", lambda p: p["options"].update(max_bytes=1.0), "OVER_BUDGET"),
    "too much load": ("enough", lambda p: p["options"].update(target_load=1.0), "OVER_LOAD"),
    "too full": ("shrunk", lambda p: p["options"].update(overload=0.3), "OVER_CAPACITY"),
    "another order": ("moved", turned_round, "WRONG_ORDER"),
    "a step less": ("grown", lambda p: p["plan"].update(steps=[]), "WRONG_MOVE"),
    "a step that is none": ("grown", lambda p: p["plan"]["steps"][0]["tokens"][0].update({"from": 0.01}), "WRONG_MOVE"),
    "what a step is": ("grown", lambda p: p["plan"]["steps"][0].update(event="scale-in"), "WRONG_MOVE"),
    "a move less": ("grown", lambda p: p["plan"]["moves"].pop(), "WRONG_MOVE"),
    "where a move goes": ("grown", lambda p: p["plan"]["moves"][0].update(to="n2"), "WRONG_MOVE"),
    "a range": ("grown", lambda p: p["plan"]["moves"][0].update(range=[0.0, 1.0]), "WRONG_MOVE"),
    "a transfer": ("grown", lambda p: p["plan"]["moves"][0].update(transfer_bytes=7.0), "WRONG_COST"),
    "copies made": ("grown", lambda p: p["plan"]["moves"][0].update(rereplicate_bytes=7.0), "WRONG_COST"),
    "a copy's bytes": ("grown", lambda p: p["plan"]["copies"][0].update(bytes=7.0), "WRONG_COST"),
    "a copy's source": ("grown", lambda p: p["plan"]["copies"][0].update({"from": "n7"}), "WRONG_MOVE"),
    "what is lost": ("failed", lambda p: p["plan"]["lost"].pop(), "WRONG_TAKEOVER"),
    "who takes over": ("failed", lambda p: p["plan"]["takeovers"].pop(), "WRONG_TAKEOVER"),
    "the ring then": ("failed", lambda p: p["plan"]["after_failure"].pop(), "WRONG_TAKEOVER"),
    "a value": ("plain", lambda p: p["objective"].update(value=1.0), "OBJECTIVE_DIFFERS"),
    "a name": ("plain", lambda p: p["objective"].update(name="load"), "OBJECTIVE_DIFFERS"),
    "a bound": ("plain", lambda p: p["objective"].update(bound=2.0), "OBJECTIVE_DIFFERS"),
    "a lower bound": ("plain", lambda p: p["objective"].update(bound=1.0, gap=None, scale=None), "STATUS_DIFFERS"),
    "a bound of bytes": (
        "grown", lambda p: p["summary"]["levels"]["bytes"].update(bound=9e9), "OBJECTIVE_DIFFERS"),
    "violations that are not proven": (
        "plain", lambda p: p["summary"]["levels"]["zone_violations"].update(bound=None), "STATUS_DIFFERS"),
    "a figure": ("plain", lambda p: p["summary"]["after"].update(nodes=7), "SUMMARY_DIFFERS"),
    "a node's figure": ("plain", lambda p: p["summary"]["nodes"][0].update(share=7.0), "SUMMARY_DIFFERS"),
    "a ledger": ("grown", lambda p: p["summary"]["ledgers"]["scale-out"].update(moves=7), "SUMMARY_DIFFERS"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_is_found(name: str) -> None:
    of, change, code = CHANGES[name]
    made = plan(of)
    change(made)
    assert code in codes(made), name


def test_a_ring_by_hand_needs_nodes_and_tokens_alone() -> None:
    assert codes(EVEN) == []
    assert codes(by_hand(("n1", 0.0), ("n2", 0.01), ("n5", 0.5))) == []
    assert codes(by_hand(("n1", 0.0), ("n2", 0.0), ("n5", 0.5))) == ["ASSIGNED_TWICE"]
    assert codes(by_hand(("n1", 0.0))) == ["TOO_FEW_NODES"]
    assert codes(by_hand(("n1", 0.0), ("v1", 0.5), ("n5", 0.7))) == ["WRONG_NODE"]


def test_tokens_alone_are_held_to_the_same_rules() -> None:
    for name in PLANS:
        if name == "tier":
            continue
        made = plan(name)
        only_tokens(made)
        assert codes(made) == [], name


def test_entries_in_any_order_are_one_ring() -> None:
    for name in ("plain", "two", "tier", "grown"):
        made = plan(name)
        random.Random(1).shuffle(ring(made))
        assert codes(made) == [], name


def test_a_token_rounded_by_hand_is_where_it_is_meant() -> None:
    made = plan("plain")
    for item in ring(made):
        item["token"] = float(f"{item['token'] + 4e-13:.11g}")
    for name in ("steps",):
        made["plan"][name] = None
    assert codes(made) == []


def test_a_plan_is_refused_whose_options_are_none() -> None:
    made = copy.deepcopy(plan("plain"))
    made["options"]["tokens"] = "many"
    with pytest.raises(FtplanError, match="tokens"):
        codes(made)

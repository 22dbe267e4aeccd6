"""Rebalances are judged by what their moves do, whoever made them."""

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
from tests.effort import examples
from tests.planners.rebalance.cases import job, planned

Document = dict[str, Any]
Change = Callable[[Document], Any]

#: By name, options of plans that the changes below are made to.
PLANS: dict[str, dict[str, Any]] = {
    "plain": {},
    "assisted": {"protocol": "cpa"},
    "direct": {"protocol": "direct"},
    "even": {"tolerance": 0.4},
    "filled": {"add": ["n7"]},
    "drained": {"remove": ["n6"], "tolerance": "none"},
    "zones": {"remove": ["n3"], "anti_affinity": "zone"},
    "phases": {"protocol": "direct", "phase_bytes": 6e6, "max_moves": 6, "max_bytes": 1e9, "max_pause_s": 10.0},
    "notice": {"remove": ["n2"], "within_s": 60.0, "protocol": "direct"},
}


@cache
def text(name: str) -> str:
    return planned(job(), **PLANS[name]).to_json()


def plan(name: str) -> Document:
    made: Document = json.loads(text(name))
    return made


def codes(given: Document, problem: ftplan.Problem | None = None, **how: Any) -> list[str]:
    return [violation.code for violation in verify(load_plan(given).value, problem or job(), **how).violations]


def by_hand(*moves: tuple[str, int, str, str], **more: Any) -> Document:
    listed = [{"operator": o, "key_group": g, "from": a, "to": b} for o, g, a, b in moves]
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": listed, **more}}


def moves(given: Document) -> list[Document]:
    listed: list[Document] = given["plan"]["moves"]
    return listed


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_valid_as_they_are_and_strictly(name: str) -> None:
    assert codes(plan(name)) == []
    assert codes(plan(name), strict=True) == []
    assert {"capacity", "phase-capacity", "protocol"} <= set(plan(name)["rules"])


def back(given: Document, *groups: tuple[str, int]) -> None:
    """Take moves out of a plan."""
    given["plan"]["moves"] = [m for m in moves(given) if (m["operator"], m["key_group"]) not in groups]


def first(given: Document) -> Document:
    return moves(given)[0]


def together(given: Document) -> None:
    for move in moves(given):
        move["phase"] = 0


def copied(given: Document) -> Document:
    item: Document = given["plan"]["new_copies"][0]
    return item


def node_of(given: Document, item: Document) -> str:
    """Return where a key group is afterwards."""
    name = (item["operator"], item["key_group"])
    moved = {(m["operator"], m["key_group"]): m["to"] for m in moves(given)}
    placed = dict(zip((("join", g) for g in range(6)), ["n1", "n1", "n3", "n3", "n5", "n5"], strict=True))
    placed |= {("agg", g): f"n{g // 2 + 1}" for g in range(12)}
    return moved.get(name, placed[name])


def other_copy(given: Document, item: Document) -> str:
    """Return another node that holds a copy of its key group afterwards."""
    name = (item["operator"], item["key_group"])
    (after,) = (c["nodes"] for c in given["plan"]["checkpoints"] if (c["operator"], c["key_group"]) == name)
    return next(node for node in after if node != item["to"])


def of_join(given: Document) -> Document:
    return next(item for item in given["plan"]["new_copies"] if item["operator"] == "join")


def beside(given: Document) -> Any:
    """Put the copy of a group that is in zone a or b next to it."""
    zones = {"n1": "n2", "n2": "n1", "n5": "n6", "n6": "n5", "n4": "n8"}
    item = next(c for c in given["plan"]["new_copies"] if node_of(given, c) in zones)
    item["to"] = zones[node_of(given, item)]


#: By what is wrong: a plan, what makes it wrong, and the code.
WRONGS: dict[str, tuple[str, Change, str]] = {
    "an overloaded node": ("direct", lambda p: moves(p).clear(), "OVER_CAPACITY"),
    "load that is not even": ("even", lambda p: moves(p).clear(), "OVER_BALANCE"),
    "a node that stays empty": (
        "filled",
        lambda p: p["plan"].update(moves=[m for m in moves(p) if m["to"] != "n7"]),
        "NOT_FILLED",
    ),
    "a group on a node to be drained": ("drained", lambda p: moves(p).clear(), "NOT_DRAINED"),
    "a copy on a node to be drained": ("drained", lambda p: copied(p).update(to="n6"), "NOT_DRAINED"),
    "a node too full in a phase": (
        "direct",
        lambda p: p["plan"].update(moves=tour(p)),
        "OVER_PHASE_CAPACITY",
    ),
    "a copy with its group": ("drained", lambda p: copied(p).update(to=node_of(p, copied(p))), "COPY_WITH_PRIMARY"),
    "two copies on one node": (
        "drained",
        lambda p: of_join(p).update(to=other_copy(p, of_join(p))),
        "COPIES_ON_ONE_NODE",
    ),
    "a copy in the zone of its group": ("zones", beside, "COPY_IN_SAME_ZONE"),
    "too many moves": ("phases", lambda p: p["options"].update(max_moves=1), "OVER_BUDGET"),
    "too many bytes": ("phases", lambda p: p["options"].update(max_bytes=1.0), "OVER_BUDGET"),
    "too many bytes in a phase": ("phases", together, "OVER_BUDGET"),
    "too long a pause": ("phases", lambda p: p["options"].update(max_pause_s=1e-4), "OVER_PAUSE"),
    "a move that ends too late": ("notice", lambda p: p["options"].update(within_s=0.01), "OVER_NOTICE"),
    "a protocol without a checkpoint": ("direct", lambda p: first(p).update(protocol="cpa"), "WRONG_PROTOCOL"),
    "a protocol that was not asked for": ("assisted", lambda p: first(p).update(protocol="cpal"), "WRONG_PROTOCOL"),
    "no protocol": ("direct", lambda p: first(p).update(protocol="pigeon"), "WRONG_PROTOCOL"),
    "recovery of a node that is there": ("assisted", lambda p: first(p).update(protocol="recover"), "WRONG_PROTOCOL"),
    "a full checkpoint that is none": (
        "direct",
        lambda p: next(m for m in moves(p) if m["operator"] == "agg").update(protocol="lazy"),
        "WRONG_PROTOCOL",
    ),
    "from where it is not": ("direct", lambda p: first(p).update({"from": "n6"}), "WRONG_MOVE"),
    "to where it is": ("direct", lambda p: first(p).update(to=first(p)["from"]), "WRONG_MOVE"),
    "to a node that takes no tasks": ("direct", lambda p: first(p).update(to="n8"), "WRONG_MOVE"),
    "to a node to be drained": ("drained", lambda p: first(p).update(to="n6"), "WRONG_MOVE"),
    "a group twice": ("direct", lambda p: moves(p).append(dict(first(p))), "ASSIGNED_TWICE"),
    "checkpoints of a group twice": (
        "direct",
        lambda p: p["plan"]["checkpoints"].append(dict(p["plan"]["checkpoints"][0])),
        "ASSIGNED_TWICE",
    ),
    "a node that is not there": ("direct", lambda p: first(p).update(to="n99"), "UNKNOWN_NODE"),
    "a copy nowhere": ("direct", lambda p: p["plan"]["checkpoints"][0].update(nodes=["x"]), "UNKNOWN_NODE"),
    "no such node to be drained": ("drained", lambda p: p["plan"].update(remove_nodes=["n99"]), "UNKNOWN_NODE"),
    "a group that is not there": ("direct", lambda p: first(p).update(key_group=99), "UNKNOWN_KEY_GROUP"),
    "an operator without key groups": ("direct", lambda p: first(p).update(operator="source"), "UNKNOWN_KEY_GROUP"),
    "another latency": ("plain", lambda p: first(p).update(latency_s=0.5), "WRONG_COST"),
    "another completion": ("plain", lambda p: first(p).update(completion_s=0.5), "WRONG_COST"),
    "other bytes": ("plain", lambda p: first(p).update(bytes=1.0), "WRONG_COST"),
    "another pause": ("plain", lambda p: first(p).update(pause_s=9.0), "WRONG_COST"),
    "copies that stay": ("plain", lambda p: p["plan"]["checkpoints"].pop(), "WRONG_CHECKPOINTS"),
    "copies elsewhere": ("plain", lambda p: p["plan"]["checkpoints"][0].update(nodes=["n6"]), "WRONG_CHECKPOINTS"),
    "a copy that is not made anew": ("drained", lambda p: p["plan"]["new_copies"].pop(), "WRONG_CHECKPOINTS"),
    "a copy on a node that takes none": (
        "drained",
        lambda p: (copied(p).update(to=node_of(p, copied(p))), copied(p).update({"from": "n8"})),
        "WRONG_CHECKPOINTS",
    ),
    "a copy too many": (
        "plain",
        lambda p: p["plan"]["new_copies"].append({"operator": "agg", "key_group": 9, "from": "n5", "to": "n8"}),
        "WRONG_CHECKPOINTS",
    ),
    "a copy of other bytes": ("drained", lambda p: copied(p).update(bytes=1.0), "WRONG_CHECKPOINTS"),
    "a phase of more moves": ("plain", lambda p: p["plan"]["phases"][0].update(moves=9), "WRONG_PHASE"),
    "a shorter phase": ("plain", lambda p: p["plan"]["phases"][0].update(duration_s=0.0), "WRONG_PHASE"),
    "a phase less": ("plain", lambda p: p["plan"]["phases"].pop(), "WRONG_PHASE"),
    "a phase left out": ("plain", lambda p: moves(p)[-1].update(phase=99), "WRONG_PHASE"),
    "phases out of order": ("plain", lambda p: moves(p).reverse(), "WRONG_PHASE"),
    "a rollback of less": ("plain", lambda p: p["plan"]["rollback"].pop(), "WRONG_ROLLBACK"),
    "a rollback elsewhere": ("plain", lambda p: p["plan"]["rollback"][0].update(to="n6"), "WRONG_ROLLBACK"),
    "other nodes to fill": ("filled", lambda p: p["plan"].update(add_nodes=["n6"]), "CHANGES_DIFFER"),
    "no nodes to drain": ("drained", lambda p: p["plan"].update(remove_nodes=[]), "CHANGES_DIFFER"),
    "another figure": ("plain", lambda p: p["summary"]["after"].update(highest_utilisation=0.1), "SUMMARY_DIFFERS"),
    "another figure before": ("plain", lambda p: p["summary"]["before"].update(overloaded_nodes=9), "SUMMARY_DIFFERS"),
    "another pay-back": ("plain", lambda p: p["summary"]["payback"].update(payback_s=9.0), "SUMMARY_DIFFERS"),
    "phases that nobody would choose": (
        "phases",
        lambda p: p["summary"]["front"].append({"phases": 9, "longest_pause_s": 9.0, "duration_s": 9.0, "bytes": 1.0}),
        "SUMMARY_DIFFERS",
    ),
    "another value": ("plain", lambda p: p["objective"].update(value=1.0), "OBJECTIVE_DIFFERS"),
    "a bound above the value": ("plain", lambda p: p["objective"].update(bound=1.0, gap=None), "OBJECTIVE_DIFFERS"),
    "another criterion": ("plain", lambda p: p["objective"].update(name="bytes"), "OBJECTIVE_DIFFERS"),
    "no criterion": ("plain", lambda p: p["objective"].update(name="beauty"), "OBJECTIVE_DIFFERS"),
    "another capacity": ("plain", lambda p: p["options"].update(capacity_per_core=7.0), "OPTION_DIFFERS"),
    "another tolerance": ("even", lambda p: p["options"].update(tolerance=0.9), "OPTION_DIFFERS"),
}  # fmt: skip


def tour(given: Document) -> list[Document]:
    """Return moves that fill n2 above its limit before it is relieved, and end as those of the plan do."""
    more = [
        ("agg", 4, "n3"),
        ("agg", 5, "n3"),
        ("join", 2, "n3"),
        ("join", 3, "n3"),
        ("agg", 6, "n4"),
        ("agg", 7, "n4"),
    ]
    fill = [
        {"operator": o, "key_group": g, "from": a, "to": "n2", "phase": 0, "protocol": "direct"} for o, g, a in more
    ]
    return [*fill, *({**move, "phase": move["phase"] + 1} for move in moves(given))]


@pytest.mark.parametrize("name", WRONGS)
def test_what_is_wrong_is_found(name: str) -> None:
    made, change, code = WRONGS[name]
    given = plan(made)
    change(given)
    assert code in codes(given)


@pytest.mark.parametrize("name", ["an overloaded node", "load that is not even", "too many moves", "too long a pause"])
def test_a_plan_is_held_to_the_rules_that_it_names(name: str) -> None:
    made, change, code = WRONGS[name]
    given = plan(made)
    change(given)
    given = {**given, "rules": [], "summary": {}, "objective": None, "status": None}
    assert code not in codes(given)
    assert code in codes(given, strict=True)
    del given["rules"]
    assert code in codes(given)


def test_a_plan_made_by_hand() -> None:
    """It needs only moves, is carried out one by one by the cheapest protocols, and asks for no overload."""
    rescue = (("agg", 0, "n1", "n7"), ("join", 0, "n1", "n4"))
    roomy = {"options": {"capacity_per_core": 9.0}}
    assert codes(by_hand(*rescue)) == ["OVER_CAPACITY"]  # of n5, at a mean utilisation of 0.7
    assert codes({**by_hand(*rescue), **roomy}) == []
    assert codes({**by_hand(), **roomy}) == ["OVER_CAPACITY"]
    assert codes({**by_hand(), "options": {"overload": 1.6, "capacity_per_core": 9.0}}) == []
    found = ftplan.evaluate(load_plan(by_hand(*rescue)).value, job())
    assert (found["moves"], found["phases"], found["assisted-share"]) == (2.0, 2.0, 0.0)
    assert found["latency-s"] == pytest.approx(moves(plan("direct"))[0]["latency_s"] + 0.008, abs=1e-3)  # and lazily
    emptied = by_hand(*rescue, remove_nodes=["n6"], add_nodes=["n7"])
    assert codes(emptied).count("NOT_DRAINED") == 1
    assert codes(by_hand(("agg", 0, "n2", "n3"))).count("WRONG_MOVE") == 1
    assert codes(by_hand(*rescue, remove_nodes=["n99"])) == ["UNKNOWN_NODE"]


def test_keys_that_nobody_knows_are_ignored() -> None:
    given = plan("plain")
    given["later"] = given["plan"]["later"] = first(given)["later"] = {"a": 1}
    assert codes(given) == []


def test_planning_again_proves_the_bound() -> None:
    given = plan("plain")
    assert codes(given, prove=True, time_limit_s=3600.0) == []
    low = copy.deepcopy(given)
    low["plan"] = {"moves": moves(plan("direct"))}  # far worse than the bound, with a bound of its own
    low["summary"], low["status"] = {}, "feasible"
    value = sum(move["latency_s"] for move in moves(low))
    low["objective"] = {**given["objective"], "value": value, "bound": value, "scale": None, "gap": None}
    assert codes(low) == []
    assert codes(low, prove=True, time_limit_s=3600.0) == ["BOUND_REFUTED"]


#: What may be changed without saying anything false: the question, words, and figures of other plans.
FREE = ("options", "inputs", "warnings", "reason", "rules", "tool_version", "algorithm", "seed", "format_version")
FREE_PARTS = (("objective", "bound"), ("summary", "front"), ("summary", "assisted"))


def places(item: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of numbers and texts."""
    if isinstance(item, dict):
        return [spot for key, value in item.items() for spot in places(value, (*place, key))]
    if isinstance(item, list):
        return [spot for number, value in enumerate(item) for spot in places(value, (*place, number))]
    counts = isinstance(item, (int, float, str)) and not isinstance(item, bool)
    return [place] if counts and place[0] not in FREE and place[:2] not in FREE_PARTS and place[-1] != "reason" else []


def test_whatever_number_or_node_is_changed_is_noticed() -> None:
    """One at random, in plans of every sort."""
    documents = {name: plan(name) for name in PLANS}
    spots = {name: places(given) for name, given in documents.items()}
    problem, kept = job(), []
    for seed in range(examples(200)):
        rng = random.Random(seed)
        name = rng.choice(list(PLANS))
        given = copy.deepcopy(documents[name])
        *way, last = rng.choice(spots[name])
        inside: Any = given
        for key in way:
            inside = inside[key]
        before = inside[last]
        if isinstance(before, str):
            nodes = [node for node in ("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n99") if node != before]
            inside[last] = rng.choice(nodes) if before.startswith("n") else f"{before}x"
        else:
            inside[last] = before + rng.choice([1, -1, 5]) if isinstance(before, int) else before * 1.01 + 1e-3
        try:
            right = codes(given, problem) == []
        except FtplanError:
            right = False
        if right:
            kept.append((name, way, last, before, inside[last]))
    assert kept == []

"""Explanations, differences and suggestions for a small job."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from ftplan.api import diff, evaluate, explain
from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from tests.planners.rebalance.cases import CLUSTER, job, planned


@cache
def made(**options: Any) -> Plan:
    return planned(job(), **options)


def explained(plan: Plan, selector: str) -> Any:
    return explain(plan, job(), selector)


def moves(plan: Plan) -> list[dict[str, Any]]:
    assert plan.plan is not None, plan.reason
    return list(plan.plan["moves"])


def test_every_move_and_every_node_has_its_reason() -> None:
    plan = made()
    for move in moves(plan):
        said = explained(plan, f"key-group:{move['operator']}/{move['key_group']}")
        assert f"moves from {move['from']} to {move['to']} by {move['protocol']}" in said.title
        assert [row["node"] for row in said.rows if row["chosen"]] == [move["to"]]
        assert {row["node"] for row in said.rows} == {node["id"] for node in CLUSTER["nodes"]}
        assert any(note.startswith("if it stayed") for note in said.notes)
        assert any(move["reason"] in note for note in said.notes)
        assert json.loads(said.to_json())["rows"][0].keys() == set(said.columns)


def test_a_key_group_that_stays_says_so() -> None:
    plan = made()
    gone = {(move["operator"], move["key_group"]) for move in moves(plan)}
    group = next(k for k in range(12) if ("agg", k) not in gone)
    said = explained(plan, f"key-group:agg/{group}")
    assert "stays on" in said.title
    assert "it can stay" in said.notes[1]


def test_a_node_and_its_zone_count_alike() -> None:
    plan = made()
    by_node = {node["id"]: explained(plan, f"node:{node['id']}") for node in CLUSTER["nodes"]}
    for node, said in by_node.items():
        ways = [row["way"] for row in said.rows]
        assert ways.count("comes") == sum(move["to"] == node for move in moves(plan))
        assert ways.count("goes") == sum(move["from"] == node for move in moves(plan))
    for zone in ("a", "b", "c"):
        for row in explained(plan, f"zone:{zone}").rows:
            ways = [r["way"] for r in by_node[row["node"]].rows]
            assert (row["comes"], row["goes"]) == (ways.count("comes"), ways.count("goes"))


def test_an_operator_lists_its_moves() -> None:
    plan = made()
    counts = {name: len(explained(plan, f"operator:{name}").rows) for name in ("agg", "join")}
    assert counts == {name: sum(m["operator"] == name for m in moves(plan)) for name in counts}


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("task:agg/1", "explains key-group:OPERATOR/NUMBER"),
        ("node:n77", "unknown node"),
        ("zone:z", "no node of the cluster is in this zone"),
        ("key-group:agg/99", "no such key group"),
        ("operator:source", "no key groups that could move"),
    ],
)
def test_what_is_not_there_is_named(selector: str, says: str) -> None:
    with pytest.raises(FtplanError, match=says):
        explained(made(), selector)


def test_a_plan_differs_from_itself_in_nothing() -> None:
    same = diff(made(), made())
    assert not same.changed
    assert json.loads(same.to_json())["key_groups_changed"] == 0


def test_a_difference_names_each_key_group_that_ends_elsewhere() -> None:
    """Read off the lists of moves by another way: where each group is in the end."""
    plans = made(), made(remove=("n1",))
    ends = [{(m["operator"], m["key_group"]): m["to"] for m in moves(plan)} for plan in plans]
    told = diff(*plans)
    elsewhere = {g for g in {*ends[0], *ends[1]} if ends[0].get(g) != ends[1].get(g)}
    named = {(c["operator"], c["key_group"]) for c in told.changes if c["what"] in ("move", "to")}
    assert elsewhere <= named
    figures = json.loads(told.to_json())["figures"]
    assert figures["moves"] == {"from": len(moves(plans[0])), "to": len(moves(plans[1]))}


@pytest.mark.parametrize(
    ("factor", "band", "action"), [(1.0, "0.5-0.6", "add"), (1.0, "0.4-0.8", "none"), (0.4, "0.5-0.8", "remove")]
)
def test_a_suggestion_that_is_followed_reaches_the_band(factor: float, band: str, action: str) -> None:
    """What it says comes true: the mean utilisation of the nodes in use, recomputed from the plan that it leads to."""
    low, high = map(float, band.split("-"))
    said = planned(job(factor=factor), suggest=True, band=band).summary["suggestion"]
    assert (said["action"], said["in_band"], said["fewest"]) == (action, True, True)
    assert low - 1e-9 <= said["utilisation_after"] <= high + 1e-9
    nodes = [*CLUSTER["nodes"], *said["new_nodes"]]
    named = (*said["nodes"], *(node["id"] for node in said["new_nodes"]))
    plan = planned(job(factor=factor, nodes=nodes), **({} if action == "none" else {action: named}))
    cpu = {node["id"]: node["cpu"] for node in nodes}
    used = {row["node"] for row in plan.summary["nodes"] if row["before"]} - {"n7"}
    used = used - set(named) if action == "remove" else used | set(named)
    load = sum((row["after"] or 0.0) * cpu[row["node"]] for row in plan.summary["nodes"])  # some may be on idle nodes
    assert load / sum(cpu[name] for name in used) == pytest.approx(said["utilisation_after"])


@pytest.mark.parametrize(
    ("moves", "says"),
    [
        ([{"to": "n9"}], "no node 'n9'"),
        ([{"to": "n2", "operator": "source"}], "there is no key-group:source/6"),
        ([{"to": "n2", "protocol": "teleport"}], "'teleport' is no protocol"),
        ([{"to": "n2"}, {"to": "n3"}], "moves twice"),
    ],
)
def test_a_plan_by_hand_that_names_what_is_not_there(moves: list[dict[str, Any]], says: str) -> None:
    listed = [{"operator": "agg", "key_group": 6, "from": "n4", **move} for move in moves]
    document = {"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": listed}}
    for ask in (lambda: explain(document, job(), "node:n2"), lambda: evaluate(document, job())):
        with pytest.raises(FtplanError, match=says):
            ask()

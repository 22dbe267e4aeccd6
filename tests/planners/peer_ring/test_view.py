"""Tables of peer rings from plans made by hand: what they leave out, and what does not fit onto a screen."""

from __future__ import annotations

from typing import Any

from ftplan.model.plan import Infeasible, Plan
from ftplan.planners.peer_ring.view import answer
from ftplan.planners.views import SHOWN
from ftplan.reports.answer import Table


def tables(body: dict[str, Any] | None, **summary: Any) -> dict[str, Table]:
    """The tables of a plan, by the head of their first column."""
    shown = answer(Plan("peer-ring", body, summary=summary)).tables
    return {str(table.columns[0]): table for table in shown}


def ring(nodes: int, tokens: int = 1) -> list[dict[str, Any]]:
    total = nodes * tokens
    return [{"node": f"n{k % nodes + 1}", "token": k / total, "load": float(k % nodes)} for k in range(total)]


def test_a_ring_of_nodes_and_tokens_alone() -> None:
    shown = tables({"ring": ring(3)})
    assert list(shown) == ["peer ring", "node"]
    assert [row[0] for row in shown["node"].rows] == ["n1", "n2", "n3"]
    assert shown["node"].columns[:2] == ("node", "token")
    assert shown["node"].rows[1][1] == "0.333333333"
    assert list(tables({"ring": []})) == ["peer ring"]


def test_many_nodes_are_cut_to_the_most_loaded() -> None:
    table = tables({"ring": ring(100)})["node"]
    assert [row[0] for row in table.rows[:2]] == ["n100", "n99"]
    shown = table.first(None, "the JSON has all")
    assert len(shown.rows) == SHOWN
    assert shown.title == "the most loaded first: first 40 … and 60 more (the JSON has all)"


def test_nodes_of_many_tokens_are_rows_by_name() -> None:
    shown = tables({"ring": ring(12, 5)})
    assert [row[0] for row in shown["node"].rows] == [f"n{k + 1}" for k in range(12)]
    assert shown["node"].rows[1][1:3] == (5, 5.0)
    assert ("nodes", "12 with 60 tokens") in shown["peer ring"].rows


def test_no_plan_says_why() -> None:
    why = Infeasible("too few places", "key-groups", 4, 6, "--remove n1")
    plan = Plan("peer-ring", None, algorithm="exact", status="infeasible", reason="too few places", infeasible=why)
    (table,) = answer(plan).tables
    assert ("smallest fix", "--remove n1") in table.rows
    assert not answer(plan).notes


def test_what_comes_of_take_overs() -> None:
    base = {"node": "n2", "run": ["n1"], "arcs": 1, "key_groups": 3, "utilisation": 1.2, "overloaded": True}
    told = {
        "balance": ({"asks": ["n3"]}, "overloaded: n3 takes half"),
        "scale-out": ({}, "overloaded: scale out"),
        "nothing": ({}, "overloaded: all its load is in one place"),
    }
    for follows, (more, text) in told.items():
        body = {"ring": ring(3), "takeovers": [{**base, "follows": follows, **more}]}
        assert tables(body)["after the failure"].rows[0][-1] == text
    body = {"ring": ring(3), "takeovers": [{**base, "follows": "balance", "asks": ["n3", "n4"]}]}
    assert tables(body)["after the failure"].rows[0][-1] == "overloaded: n3 takes half, since n4 has room"
    body = {"ring": ring(3), "takeovers": [{"node": "n3", "arcs": 0, "restore_bytes": 5.0, "restored_s": None}]}
    assert tables(body)["after the failure"].rows[0][4:] == ("–", "–", None, None, 5, "never", "")


def test_bounds_of_what_is_not_exact() -> None:
    known = {
        "copies": 2,
        "best_case": {"low": 3, "high": 5, "example": None},
        "survival": {"loss_probability": 0.001, "loss_low": 0.0005, "loss_high": 0.001, "method": "bounded"},
        "one_zone": {"harmless": False},
        "fatal_zones": {"size": 1, "count": 9, "heaviest": [{"zones": ["a"]}, {"zones": ["b"]}]},
    }
    said = {row[0]: row[1] for row in tables({"ring": ring(3), "tolerance": known})["when nodes fail together"].rows}
    assert said["nothing is lost with"] == "any 1 node"
    assert said["at best with"] == "3 to 5 nodes"
    assert said["and by whole zones"] == "a, b and 7 more alone"
    assert said["loss within one repair window"] == "1 in 1,000 (0.001, between 0.0005 and 0.001; bounded)"


def test_unknown_is_not_never() -> None:
    worst = {name: {"node": "n1", "value": None} for name in ("memory_bytes", "caught_up_s")}
    said = {row[0]: row[1] for row in tables({"ring": ring(3), "estimates": {"worst": worst}})["estimates"].rows}
    assert said["most memory as a backup, bytes"] == "unknown (n1)"
    assert said["longest mean time until caught up, s"] == "never (n1)"


def test_of_many_take_overs_the_fullest_stand_first() -> None:
    taken = [{"node": f"n{k}", "arcs": k % 2, "utilisation": k / 10} for k in range(100)]
    table = tables({"ring": ring(3), "takeovers": taken})["after the failure"]
    assert [row[0] for row in table.rows[:3]] == ["n99", "n97", "n95"]
    assert len(table.first(None, "").rows) == SHOWN


def test_many_runs_of_neighbours_are_cut_to_the_shortest_and_the_longest() -> None:
    runs = [{"nodes": k, "taker": "n1", "ready_s": float(k), "caught_up_s": None} for k in range(1, 51)]
    rows = tables({"ring": ring(60), "estimates": {"runs": runs}})["estimates"].rows
    assert [str(row[0]).split()[0] for row in rows] == ["2", "3", "4", "5", "6", "50"]

"""What a page says of a peer ring, from plans made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.plan import Objective, Plan
from ftplan.planners.peer_ring.figure import (
    ARCS,
    Arc,
    chance,
    failed,
    figures,
    highlights,
    lead,
    nodes,
    ring,
    sent,
    tokens,
)
from ftplan.reports.drawing import Line, Text
from ftplan.reports.plot_file import png


def by_hand(**more: Any) -> Plan:
    """Four nodes in two zones; n2 and n3 fail, which loses two key groups of n2."""
    zones = {"n1": "a", "n2": "b", "n3": "a", "n4": "b"}
    listed = [
        {"node": node, "zone": zones[node], "token": at, "load": 8.0 * at + 1.0, "key_groups": 2, "state_bytes": 64.0}
        for node, at in (("n1", 0.0), ("n2", 0.25), ("n3", 0.5), ("n4", 0.75))
    ]
    body: dict[str, Any] = {"ring": listed, "after_failure": [listed[0], {**listed[3], "token": 0.25}]}
    body["lost"] = [{"operator": "sums", "key_group": group} for group in (2, 3)]
    body["tolerance"] = {
        "survival": {"loss_probability": 0.001},
        "without_tier": {"survival": {"loss_probability": 0.01}},
    }
    body["moves"] = [
        {"event": "re-plan", "from": "n1", "to": "n2", "transfer_bytes": 2**20, "rereplicate_bytes": 2**20},
        {"event": "failure", "from": "n2", "to": "n4", "transfer_bytes": 0.0, "rereplicate_bytes": 7.0},
    ]
    summary = {
        "nodes": [{"node": node, "zone": zones[node], "share": 0.25 + 0.5 * k} for k, node in enumerate(zones)],
        "after": {"largest_load": 1.75, "zone_violations": 0},
        "random": {"largest_load": 3.0, "loss_probability": 0.02},
    }
    objective = Objective("largest-load", "min", 1.75, 1.5, 1.75, 1 / 7)
    return Plan("peer-ring", {**body, **more}, objective=objective, summary=summary)


def test_the_lead_says_what_stands_where_and_what_fails() -> None:
    said = " ".join(lead(by_hand())).replace("\u00a0", " ")
    for part in (
        "4 nodes stand on the ring.",
        "The most loaded one has 1.75 times its fair share; at best 1.5.",
        "All copies of a key group lie in different zones.",
        "2 MiB travel.",
        "If n2, n3 fail, 2 key groups are lost.",
    ):
        assert part in said
    assert lead(Plan("peer-ring", {"ring": [{"node": "n1", "token": 0.5}]})) == ["1 node stands on the ring."]


def test_what_fails_and_what_is_sent() -> None:
    assert failed(by_hand()) == {"n2", "n3"}
    assert failed(by_hand(after_failure=None)) == set()
    summary = {**by_hand().summary, "failure": {"nodes": ["n2", "vault"]}}
    assert failed(replace(by_hand(), summary=summary)) == {"n2", "vault"}  # a node that only holds copies too
    assert "If n2, vault fail, 2 key groups are lost." in lead(replace(by_hand(), summary=summary))
    assert sent(by_hand()) == 2.0**21
    assert sent(by_hand(moves=[{"event": "balance", "transfer_bytes": None, "rereplicate_bytes": 1.0}])) is None


def test_highlights_stand_beside_what_they_are_held_against() -> None:
    shown = {item.what: (item.value, item.beside) for item in highlights(by_hand())}
    assert shown["Largest load, of the fair share"] == ("1.75", "random tokens: 3")
    assert shown["Loss in one repair window"] == ("1 in 1,000", "without the tier: 1 in 100, random tokens: 1 in 50")
    assert shown["Key groups lost"] == ("2", "")


def test_what_the_plan_does_not_state_is_not_drawn() -> None:
    titles = [item.title for item in figures(by_hand())]
    assert titles == ["The ring", "Load by node", "The ring after the failure", "Loss of data"]
    bare = Plan("peer-ring", {"ring": [{"node": "n1", "token": 0.5}, {"node": "n2", "token": 5}]})
    assert [item.title for item in figures(bare)] == ["The ring"]
    assert list(figures(Plan("peer-ring", {"ring": []}))) == []


def test_tokens_of_a_node_add_up_where_the_summary_is_silent() -> None:
    listed = [{"node": name, "token": k / 4, "load": 1.0} for k, name in enumerate(("n10", "n2", "n10", "n2"))]
    plan = Plan("peer-ring", {"ring": listed})
    assert [(item["node"], item["tokens"], item["load"]) for item in nodes(plan)] == [("n2", 2, 2.0), ("n10", 2, 2.0)]
    assert len(tokens(plan)) == 4


def test_chances() -> None:
    assert [chance(value) for value in (0.0, 1e-4, 0.25)] == ["none", "1 in 10,000", "0.25"]


@given(st.lists(st.floats(0.0, 0.999), min_size=1, max_size=60, unique=True), st.sampled_from((326.0, 940.0)))
def test_arcs_fill_the_circle_and_stay_on_the_sheet(places: list[float], width: float) -> None:
    """Their lengths add up to one turn, whatever the tokens; every point and name lies on the sheet."""
    places.sort()
    arcs = [Arc(at, places[(k + 1) % len(places)], f"worker-{k}", "s0", "", (k % 5) / 2) for k, at in enumerate(places)]
    assert math.fsum(arc.length for arc in arcs) == pytest.approx(1.0)
    drawn = ring(arcs, width)
    for shape in drawn.shapes:
        points = shape.points if isinstance(shape, Line) else ((shape.x, shape.y),)
        assert all(-1e-6 <= x <= drawn.width + 1e-6 and 0.0 <= y <= drawn.height for x, y in points)
    names = [shape for shape in drawn.shapes if isinstance(shape, Text) and shape.text.startswith("worker")]
    assert names
    assert sum(shape.style == "s0" for shape in drawn.shapes) == len(places)


def test_a_ring_of_many_tokens_is_told_by_its_bars() -> None:
    listed = [{"node": f"n{k}", "token": k / (ARCS + 1)} for k in range(ARCS + 1)]
    plan = Plan("peer-ring", {"ring": listed}, summary={"nodes": [{"node": "n1", "share": 2.0}]})
    assert [item.title for item in figures(plan)] == ["Load by node"]


def test_a_picture_of_arcs_is_filled() -> None:
    """One arc that goes all around, of a style with a fill: the file is larger than that of an outline."""
    arc = Arc(0.25, 0.25, "n1", "value", "")
    assert len(png(ring([arc], 300.0))) != len(png(ring([Arc(0.25, 0.25, "n1", "axis", "")], 300.0)))

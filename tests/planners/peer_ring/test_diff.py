from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.planners.peer_ring.diff import RingDifference, diff
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.moves import held_at, moved_bytes
from ftplan.planners.peer_ring.ring import written_token
from tests.planners.peer_ring.cases import EVEN, SPARE, job, planned

JOB = job()


def hand(*tokens: tuple[str, float], **options: Any) -> Plan:
    ring = [{"node": node, "token": written_token(token)} for node, token in tokens]
    return Plan("peer-ring", {"ring": ring}, options=options)


def between(before: Plan, after: Plan, problem: ftplan.Problem | None = JOB) -> RingDifference:
    found = diff(before, after, problem)
    assert isinstance(found, RingDifference)
    json.loads(found.to_json())
    return found


THREE = hand(("n1", 0.0), ("n3", 1 / 3), ("n5", 2 / 3))


def test_the_same_ring_changes_nothing() -> None:
    even = Plan("peer-ring", EVEN["plan"])
    again = Plan("peer-ring", {"ring": EVEN["plan"]["ring"][::-1]})
    found = between(even, again)
    assert not found.changed
    assert found.details["bytes"] == 0.0
    assert not between(even, again, None).changed


def test_key_groups_whose_owner_or_copies_change_are_listed() -> None:
    moved = hand(("n1", 0.0), ("n3", 0.5), ("n5", 2 / 3))
    found = between(THREE, moved)
    owners = [(c["operator"], c["key_group"], c["from"], c["to"]) for c in found.changes if c["what"] == "owner"]
    assert owners == [("agg", 4, "n3", "n1"), ("agg", 5, "n3", "n1"), ("join", 2, "n3", "n1")]
    backups = {(c["operator"], c["key_group"]): (c["from"], c["to"]) for c in found.changes if c["what"] == "backups"}
    assert backups == {("agg", 4): (["n5"], ["n3"]), ("agg", 5): (["n5"], ["n3"]), ("join", 2): (["n5"], ["n3"])}
    # n1 holds nothing of them yet, n3 does: what was measured of the three
    state = question_of(THREE, JOB).problem
    assert found.details["bytes"] == float(state.state[4] + state.state[5])
    assert found.details["key_groups_changed"] == 3
    assert found.details["owners_changed"] == 3


def test_without_a_topology_ranges_change() -> None:
    moved = hand(("n1", 0.0), ("n3", 0.5), ("n5", 2 / 3))
    found = between(THREE, moved, None)
    assert [(c["range"], c["what"]) for c in found.changes] == [
        ([written_token(1 / 3), 0.5], "owner"),
        ([written_token(1 / 3), 0.5], "backups"),
    ]
    assert (found.key_groups, found.details["bytes"]) == (0, None)
    turned = between(hand(("n1", 0.25), ("n3", 0.5)), hand(("n3", 0.25), ("n1", 0.5)), None)
    assert [c["range"] for c in turned.changes if c["what"] == "owner"] == [[0.25, 0.5], [0.5, 0.25]]


def test_more_copies_are_a_change() -> None:
    found = between(THREE, hand(("n1", 0.0), ("n3", 1 / 3), ("n5", 2 / 3), replication=2))
    assert {change["what"] for change in found.changes} == {"backups"}
    assert found.details["key_groups_changed"] == 18
    assert found.details["bytes"] == float(question_of(THREE, JOB).problem.state.sum())


def test_rings_of_other_operators_cannot_be_compared() -> None:
    with pytest.raises(FtplanError, match="no operator in common"):
        between(hand(("n1", 0.0), operator=["agg"]), hand(("n1", 0.0), operator=["join"]))
    only = between(hand(("n1", 0.0), ("n3", 0.5), operator=["join"]), hand(("n1", 0.0), ("n3", 0.5)))
    assert only.key_groups == 6


def test_figures_are_those_that_plans_state() -> None:
    plan = planned(JOB)
    grown = planned(JOB, current=plan, remove=[], add=[SPARE])
    found = between(plan, grown)
    assert found.figures["nodes"] == (6, 7)
    assert found.figures["largest_load"][1] == grown.objective.value if grown.objective else False
    assert found.figures["survival"][0] == (plan.plan or {})["tolerance"]["survival"]["survival"]
    assert found.changed


@st.composite
def rings(draw: st.DrawFn) -> Plan:
    nodes = draw(st.permutations([f"n{k}" for k in range(1, 8)]))[: draw(st.integers(3, 6))]
    places = sorted(draw(st.permutations(range(12)))[: len(nodes)])
    return hand(
        *((node, place / 12) for node, place in zip(nodes, places, strict=True)), replication=draw(st.integers(0, 2))
    )


@settings(max_examples=20)
@given(rings(), rings())
def test_differences_are_those_of_all_key_groups(before: Plan, after: Plan) -> None:
    found = between(before, after)
    asked = [question_of(plan, JOB).problem for plan in (before, after)]
    held = [held_at(problem, ring_of(plan, problem)) for problem, plan in zip(asked, (before, after), strict=True)]
    moved = {(c["operator"], c["key_group"]) for c in found.changes}
    for number, name in enumerate(zip(asked[0].operators, asked[0].key_group.tolist(), strict=True)):
        was, becomes = (some[asked[0].atom[number]].tolist() for some in held)
        assert (name in moved) == (was[0] != becomes[0] or sorted(was) != sorted(becomes))
    new = [len(set(b) - set(a)) for a, b in zip(*(some.tolist() for some in held), strict=True)]
    assert found.details["bytes"] == pytest.approx(float(np.dot(new, asked[0].state)))
    if asked[0].replication == asked[1].replication:
        was_ring, new_ring = (ring_of(plan, asked[0]) for plan in (before, after))
        assert found.details["bytes"] == pytest.approx(moved_bytes(asked[0], was_ring, new_ring))

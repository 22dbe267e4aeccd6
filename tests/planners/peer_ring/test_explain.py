from __future__ import annotations

import re
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.names import parse_selector
from ftplan.model.plan import Plan
from ftplan.planners.assessments import Explanation
from ftplan.planners.peer_ring.explain import explain
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import written_token
from tests.planners.peer_ring.cases import EVEN, SPARE, job, planned


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return job()


@pytest.fixture(scope="module")
def plan(problem: ftplan.Problem) -> Plan:
    return planned(problem)


def told(plan: Plan, problem: ftplan.Problem, selector: str) -> Explanation:
    return explain(plan, problem, parse_selector(selector))


def by_hand(**options: Any) -> Plan:
    return Plan("peer-ring", EVEN["plan"], options=options)


def question(plan: Plan, problem: ftplan.Problem) -> RingProblem:
    return question_of(plan, problem).problem


def test_a_key_group_belongs_to_the_token_before_it(problem: ftplan.Problem) -> None:
    said = told(by_hand(), problem, "key-group:agg/5")  # at 5/12, between n5 at 1/3 and n2 at 1/2
    assert said.title == "key-group:agg/5: belongs to n5, with copies on n2"
    assert [row["holds"] for row in said.rows] == ["owner", "backup 1"]
    assert said.rows[0]["token"] == pytest.approx(1 / 3)
    assert "these 2 nodes are in different zones" in said.notes
    assert "if n5 fails, n2 goes on from its copy" in said.notes


def test_every_other_cut_is_priced_as_the_ring_itself(plan: Plan, problem: ftplan.Problem) -> None:
    asked = question(plan, problem)
    ring = ring_of(plan, asked)
    seen = 0
    for name in ring.nodes.tolist():
        said = told(plan, problem, f"node:{asked.nodes[name]}")
        assert sum(row["chosen"] for row in said.candidates) == 1
        for row in said.candidates:
            token = row["token"]
            entries = [
                {**item, "token": token if item["node"] == row["node"] else item["token"]}
                for item in (plan.plan or {})["ring"]
            ]
            other = ring_of(Plan("peer-ring", {"ring": entries}), asked)
            assert row["largest load"] == asked.largest_load(other)
            assert row["load of the node"] == asked.loads(other)[name]
            worse = row["largest load"] > asked.largest_load(ring) * (1.0 + 1e-9)
            assert (row["ruled out by"] == "largest load") == (worse and not row["chosen"])
            seen += not row["chosen"]
    assert seen > 3


def test_nothing_is_better_than_the_best(plan: Plan, problem: ftplan.Problem) -> None:
    assert plan.status == "optimal"
    for name in ("n1", "n2", "n3", "n4", "n5", "n6"):
        assert not any("not the best" in note for note in told(plan, problem, f"node:{name}").notes)


def test_a_ring_that_is_not_the_best_says_so(problem: ftplan.Problem) -> None:
    notes = [note for name in ("n1", "n3") for note in told(by_hand(), problem, f"node:{name}").notes]
    assert any("not the best" in note for note in notes)


def test_a_rule_of_the_plan_rules_cuts_out(plan: Plan, problem: ftplan.Problem) -> None:
    limited = planned(problem, target_load=float(plan.objective.value or 0.0) if plan.objective else None)
    assert "target-load" in (limited.rules or ())
    ruled = [row for name in ("n1", "n2", "n3") for row in told(limited, problem, f"node:{name}").candidates]
    over = [row for row in ruled if row["ruled out by"] == "OVER_LOAD"]
    assert over
    assert all(row["would be"] > row["limit"] for row in over)


def test_bytes_rule_cuts_out_where_a_ring_is_in_place(plan: Plan, problem: ftplan.Problem) -> None:
    again = planned(problem, current=plan, remove=[])
    rows = [
        row for name in ("n1", "n2", "n3", "n4", "n5", "n6") for row in told(again, problem, f"node:{name}").candidates
    ]
    assert {row["ruled out by"] for row in rows} == {None, "largest load", "bytes"}
    assert all(row["chosen"] for row in rows if row["ruled out by"] is None)
    said = told(again, problem, "key-group:agg/3")
    assert "its owner stays; no copy travels" in said.notes


def test_a_failure_is_told_of_who_has_a_copy(plan: Plan, problem: ftplan.Problem) -> None:
    asked = question(plan, problem)
    ring = ring_of(plan, asked)
    first, second = (asked.nodes[node] for node in ring.node[:2].tolist())
    group = f"key-group:agg/{round(float(ring.token[0]) * 12)}"
    one = planned(problem, current=plan, remove=[], fail=[f"node:{first}"])
    assert f"after the failure of {first} {second} has a copy to go on from" in told(one, problem, group).notes
    both = planned(problem, current=plan, remove=[], fail=[f"node:{first}", f"node:{second}"])
    assert "the failure loses it: all nodes that hold it are dead" in told(both, problem, group).notes
    backup = planned(problem, current=plan, remove=[], fail=[f"node:{second}"])
    assert f"the failure leaves its owner, and takes its copies on {second}" in told(backup, problem, group).notes


def test_a_node_beside_the_ring_says_why(plan: Plan, problem: ftplan.Problem) -> None:
    assert told(plan, problem, f"node:{SPARE}").notes == ("it leaves the ring, or is left out of it (--remove)",)
    assert told(plan, problem, "node:v1").notes == ("it takes no tasks (accepts in the cluster file)",)
    again = planned(problem, current=plan, remove=[])
    assert told(again, problem, f"node:{SPARE}").notes == (
        "it could be on the ring: --add lets it join a ring in place",
    )


def test_a_zone_says_what_its_loss_loses(plan: Plan, problem: ftplan.Problem) -> None:
    assert "its loss loses nothing" in told(plan, problem, "zone:a").notes
    neighbours = [
        {"node": node, "token": written_token(place / 6)}
        for place, node in enumerate(("n1", "n2", "n3", "n4", "n5", "n6"))
    ]
    bad = told(Plan("peer-ring", {"ring": neighbours}), problem, "zone:a")
    assert "1 of 6 arcs have two copies or more in it" in bad.notes
    assert any(note.startswith("its loss loses 3 key groups") for note in bad.notes)  # agg/0, agg/1 and join/0
    assert "are both in zone a" in " ".join(
        told(Plan("peer-ring", {"ring": neighbours}), problem, "key-group:agg/0").notes
    )


def test_an_operator_is_where_its_key_groups_are(plan: Plan, problem: ftplan.Problem) -> None:
    said = told(plan, problem, "operator:join")
    assert sum(row["key groups"] for row in said.rows) == 6
    assert sum(row["share of its load"] for row in said.rows) == pytest.approx(1.0)
    assert "it shares the ring with agg: loads add up" in said.notes


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("task:agg/0", "explains key-group:OPERATOR/NUMBER, node:ID, zone:ID and operator:ID"),
        ("key-group:agg/99", "there is no such key group on the ring"),
        ("node:n77", "unknown node 'n77'"),
        ("zone:nowhere", "no node of the cluster is in this zone"),
        ("operator:source", "no operator of the ring: these are agg, join"),
    ],
)
def test_what_is_not_there_is_refused(plan: Plan, problem: ftplan.Problem, selector: str, text: str) -> None:
    with pytest.raises(FtplanError, match=re.escape(text)):
        told(plan, problem, selector)

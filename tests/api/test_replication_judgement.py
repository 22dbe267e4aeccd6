"""verify, evaluate, explain and diff of replication plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.io.plan_file import load_plan
from tests.api.replication_cases import loaded, planned


def by_hand(*replicas: tuple[str, int, str | None], **more: Any) -> ftplan.Plan:
    entries = [{"operator": operator, "index": index, "node": node} for operator, index, node in replicas]
    envelope = {"format": "ftplan/plan", "format_version": "1.0", "kind": "task-replication"}
    return load_plan({**envelope, "plan": {"replicas": entries}, **more}).value


def found(plan: ftplan.Plan, strict: bool = False, **changes: Any) -> list[str]:
    return [violation.code for violation in verify(plan, loaded(**changes), strict=strict).violations]


@pytest.mark.parametrize(
    ("plan", "strict", "expected"),
    [
        (by_hand(("sink", 0, "n4")), True, []),
        (by_hand(("sink", 0, None)), True, ["NODE_MISSING"]),
        (by_hand(("sink", 9, "n4")), False, ["UNKNOWN_TASK"]),
        (by_hand(("sinks", 0, "n4")), False, ["UNKNOWN_TASK"]),
        (by_hand(("sink", 0, "n4"), ("sink", 0, "n4")), False, ["ASSIGNED_TWICE"]),
        (by_hand(("sink", 0, "n9")), False, ["UNKNOWN_NODE"]),
        (by_hand(("sink", 0, "n1")), False, ["REPLICA_WITH_PRIMARY"]),
        (by_hand(("sink", 0, "n2")), False, []),
        (by_hand(("sink", 0, "n2")), True, ["REPLICA_IN_SAME_ZONE"]),
        (by_hand(("sink", 0, "n4"), options={"budget": 0}), False, ["OVER_BUDGET"]),
        (by_hand(("sink", 0, "n4"), options={"target": 0.5}), False, ["BELOW_TARGET"]),
    ],
)
def test_codes(plan: ftplan.Plan, strict: bool, expected: list[str]) -> None:
    assert found(plan, strict) == expected


def test_capacity_and_memory_of_nodes() -> None:
    nodes = [
        {"id": "n1", "cpu": 4, "zone": "a"},
        {"id": "n2", "cpu": 4, "zone": "a"},
        {"id": "n3", "cpu": 1.5, "zone": "b"},
        {"id": "n4", "cpu": 4, "memory_mb": 1},
        {"id": "n5", "cpu": 4, "accepts": ["checkpoints"]},
    ]
    assert found(by_hand(("source", 0, "n3")), True, nodes=nodes) == ["OVER_CAPACITY"]
    assert found(by_hand(("source", 0, "n4"), ("source", 1, "n4")), True, nodes=nodes) == ["OVER_CAPACITY"]
    assert found(by_hand(("source", 0, "n5")), True, nodes=nodes) == ["OVER_CAPACITY"]
    assert found(by_hand(("source", 0, "n4")), True, nodes=nodes) == []


def test_a_stated_objective_is_recomputed() -> None:
    document = json.loads(planned(loaded(), budget=2).to_json())
    assert found(load_plan(document).value) == []
    document["objective"]["value"] = 0.6
    document["objective"]["bound"] = 0.4
    codes = ["OBJECTIVE_DIFFERS", "OBJECTIVE_DIFFERS", "GAP_DIFFERS", "STATUS_DIFFERS"]
    assert found(load_plan(document).value) == codes


def test_a_changed_input_is_stale() -> None:
    plan = planned(loaded(), budget=2)
    assert found(plan, network={"delay_s": 1}) == ["STALE_INPUT"]


def test_evaluate_under_other_failures() -> None:
    """The replicas of lane 0 stand outside zone a; with n1 down lane 1 lacks its source."""
    plan = planned(loaded(), budget=2)
    scores = ftplan.evaluate(plan, loaded())
    assert (scores["output-fidelity"], scores["replicas"]) == (pytest.approx(0.5), 2.0)
    under = ftplan.evaluate(plan, loaded(), fail=["node:n1"])
    assert under["output-fidelity"] == pytest.approx(4 / 6)
    assert under["internal-completeness"] == pytest.approx((3 + 1 + 3 + 1) / 12)
    missed = ftplan.evaluate(plan, loaded(), fail_under=["output-fidelity=0.9"])
    assert missed.unmet == ("output-fidelity is 0.5, below the limit 0.9",)
    assert plan.plan is not None
    node = plan.plan["replicas"][0]["node"]
    both = ftplan.evaluate(plan, loaded(), fail=["node:n1", f"node:{node}"])
    assert both["output-fidelity"] is not None
    assert both["output-fidelity"] < 4 / 6


def test_explain_a_task_with_a_replica() -> None:
    plan = planned(loaded(with_cluster=False), budget=2)
    answer = explain(plan, loaded(with_cluster=False), "task:sink/0")
    assert answer.notes[0] == "has a replica: without it output-fidelity falls by 0.5, from 0.5"
    assert answer.notes[1] == "in case worst-case it completes 1 of 1 live MC-trees"
    assert len(answer.rows) == 4
    assert {row["ruled out by"] for row in answer.rows} == {"worth less"}


def test_explain_a_task_without() -> None:
    plan = planned(loaded(with_cluster=False), budget=3)
    answer = explain(plan, loaded(with_cluster=False), "task:source/1")
    assert answer.notes[0] == "has no replica: with one output-fidelity would grow by 0, from 0.5"
    assert answer.notes[1] == "it takes 1 of the budget and fits into the 1 that are left"
    assert answer.notes[2] == "in case worst-case a replica would complete 0 MC-trees beside 1 live ones"
    assert [row["task"] for row in answer.rows] == ["sink/0", "source/0"]


def test_explain_a_node_and_what_cannot_be_explained() -> None:
    plan = planned(loaded(), budget=2)
    assert plan.plan is not None
    item = plan.plan["replicas"][0]
    answer = explain(plan, loaded(), f"node:{item['node']}")
    assert f"{item['operator']}/{item['index']}" in [row["replica of"] for row in answer.rows]
    with pytest.raises(ftplan.FtplanError, match="explains task:OPERATOR/INDEX and node:ID"):
        explain(plan, loaded(), "zone:a")
    with pytest.raises(ftplan.FtplanError, match="does not fail in any case"):
        explain(planned(loaded(), budget=1, fail=["node:n1"]), loaded(), "task:sink/2")


def test_diff_names_what_starts_stops_and_moves() -> None:
    before = by_hand(("sink", 0, "n4"), ("source", 0, "n4"), ("source", 1, None))
    after = by_hand(("sink", 0, "n3"), ("source", 1, "n4"), ("source", 2, "n4"))
    change = diff(before, after)
    assert [(c["operator"], c["index"], c["what"], c["from"], c["to"]) for c in change.changes] == [
        ("sink", 0, "move", "n4", "n3"),
        ("source", 0, "deactivate", "n4", None),
        ("source", 2, "activate", None, "n4"),
    ]
    assert not diff(before, before).changed

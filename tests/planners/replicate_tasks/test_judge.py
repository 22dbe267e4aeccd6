"""verify, evaluate, explain and diff of replication plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.io.plan_file import load_plan
from tests.planners.replicate_tasks.replication_cases import loaded, planned


def by_hand(*replicas: tuple[str, int, str | None], **more: Any) -> ftplan.Plan:
    entries = [{"operator": operator, "index": index, "node": node} for operator, index, node in replicas]
    envelope = {"format": "ftplan/plan", "format_version": "1.0", "kind": "replicate-tasks"}
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


def small_nodes(**sizes: float) -> list[dict[str, Any]]:
    """Nodes of the case, those named with other cores; n4 takes no tasks, n5 is a node for replicas."""
    given = {"n1": 4.0, "n2": 4.0, "n3": 4.0, **sizes}
    zones = {"n1": "a", "n2": "a", "n3": "b", "n5": "c"}
    nodes: list[dict[str, Any]] = [{"id": name, "cpu": cpu, "zone": zones[name]} for name, cpu in given.items()]
    return [*nodes, {"id": "n4", "cpu": 4, "accepts": ["checkpoints"]}]


def test_explain_every_node_of_a_replica_with_the_rule_that_rules_it_out() -> None:
    """What verify says of the plan with the replica on that node instead, for every task and node."""
    problem = loaded(nodes=small_nodes(n3=2.0, n5=1.6))
    plan = planned(problem, budget=2)
    assert plan.plan is not None
    rules = set()
    for place, item in enumerate(plan.plan["replicas"]):
        answer = explain(plan, problem, f"task:{item['operator']}/{item['index']}")
        assert [row["node"] for row in answer.candidates if row["chosen"]] == [item["node"]]
        for row in answer.candidates:
            document = json.loads(plan.to_json())
            document["plan"]["replicas"][place]["node"] = row["node"]
            del document["objective"], document["status"]
            codes = {violation.code for violation in verify(load_plan(document).value, problem).violations}
            rule = row["ruled out by"]
            rules.add(None if rule is None else rule.split(":")[0])
            assert codes == (set() if rule is None else {rule.split(":")[0]})
    assert rules == {None, "OVER_CAPACITY", "REPLICA_WITH_PRIMARY", "REPLICA_IN_SAME_ZONE"}


def test_explain_names_room_and_not_the_budget_where_room_is_short() -> None:
    """Lane 2 has a budget and gains, and no node outside zone b has room for its sink of one core."""
    problem = loaded(nodes=small_nodes(n1=2.0, n2=2.0, n3=4.0))
    plan = planned(problem, budget=6, fail=["operator:sink"])
    answer = explain(plan, problem, "task:sink/2")
    text = " | ".join(answer.notes)
    assert "has no replica" in text
    assert "fits into the" in text
    assert "no node could take it: n2, which has most room, OVER_CAPACITY: 0.9 of its 1 cores are missing" in text
    assert answer.notes[-1].startswith("it has none because of want of room")
    assert "because of the budget" not in text
    assert all(row["ruled out by"] is not None for row in answer.candidates)


def test_explain_names_the_budget_where_that_is_short() -> None:
    problem = loaded(with_cluster=False)
    plan = planned(problem, budget=2, fail=["task:source/1", "task:source/0", "task:sink/0"])
    answer = explain(plan, problem, "task:source/1")
    assert answer.notes[1] == "it takes 1 of the budget and does not fit, by 1, into the 0 that are left"
    assert answer.notes[-1].startswith("it has none because of the budget; in place of ")
    assert answer.candidates == ()
    useless = explain(planned(problem, budget=3), problem, "task:source/1")
    assert useless.notes[-1] == "it has none because alone it would gain nothing"


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

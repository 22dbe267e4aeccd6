"""Plans for input that is odd, and right: nothing unknown is stated as a number, and plans hold before their judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import ftplan
from ftplan.api.verification import verify
from tests.planners.scale_out.cases import BARE, CLUSTER, JOB, MB, TOPOLOGY, document, planned


def verified(documents: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return a plan as JSON, by operator in its body, that nothing is wrong with."""
    problem = ftplan.load(**documents)
    plan = planned(problem, **options)
    assert not verify(plan, problem).violations
    made = document(plan)
    made["by_operator"] = {item["operator"]: item for item in made["plan"]["operators"]}
    return made


def test_more_tasks_than_key_groups_stay() -> None:
    operators = [{**item, "parallelism": 30} if item["id"] == "count" else item for item in TOPOLOGY["operators"]]
    for options in ({}, {"split": "hash"}, {"algorithm": "ds2"}):
        made = verified({**BARE, "topology": {**TOPOLOGY, "operators": operators}}, **options)
        item = made["by_operator"]["count"]
        assert (item["parallelism_from"], item["parallelism_to"], item["key_ranges"]) == (30, 30, None)
        assert len(item["state_bytes"]) == 30


def test_tasks_that_nobody_placed_have_no_nodes() -> None:
    cluster = {name: value for name, value in CLUSTER.items() if name != "placement"}
    made = verified({**JOB, "cluster": cluster})
    assert made["by_operator"]["beats"]["nodes"] is None
    assert len(made["by_operator"]["count"]["nodes"]) == made["by_operator"]["count"]["parallelism_to"]


def test_what_nobody_measured_is_unknown() -> None:
    made = verified(BARE)
    assert made["by_operator"]["beats"]["utilisation_from"] is None
    assert made["by_operator"]["beats"]["utilisation_to"] is None
    stats = {**BARE["stats"], **{name: BARE["stats"][name][:0] for name in ("tasks", "key_groups")}}
    made = verified({**BARE, "stats": stats})
    assert made["summary"]["after"]["highest_utilisation"] is None
    assert made["reason"] == "no change: of no operator is it known that anything is demanded of it"
    nothing = verified(BARE, growth=0.0)
    assert nothing["by_operator"]["count"]["utilisation_from"] == 0.0


def test_state_that_fits_nowhere_is_said() -> None:
    made = verified(BARE, growth=0.3, task_memory=0.5 * MB)
    said = {warning["message"] for warning in made["warnings"] if warning["code"] == "NOT_ENOUGH_TASKS"}
    assert any(re.match("count: its state fits into none .* that limit is not kept", text) for text in said)
    assert "task-memory" not in made["rules"]
    made = verified(BARE, growth=0.3, task_memory=5.0 * MB, free_cpu=0.5)
    said = {warning["message"] for warning in made["warnings"] if warning["code"] == "NOT_ENOUGH_CORES"}
    assert any(text.startswith("count needs 6 tasks for its state, and has 4") for text in said)


def test_the_smallest_fix_is_enough() -> None:
    """No checkpoint assists, and no technique is without any pause."""
    problem = ftplan.load(**BARE)
    plan = planned(problem, technique="assisted", latency_budget_s=0.0)
    assert plan.infeasible is not None
    fix = re.fullmatch(r"--technique (\w+) --latency-budget (.*)s", plan.infeasible.smallest_fix)
    assert fix is not None
    assert planned(problem, technique=fix[1], latency_budget_s=float(fix[2])).plan is not None


def test_without_room_nothing_changes_and_that_is_said() -> None:
    made = verified(BARE, free_cpu=0.0)
    assert made["reason"] == "no change: no new tasks find room, or none help"

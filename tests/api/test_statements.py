"""Verify names a rule only if it recomputed it, and says what it did not judge."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import Warn
from ftplan.planners.assessments import Verification
from tests.planners import plan_cases

LISTED = [plan_cases.drained, plan_cases.rebalanced, plan_cases.scaled, plan_cases.schedule]


def judged(document: Mapping[str, Any], problem: ftplan.Problem, **more: Any) -> Verification:
    return verify(load_plan(dict(document)).value, problem, **more)


def codes(verification: Verification) -> set[str]:
    return {violation.code for violation in verification.violations}


def document_of(plan: ftplan.Plan) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(plan.to_json())
    return made


def test_rules_without_statistics_are_not_vouched_for(tmp_path: Path) -> None:
    problem = plan_cases.small(stats=plan_cases.SMALL / "stats")
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", balance=1.0, copies=1, anti_affinity="node")
    document = document_of(plan)
    document["inputs"] = [item for item in document["inputs"] if item["role"] != "stats"]
    for item in document["plan"]["assignments"]:
        item["checkpoints"] = ["n6" if item["primary"] == "n5" else "n5"]
    found = judged(document, replace(problem, stats=None))
    assert "balance" not in found.rules
    assert ("balance", "stats") in found.unchecked
    assert "objective" in found.not_recomputed
    assert codes(judged(document, replace(problem, stats=None), strict=True)) >= {"UNCHECKED_RULE"}


def test_replicas_on_a_node_that_nobody_knows_are_not_vouched_for(tmp_path: Path) -> None:
    plan, problem = plan_cases.target(tmp_path)
    document = document_of(plan)
    document["inputs"] = [item for item in document["inputs"] if item["role"] != "cluster"]
    for item in document["plan"]["replicas"]:
        item["node"] = "nowhere"
    without = replace(problem, cluster=None)
    found = judged({name: document[name] for name in ("format", "format_version", "kind", "plan")}, without)
    assert ("replica-not-with-primary", "cluster") in found.unchecked
    assert "plan.replicas.node" in found.not_recomputed
    assert set(found.rules) <= {"budget", "target"}


@pytest.mark.parametrize("case", LISTED, ids=lambda case: case.__name__)
def test_a_rule_that_is_asked_for_cannot_be_left_out(case: Any, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    asked = [r for r in plan.rules or () if r not in ("copy-not-with-primary", "copies-on-distinct-nodes", "memory")]
    assert asked
    for rule in asked:
        document = {**document_of(plan), "rules": [name for name in plan.rules or () if name != rule]}
        assert "RULE_MISSING" in codes(judged(document, problem))


def test_a_rule_of_copies_that_is_asked_for_and_not_promised_is_named(tmp_path: Path) -> None:
    plan, problem = plan_cases.failover(tmp_path)
    for rule in ("copies-in-distinct-zones", "failover"):
        document = {**document_of(plan), "rules": [name for name in plan.rules or () if name != rule]}
        assert f"rules.{rule}" in judged(document, problem).not_stated


def test_a_rule_that_no_option_limits_is_named_unchecked(tmp_path: Path) -> None:
    plan, problem = plan_cases.all_but_some(tmp_path)
    document = {**document_of(plan), "rules": [*(plan.rules or ()), "max"]}
    found = judged(document, problem)
    assert "max" not in found.rules
    assert ("max", "options") in found.unchecked


def test_warnings_that_the_inputs_give_cannot_be_dropped_or_doubled(tmp_path: Path) -> None:
    plan, problem = plan_cases.drained(tmp_path)
    problem, document = replace(problem, warnings=(Warn("SHORT_TRACE", "the log is short"),)), document_of(plan)
    given = [*document["warnings"], {"code": "SHORT_TRACE", "message": "the log is short"}]
    assert codes(judged({**document, "warnings": given}, problem)) == set()
    renamed = [*given[:-1], {**given[-1], "code": "SHORT_TRACK"}]
    for wrong in (given[:-1], renamed, [*given, given[-1]]):
        assert codes(judged({**document, "warnings": wrong}, problem)) == {"WARNINGS_DIFFER"}


def test_an_algorithm_that_nobody_has_is_found(tmp_path: Path) -> None:
    plan, problem = plan_cases.drained(tmp_path)
    assert codes(judged({**document_of(plan), "algorithm": "greedier"}, problem)) == {"UNKNOWN_ALGORITHM"}


def test_a_step_of_nodes_with_a_range_of_arrival_is_when_they_are_planned_for(tmp_path: Path) -> None:
    failure = {
        **plan_cases.FAILURE,
        "fail": ["node:n1"],
        "arrivals": [{"at_s": [150, 250], "node": {"id": "r2", "cpu": 4}}],
    }
    problem = plan_cases.small(failure=failure)
    plan = ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority")
    document = document_of(plan)
    (step,) = (item for item in document["plan"]["steps"] if "r2" in str(item["trigger"]))
    step["at_s"] *= 1.01
    assert "WRONG_STEP_TIME" in codes(judged(document, problem))


def test_what_a_hand_made_plan_leaves_out_is_named(tmp_path: Path) -> None:
    plan, problem = plan_cases.drained(tmp_path)
    whole = document_of(plan)
    found = judged({name: whole[name] for name in ("format", "format_version", "kind", "plan", "options")}, problem)
    assert set(found.not_stated) == {"algorithm", "inputs", "objective", "rules", "status", "summary"}
    assert judged(whole, problem).not_stated == ()
    assert "options" in judged(whole, problem).taken_as_stated


@pytest.mark.parametrize("name", ["algorithm", "options", "rules", "summary", "objective", "status", "warnings"])
@pytest.mark.parametrize("case", [plan_cases.no_room, plan_cases.not_alone, plan_cases.above_quota])
def test_a_plan_without_an_answer_may_leave_out_anything(case: Any, name: str, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    document = document_of(plan)
    document.pop(name, None)
    with contextlib.suppress(ftplan.FtplanError):  # one line; anything else fails
        judged(document, problem)

"""What verify makes of claims that look right: it recomputes them, names what it cannot, and with prove plans again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import explain, verify
from ftplan.cli.main import run
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import Infeasible, Objective
from tests.planners.plan_cases import CASES, FIGURE, SMALL, checkpoint, no_room, replication, schedule, small

SHORT = {"prove": True, "time_limit_s": 10.0}


def codes(plan: ftplan.Plan, problem: ftplan.Problem, **how: Any) -> list[str]:
    return [violation.code for violation in verify(plan, problem, **how).violations]


def by_hand(plan: ftplan.Plan, **more: Any) -> ftplan.Plan:
    document = {"format": "ftplan/plan", "format_version": "1.0", "kind": plan.kind, "plan": plan.plan, **more}
    return load_plan(json.loads(json.dumps(document, default=list))).value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_honest_plans_are_proven_again(case: Any, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    found = verify(plan, problem, **SHORT)
    assert found.violations == ()
    assert "bound" not in found.not_recomputed
    if case in (checkpoint, schedule, no_room):  # planning again gives the same answer, so that all is compared
        assert found.not_recomputed == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_nobody_recomputed_is_named(case: Any, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    found = verify(plan, problem)
    assert plan.objective is not None
    assert ("bound" in found.not_recomputed) == (plan.objective.bound is not None)
    assert json.loads(found.to_json())["not_recomputed"] == list(found.not_recomputed)


def test_a_false_optimum_needs_a_proof(tmp_path: Path) -> None:
    """A bound moved to the value of a poor plan agrees with itself; a better plan refutes it."""
    problem = small(stats=SMALL / "stats")
    poor = ftplan.plan("allocate-checkpoints", problem, algorithm="even", balance="none", bound=True)
    assert poor.objective is not None
    value = poor.objective.value
    assert value is not None
    named, sense = poor.objective.name, poor.objective.sense
    random = poor.summary["random"][named.replace("-", "_")]
    claim = Objective.of(named, sense, value, value, None if named == "usable" else random)
    false = replace(poor, objective=claim, status="optimal")
    found = verify(false, problem)
    assert found.valid
    assert "bound" in found.not_recomputed
    assert codes(false, problem, **SHORT) == ["BOUND_REFUTED"]


def test_a_bound_that_nobody_proves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loose bound is a bound; one tighter than what planning again proves, and that no plan beats, is not proven."""
    problem = small()
    plan = ftplan.plan("replicate-tasks", problem, algorithm="exact", budget=3)
    assert plan.objective is not None
    value = plan.objective.value
    assert value is not None

    def stating(bound: float) -> ftplan.Plan:
        return replace(plan, objective=Objective.of("output-fidelity", "max", value, bound), status="feasible")

    assert codes(stating(value + 0.25), problem, **SHORT) == []
    tried: list[str] = []

    def planned(kind: str, problem: Any, *, algorithm: str, **options: Any) -> ftplan.Plan:
        tried.append(algorithm)
        return stating(value + 0.3)

    monkeypatch.setattr("ftplan.api.verification.planned", planned)
    assert codes(replace(stating(value + 0.25), algorithm="greedy"), problem, **SHORT) == ["BOUND_NOT_PROVEN"]
    assert tried == ["greedy", "exact"]


def test_a_claim_to_be_infeasible_is_planned_again(tmp_path: Path) -> None:
    plan, problem = schedule(tmp_path)
    reason = Infeasible("no room", "capacity", 0.0, 1.0, "--capacity 1")
    refused = replace(plan, plan=None, status="infeasible", objective=None, reason="no room", infeasible=reason)
    refused = replace(refused, summary={})
    assert codes(refused, problem) == []
    assert verify(refused, problem).not_recomputed == ("infeasible",)
    assert codes(refused, problem, **SHORT) == ["STATUS_DIFFERS"]
    plan, problem = no_room(tmp_path)
    assert plan.infeasible is not None
    wrong = replace(plan, infeasible=replace(plan.infeasible, needed=99.0))
    assert codes(wrong, problem) == []
    assert codes(wrong, problem, **SHORT) == ["PROOF_DIFFERS"]


def test_status_and_answer_agree(tmp_path: Path) -> None:
    plan, problem = schedule(tmp_path)
    assert codes(replace(plan, status="infeasible"), problem) == ["STATUS_DIFFERS"]
    assert "STATUS_DIFFERS" in codes(replace(plan, plan=None), problem)
    assert codes(by_hand(plan, status="optimal"), problem) == ["STATUS_DIFFERS"]
    assert codes(by_hand(plan, status="feasible"), problem) == []
    assert plan.objective is not None
    bare = replace(plan.objective, bound=None, scale=None, gap=None)
    assert codes(replace(plan, objective=bare, status="optimal"), problem) == ["STATUS_DIFFERS"]
    assert codes(replace(plan, objective=bare, status="feasible"), problem) == []


def test_the_bound_of_a_schedule_is_that_of_its_steps(tmp_path: Path) -> None:
    plan, problem = schedule(tmp_path)
    assert plan.objective is not None
    assert plan.objective.value is not None
    assert plan.objective.bound is not None
    raised = Objective.of("priority", "max", plan.objective.value, plan.objective.bound + 1.0)
    assert codes(replace(plan, objective=raised, status="feasible"), problem) == ["OBJECTIVE_DIFFERS"]


@pytest.mark.parametrize("case", [checkpoint, schedule, replication], ids=lambda case: case.__name__)
def test_envelopes(case: Any, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    assert codes(replace(plan, rules=(*(plan.rules or ()), "always-right")), problem) == ["UNKNOWN_RULE"]
    assert plan.objective is not None
    assert codes(replace(plan, objective=replace(plan.objective, gap=0.25)), problem) == ["GAP_DIFFERS"]
    assert codes(replace(plan, objective=replace(plan.objective, scale=0.5)), problem) == ["GAP_DIFFERS"]
    after = {**plan.summary, "after": dict.fromkeys(plan.summary["after"])}
    assert set(codes(replace(plan, summary=after), problem)) == {"SUMMARY_DIFFERS"}
    assert codes(replace(plan, summary={}), problem) == []
    hand = by_hand(plan)
    assert codes(hand, problem, fail=["operator:clicks"] if plan.kind == "replicate-tasks" else ()) == []


def test_changes_of_replicas(tmp_path: Path) -> None:
    plan, problem = replication(tmp_path)
    assert plan.plan is not None
    assert plan.plan["activate"]
    assert plan.plan["deactivate"]
    for name in ("activate", "deactivate"):
        for left in ([], plan.plan[name][1:], [*plan.plan[name], plan.plan[name][0]]):
            assert set(codes(replace(plan, plan={**plan.plan, name: left}), problem)) == {"CHANGES_DIFFER"}
    nobody = [{**item, "node": None} for item in plan.plan["replicas"]]
    assert set(codes(replace(plan, plan={**plan.plan, "replicas": nobody}), problem)) == {"NODE_MISSING"}
    (tmp_path / "replicas.json").write_text((tmp_path / "replicas.json").read_text().replace('"n', '"n', 1) + " ")
    assert codes(plan, problem) == ["STALE_INPUT"]
    (tmp_path / "replicas.json").unlink()
    assert "plan.activate" in verify(plan, problem).not_recomputed


def test_a_missing_rollback(tmp_path: Path) -> None:
    plan, problem = schedule(tmp_path)
    assert plan.plan is not None
    for flag, expected in ((None, ["ROLLBACK_MISSING"]), (False, ["WRONG_ROLLBACK"]), (True, [])):
        steps = [{**plan.plan["steps"][0], "global_rollback": flag}, *plan.plan["steps"][1:]]
        assert codes(replace(plan, plan={**plan.plan, "steps": steps}), problem) == expected
    unsaid = [{k: v for k, v in step.items() if k != "global_rollback"} for step in plan.plan["steps"]]
    assert codes(by_hand(replace(plan, plan={**plan.plan, "steps": unsaid})), problem) == []


def test_a_schedule_made_by_hand_under_a_given_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = small()
    plan = ftplan.plan("recovery-schedule", problem, algorithm="best-density", fail=["zone:b"])
    hand = by_hand(plan)
    with pytest.raises(FtplanError, match="nothing fails"):
        verify(hand, problem)
    assert verify(hand, problem, fail=["zone:b"]).valid
    assert verify(hand, problem, fail="zone:b").valid
    assert "NOT_FAILED" in codes(hand, problem, fail=["node:n1"])
    step = explain(hand, problem, "node:n5", fail=["zone:b"])
    assert step.rows
    (tmp_path / "plan.json").write_text(hand.to_json())
    failure = {"format": "ftplan/failure", "format_version": "1.0", "fail": ["zone:b"]}
    (tmp_path / "failure.json").write_text(json.dumps(failure))
    monkeypatch.chdir(tmp_path)
    files = ["-t", str(SMALL / "topology.yaml"), "-c", str(SMALL / "cluster.yaml"), "--format", "json", "-q"]
    for given in (["--fail", "zone:b"], ["-f", "failure.json"]):
        assert run(["verify", "plan.json", *files, *given]) == 0
        assert json.loads(capsys.readouterr().out)["valid"]
        assert run(["explain", "plan.json", "node:n5", *files, *given]) == 0
        capsys.readouterr()
    assert run(["verify", "plan.json", *files, "--fail", "node:n1"]) == 1
    assert run(["verify", "plan.json", *files]) == 2
    assert "nothing fails" in capsys.readouterr().err


def test_an_allocation_answers_no_failure(tmp_path: Path) -> None:
    plan, problem = checkpoint(tmp_path)
    found = verify(plan, problem, fail=["zone:b"])
    assert found.valid
    assert [w.code for w in found.warnings if w.code == "FAILURE_IGNORED"] == ["FAILURE_IGNORED"]


def test_proof_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, _ = schedule(tmp_path)
    (tmp_path / "plan.json").write_text(plan.to_json())
    names = {"-t": "topology.yaml", "-c": "cluster.yaml", "-f": "failure.yaml"}
    files = [arg for flag, name in names.items() for arg in (flag, str(FIGURE / name))]
    args = ["verify", str(tmp_path / "plan.json"), *files, "-q"]
    assert run([*args, "--format", "json"]) == 0
    assert "bound" in json.loads(capsys.readouterr().out)["not_recomputed"]
    assert run([*args, "--format", "table"]) == 0
    assert "not recomputed: bound" in capsys.readouterr().out
    assert run([*args, "--format", "json", "--prove", "--time-limit", "10s"]) == 0
    assert json.loads(capsys.readouterr().out)["not_recomputed"] == []

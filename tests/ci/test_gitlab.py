"""The GitLab template: its job runs as GitLab runs it, whatever the answer is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.ci.github import ACTION, QUICK
from tests.ci.gitlab import INPUTS, Run, job_with, run_job
from tests.ci.stand_in import installed


def good(repository: Path, temporary: Path, **more: object) -> Run:
    """Plan the order of recovery."""
    return run_job(repository, temporary, command="recovery-schedule", arguments=QUICK, **{"report": "none", **more})


def test_a_plan_is_made_verified_and_kept(repository: Path, temporary: Path) -> None:
    run = good(repository, temporary, report="ftplan-report.html", fail_under=["unrecovered-tasks=1000"])
    assert run.code == 0, run.printed
    plan = json.loads((repository / "ftplan-plan.json").read_text())
    assert run.variables == {
        "PLAN_STATUS": plan["status"], "PLAN_OBJECTIVE": str(plan["objective"]["value"]),
        "PLAN_GAP": str(plan["objective"]["gap"]), "PLAN_CHANGES": "true", "PLAN_EXIT_CODE": "3",
    }  # fmt: skip
    assert [path.name for path in run.artifacts] == ["ftplan-plan.json", "ftplan-report.html", "ftplan-summary.md"]
    for part in ("## ftplan recovery-schedule", "- STATUS: feasible", "valid; held to:", "| unrecovered-tasks |"):
        assert part in run.summary
    assert installed(temporary) == "ftplan[report]"


def test_without_a_plan_the_job_fails(project: Path, temporary: Path) -> None:
    options = "-t topology.yaml -c cluster.yaml -s stats --copies 7"
    run = run_job(project, temporary, command="allocate-checkpoints", arguments=options, version="0.1.0", extras="")
    assert run.code == 1
    assert "no plan: key-group:alerts/0 with its primary on n1 has 5 other nodes for 7 copies" in run.printed
    assert run.variables["PLAN_STATUS"] == "infeasible"
    assert "| smallest fix |" in run.summary
    assert len(run.artifacts) == 3
    assert installed(temporary) == "ftplan==0.1.0"
    assert run_job(project, temporary, report="none").code == 1  # the same plan, made elsewhere


def test_broken_rules_missed_limits_and_mistakes_fail(repository: Path, temporary: Path) -> None:
    run = good(repository, temporary, fail_under=["unrecovered-tasks=1000", "last-back-s=10"])
    assert (run.code, "ftplan: last-back-s is " in run.printed) == (1, True)
    plan = json.loads((repository / "ftplan-plan.json").read_text())
    plan["plan"]["steps"][0]["recover"][0]["node"] = "nowhere"
    (repository / "ftplan-plan.json").write_text(json.dumps(plan))
    run = run_job(repository, temporary, report="none")
    assert (run.code, "UNKNOWN_NODE" in run.printed, "UNKNOWN_NODE" in run.summary) == (1, True, True)
    run = run_job(repository, temporary, command="recovery-schedule", arguments="--fail zone:rack-z")
    assert (run.code, "rack-z" in run.printed) == (2, True)
    assert run_job(repository, temporary, plan="nothing.json", report="none").code == 2
    run = run_job(repository, temporary, plan="topology.yaml", verify=False, report="none")
    assert (run.code, "ftplan: plan: topology.yaml is no plan\n" in run.printed) == (2, True)


def test_changes_are_a_warning_where_asked_for(repository: Path, temporary: Path) -> None:
    assert job_with()["allow_failure"] == {"exit_codes": [3]}
    run = good(repository, temporary, baseline="in-force.json", warn_on_changes=True)
    assert (run.code, run.variables["PLAN_CHANGES"]) == (3, "true")
    shutil.copy(repository / "ftplan-plan.json", repository / "in-force.json")
    run = good(repository, temporary, baseline="in-force.json", warn_on_changes=True)
    assert (run.code, run.variables["PLAN_CHANGES"], run.variables["PLAN_EXIT_CODE"]) == (0, "false", "0")


def test_arguments_are_words_in_a_folder(repository: Path, temporary: Path) -> None:
    (repository / "failure.yaml").rename(repository / "what may fail.yaml")
    (repository / "ftplan.toml").unlink()
    run = run_job(
        repository.parent, temporary, command="recovery-schedule", working_directory="repository", report="none",
        arguments=f"-t topology.yaml -c cluster.yaml -f 'what may fail.yaml' {QUICK}",
    )  # fmt: skip
    assert run.code == 0, run.printed
    assert len(run.artifacts) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": "$(touch broken) `touch broken` ; touch broken"},
        {"command": "recovery-schedule; touch broken"},
        {"arguments": "--fail 'open"},
        {"fail": ["$(touch broken)"], "plan": "$(touch broken).json"},
        {"arguments": """--fail "node:c1" 'it: # "' [] {{ }} \\' """},
    ],
)
def test_inputs_are_never_code(repository: Path, temporary: Path, given: dict[str, str]) -> None:
    run = run_job(
        repository, temporary, **{"command": "recovery-schedule", "arguments": QUICK, "report": "none", **given}
    )
    assert run.code == 2
    assert not (repository / "broken").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arguments": "--seed 1\nafter_script: [touch broken]"}, "required RegEx pattern"),
        ({"report": ""}, "required RegEx pattern"),  # its artifact would be all of the folder
        ({"fail": "zone:rack-a"}, "not of the type"),
    ],
)
def test_gitlab_refuses_what_would_be_read_as_something_else(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        job_with(**given)


def test_values_are_read_as_they_are_written() -> None:
    given = {"arguments": """ -t "a: # b" -c 'x' \\""", "plan": "a: #b.json", "fail_under": ['a"b=1', "c: '#'"]}
    job = job_with(**given)
    assert [job["variables"][f"INPUT_{name.upper()}"]["value"] for name in ("arguments", "plan")] == [
        given["arguments"], given["plan"],
    ]  # fmt: skip
    assert json.loads(job["variables"]["INPUT_FAIL_UNDER"]["value"]) == given["fail_under"]
    assert job["artifacts"]["paths"][0] == "./a: #b.json"


def test_it_takes_what_the_action_takes() -> None:
    only_here = {"image", "job", "stage", "summary", "warn-on-changes"}
    only_there = {"artifact", "fail-on-changes", "python-version"}
    assert set(INPUTS) - only_here == set(ACTION["inputs"]) - only_there

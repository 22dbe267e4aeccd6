"""The GitHub action: its steps run as GitHub runs them, whatever the answer is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.ci.expressions import Expressions
from tests.ci.github import QUICK, Run, run_action
from tests.ci.stand_in import installed
from tests.places import ROOT


def good(repository: Path, temporary: Path, **more: str) -> Run:
    """Plan the order of recovery."""
    return run_action(repository, temporary, command="recovery-schedule", arguments=QUICK, **{"report": "", **more})


def test_a_plan_is_made_verified_reported_and_uploaded(repository: Path, temporary: Path) -> None:
    run = good(repository, temporary, report="ftplan-report.html")
    assert not run.failed, run.printed
    plan = json.loads((repository / "ftplan-plan.json").read_text())
    assert run.outputs == {
        "plan": str(repository / "ftplan-plan.json"), "report": str(repository / "ftplan-report.html"),
        "status": plan["status"], "objective": str(plan["objective"]["value"]), "gap": str(plan["objective"]["gap"]),
        "changes": "true", "exit-code": "3",
    }  # fmt: skip
    assert run.used["actions/setup-python@v5"] == {"python-version": "3.12"}
    uploaded = run.used["actions/upload-artifact@v4"]["path"].split("\n")
    assert all(Path(path).is_file() for path in filter(None, uploaded))
    for part in ("## ftplan recovery-schedule", "**feasible**", "valid; held to:", "| algorithm | operator-centric |"):
        assert part in run.summary


@pytest.mark.parametrize(
    ("version", "extras", "requirement"),
    [
        ("", "report", f"{ROOT}[report]"),
        ("0.1.0", "report,sail", "ftplan[report,sail]==0.1.0"),
        ("0.1.0", "", "ftplan==0.1.0"),
    ],
)
def test_what_is_installed(repository: Path, temporary: Path, version: str, extras: str, requirement: str) -> None:
    run_action(repository, temporary, version=version, extras=extras)
    assert installed(temporary) == requirement
    assert (temporary / "path").read_text() == f"{temporary}/ftplan/path\n"


def test_without_a_plan_the_summary_says_why(project: Path, temporary: Path) -> None:
    run = run_action(
        project, temporary, command="allocate-checkpoints", baseline="nothing.json", fail_under="usable-share=0.1",
        arguments="-t topology.yaml -c cluster.yaml -s stats --copies 7",
    )  # fmt: skip
    assert run.failed
    assert run.errors == ["no plan: key-group:alerts/0 with its primary on n1 has 5 other nodes for 7 copies"]
    assert (run.outputs["status"], run.outputs["exit-code"], run.outputs["changes"]) == ("infeasible", "1", "false")
    assert "**infeasible**" in run.summary
    assert "smallest fix: --copies 5" in run.summary
    assert "actions/upload-artifact@v4" in run.used
    again = run_action(project, temporary, plan="ftplan-plan.json", fail="node:n1")  # the same file, made elsewhere
    assert (again.failed, again.errors, again.outputs["exit-code"]) == (True, ["the plan is infeasible"], "1")


def test_a_plan_that_breaks_a_rule_fails(repository: Path, temporary: Path) -> None:
    assert not good(repository, temporary).failed
    made = repository / "ftplan-plan.json"
    plan = json.loads(made.read_text())
    plan["plan"]["steps"][0]["recover"][0]["node"] = "nowhere"
    made.write_text(json.dumps(plan))
    run = run_action(repository, temporary, fail_under="queries-back-share=0.1")
    assert run.failed
    assert [error.split(": ")[:2] for error in run.errors] == [[str(made), "UNKNOWN_NODE"]]
    assert run.outputs["exit-code"] == "1"
    assert "UNKNOWN_NODE" in run.summary


def test_a_limit_that_is_missed_fails(repository: Path, temporary: Path) -> None:
    run = good(repository, temporary, fail="zone:rack-a\n\n  node:c2\n", fail_under="unrecovered-tasks=1000")
    assert not run.failed, run.printed
    run = good(repository, temporary, fail_under="queries-back-share=0.5\nlast-back-s=10")
    assert run.failed
    assert len(run.errors) == 1
    assert run.errors[0].startswith("last-back-s is ")
    assert "| queries-back-share |" in run.summary


def test_changes_are_those_against_the_baseline(repository: Path, temporary: Path) -> None:
    (repository / "in-force.json").touch()  # what `git show` writes where the main branch has no plan yet
    run = good(repository, temporary, baseline="in-force.json")
    assert run.outputs["changes"] == "true"
    assert "all of this plan is new" in run.summary
    shutil.copy(repository / "ftplan-plan.json", repository / "in-force.json")
    run = good(repository, temporary, baseline="in-force.json", fail_on_changes="true")
    assert (run.failed, run.outputs["changes"], run.outputs["exit-code"]) == (False, "false", "0")
    run = run_action(
        repository, temporary, command="recovery-schedule", arguments=f"{QUICK} --max-cpu 0.5",
        baseline="in-force.json", fail_on_changes="true",
    )  # fmt: skip
    assert (run.failed, run.outputs["changes"], run.outputs["exit-code"]) == (True, "true", "3")
    assert run.errors == ["the plan changes something"]


def test_arguments_are_words_and_nothing_else(repository: Path, temporary: Path) -> None:
    folder = repository / "a job's files"
    folder.mkdir()
    for name in ("topology.yaml", "cluster.yaml", "failure.yaml"):
        (repository / name).rename(folder / name)
    (repository / "ftplan.toml").unlink()
    run = run_action(
        repository, temporary, command="recovery-schedule", plan="out/the  plan.json", report="out/the report.html",
        arguments=f"""-t "a job's files/topology.yaml" -c 'a job'"'"'s files/cluster.yaml'
          -f a\\ job\\'s\\ files/failure.yaml {QUICK}""",
    )  # fmt: skip
    assert not run.failed, run.printed
    assert Path(run.outputs["plan"]).is_file()
    assert Path(run.outputs["report"]).is_file()


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": "$(touch broken) `touch broken` ; touch broken"},
        {"command": "recovery-schedule; touch broken"},
        {"command": "--help"},
        {"arguments": "--fail 'open"},
        {"fail": "$(touch broken)\n`touch broken`"},
        {"plan": "$(touch broken)/plan.json", "fail_under": "x=$(touch broken)"},
        {"baseline": "x; touch broken", "report": "$(touch broken).html"},
    ],
)
def test_inputs_are_never_code(repository: Path, temporary: Path, given: dict[str, str]) -> None:
    run_action(repository, temporary, **{"command": "recovery-schedule", "arguments": QUICK, **given})
    assert not (repository / "broken").exists()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("status",), "optimal\nexit-code=0"), (("status",), "**fine**"), (("status",), ["feasible"]),
        (("objective", "value"), "1\nexit-code=0"), (("objective", "gap"), "$(touch broken)"),
    ],
)  # fmt: skip
def test_a_plan_says_nothing_but_statuses_and_numbers(
    repository: Path, temporary: Path, place: tuple[str, ...], value: Any
) -> None:
    assert not good(repository, temporary).failed
    plan = json.loads((repository / "ftplan-plan.json").read_text())
    at = plan if len(place) == 1 else plan[place[0]]
    at[place[-1]] = value
    (repository / "ftplan-plan.json").write_text(json.dumps(plan))
    run = run_action(repository, temporary, plan="ftplan-plan.json")
    assert (run.failed, run.outputs["exit-code"]) == (True, "2")
    assert run.errors == ["plan: ftplan-plan.json is no plan"]
    assert not (repository / "broken").exists()


def test_what_is_wrong_ends_no_fence_and_no_command(repository: Path, temporary: Path) -> None:
    run = run_action(repository, temporary, command="recovery-schedule", arguments="-t '~~~<img src=x>\n::error::x'")
    assert run.failed
    assert "~~~<img" not in run.summary
    assert run.summary.count("~~~") == 2
    run = run_action(repository, temporary, command="a\n# b")
    assert "# b" not in run.summary


def test_a_mistake_is_one_line(repository: Path, temporary: Path) -> None:
    run = run_action(repository, temporary, command="recovery-schedule", arguments="--fail zone:rack-z")
    assert run.failed
    assert run.outputs["exit-code"] == "2"
    assert len(run.errors) == 1
    assert "rack-z" in run.errors[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"plan": "nothing.json"}, "plan: there is no such file, and no command that makes it"),
        ({"command": "recovery-schedule", "arguments": "--fail 'open"}, "arguments: a quote is open"),
        ({"command": "recovery schedule"}, "command: expected one word, such as recovery-schedule"),
        ({"plan": "topology.yaml"}, "plan: topology.yaml is no plan"),
        ({"plan": "a\nexit-code=0"}, "plan: expected the name of a file"),
    ],
)
def test_a_mistake_of_the_workflow(repository: Path, temporary: Path, given: dict[str, str], said: str) -> None:
    run = run_action(repository, temporary, **given)
    assert run.failed
    assert run.errors == [said]
    assert run.outputs["exit-code"] == "2"


def test_a_report_that_cannot_be_written(repository: Path, temporary: Path) -> None:
    (repository / "taken").mkdir()
    run = good(repository, temporary, report="taken", verify="false")
    assert run.failed
    assert len(run.errors) == 1
    assert run.errors[0].startswith("taken")
    assert run.outputs["exit-code"] not in ("", "0", "3")
    assert run.used["actions/upload-artifact@v4"]["path"].strip() == run.outputs["plan"]


def test_a_folder_of_a_larger_repository(repository: Path, temporary: Path) -> None:
    run = run_action(
        repository.parent, temporary, command="recovery-schedule", arguments=QUICK, working_directory="repository"
    )
    assert not run.failed, run.printed
    assert run.outputs["plan"] == str(repository / "ftplan-plan.json")


def test_expressions_that_nobody_uses_are_refused() -> None:
    known = Expressions({"inputs": {"a": "x"}})
    assert known.holds("inputs.a == 'X' && !failure() || cancelled()")
    assert known.text("${{ inputs.a }}-${{ inputs.b }}") == "x-"
    for text in ("secrets.x", "hashFiles('x')", "inputs.a < 3", "inputs.a == 'x' 'y'", "contains(inputs.a, 'x')"):
        with pytest.raises(ValueError, match=r"test|understood"):
            known.value(text)

"""What kinds of plan are called: in files, in words, and before they had their command's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.io.evaluation_file import load_evaluation
from ftplan.model import kinds
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
WORDS = {
    "allocate-checkpoints": "checkpoint allocation",
    "replicate-tasks": "task replication",
    "recovery-schedule": "recovery schedule",
    "rebalance": "rebalance",
    "scale-out": "scale out",
    "drain-schedule": "drain schedule",
    "peer-ring": "peer ring",
}


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml", stats=SMALL / "stats")


@pytest.fixture(scope="module")
def allocation(problem: ftplan.Problem) -> ftplan.Plan:
    return ftplan.plan("allocate-checkpoints", problem, algorithm="even")


def test_what_plans_are_called_in_words() -> None:
    assert {row.name: kinds.noun(row.name) for row in kinds.ROWS} == WORDS
    assert kinds.noun("no-such-kind") == "no such kind"


def test_messages_and_pages_call_a_plan_so(problem: ftplan.Problem, allocation: ftplan.Plan) -> None:
    (warning,) = ftplan.verify(allocation, problem, fail=["node:n1"]).warnings[-1:]
    assert warning.message.startswith("a checkpoint allocation keeps its rules or not whatever fails")
    assert "Checkpoint allocation" in ftplan.report(allocation)
    assert "Evaluation of a checkpoint allocation" in ftplan.report(ftplan.evaluate(allocation, problem).to_dict())
    other = ftplan.plan("replicate-tasks", problem, budget=1)
    with pytest.raises(ftplan.FtplanError, match="compare an allocate-checkpoints with a replicate-tasks: both"):
        ftplan.diff(allocation, other)


@pytest.mark.parametrize(("former", "new"), kinds.FORMER.items())
def test_a_former_name_is_refused_with_the_new_one(
    tmp_path: Path, problem: ftplan.Problem, allocation: ftplan.Plan, former: str, new: str
) -> None:
    message = f"{former!r} is now {new!r}"
    evaluation: dict[str, Any] = {**ftplan.evaluate(allocation, problem).to_dict(), "kind": former}
    with pytest.raises(ftplan.FtplanError, match=message):
        load_evaluation(evaluation)
    with pytest.raises(ftplan.FtplanError, match=message):
        ftplan.plan(former, problem)
    question = {
        "format": "ftplan/what-if", "format_version": "1.0", "name": "x", "cases": [{"id": "a", "seed": 1}],
        "base": {"topology": str(SMALL / "topology.yaml")}, "run": {"command": former},
    }  # fmt: skip
    with pytest.raises(ftplan.FtplanError, match=message):
        ftplan.what_if(question)

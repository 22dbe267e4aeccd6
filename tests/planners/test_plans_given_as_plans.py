"""A schedule planned with other plans records them, whether they were given as a file, a document or a plan."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.io.plan_file import load_plan
from tests.places import ROOT

pytestmark = pytest.mark.usefixtures("few_random_orders")

EXAMPLE = ROOT / "examples" / "storm-recovery"


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return ftplan.load(**{name: EXAMPLE / f"{name}.yaml" for name in ("topology", "cluster", "failure")})


@pytest.fixture(scope="module")
def replication(problem: ftplan.Problem) -> ftplan.Plan:
    """Replicas of all tasks of a node that fails, on one that lives on."""
    assert problem.cluster is not None
    assert problem.cluster.placement is not None
    found = [
        {"operator": operator, "index": index, "node": "a2"}
        for operator, nodes in problem.cluster.placement.tasks.items()
        for index, node in enumerate(nodes)
        if node == "c1"
    ]
    document = {"format": "ftplan/plan", "format_version": "1.0", "kind": "replicate-tasks"}
    return load_plan({**document, "plan": {"replicas": found}}).value


@pytest.fixture(scope="module")
def allocation(problem: ftplan.Problem) -> ftplan.Plan:
    """All checkpoints on one node that lives on, so that restores there take no time."""
    assert problem.topology is not None
    assert problem.cluster is not None
    node = "a2"
    found = [
        {"operator": operator.id, "key_group": group, "checkpoints": [node]}
        for operator in problem.topology.keyed_operators
        for group in range(operator.key_groups or 0)
    ]
    document = {"format": "ftplan/plan", "format_version": "1.0", "kind": "allocate-checkpoints"}
    return load_plan({**document, "plan": {"assignments": found}}).value


def planned(problem: ftplan.Problem, **given: Any) -> ftplan.Plan:
    return ftplan.plan(
        "recovery-schedule", problem, algorithm="best-density", samples=0, iterations=0, bandwidth=1, **given
    )


@pytest.mark.parametrize("role", ["replicas", "checkpoints"])
def test_a_schedule_made_with_a_plan_is_verified(
    role: str, problem: ftplan.Problem, replication: ftplan.Plan, allocation: ftplan.Plan, tmp_path: Path
) -> None:
    given = replication if role == "replicas" else allocation
    (tmp_path / "given.json").write_text(given.to_json())
    sources = {"plan": given, "document": json.loads(given.to_json()), "file": tmp_path / "given.json"}
    schedules = {name: planned(problem, **{role: source}) for name, source in sources.items()}
    without = planned(problem)
    for name, schedule in schedules.items():
        assert schedule.plan == schedules["file"].plan
        recorded = next(item for item in schedule.inputs if item.role == role)
        assert (recorded.path is None) == (name != "file")
        assert len(recorded.sha256) == 64
        assert verify(schedule, problem).violations == ()
        (tmp_path / "schedule.json").write_text(schedule.to_json())
        read = load_plan(tmp_path / "schedule.json").value
        assert read.to_json() == schedule.to_json()
        assert verify(read, problem).violations == ()
        assert ftplan.evaluate(read, problem) == ftplan.evaluate(schedules["file"], problem)
        assert not diff(read, schedules["file"]).changed
        assert explain(read, problem, "task:Bolt-6/3")
    digest = hashlib.sha256(given.to_json().encode()).hexdigest()
    assert [item.sha256 for item in schedules["plan"].inputs if item.role == role] == [digest]
    assert without.plan != schedules["plan"].plan, "the given plan makes no difference, so that nothing is tested"

"""Backups that a scale-out keeps ready are replicas in place: for replicate-tasks, and for what follows a failure."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.deployed import replicas
from tests.planners.replicate_tasks.replication_cases import CLUSTER, TOPOLOGY, names

ENVELOPE = {"format": "ftplan/plan", "format_version": "1.0", "kind": "scale-out"}


def problem(**placed: Any) -> ftplan.Problem:
    """Three lanes of a source and a sink; the sink has 6 key groups, two a task."""
    topology, cluster = copy.deepcopy(TOPOLOGY), copy.deepcopy(CLUSTER)
    topology["operators"][1]["key_groups"] = 6
    cluster["placement"].update(placed)
    return ftplan.load(topology=topology, cluster=cluster)


def scale_out(**fields: Any) -> ftplan.Plan:
    """Return a plan whose sink is prepared: five tasks, the first of which takes over the first and half the second."""
    sink = {
        "operator": "sink",
        "state": "prepared",
        "technique": "active-backup",
        "parallelism_from": 3,
        "parallelism_to": 4,
        "key_ranges": [[0, 2], [3, 3], [4, 4], [5, 5]],
        "nodes": ["n3", "n1", "n4", "n2"],
        **fields,
    }
    source = {"operator": "source", "state": "normal", "parallelism_from": 3, "parallelism_to": 3}
    return load_plan({**ENVELOPE, "plan": {"operators": [sink, source]}}).value


def standing(plan: Any, given: ftplan.Problem, **options: Any) -> dict[str, str | None]:
    assert given.topology is not None
    graph = TaskGraph(given.topology)
    listed, file = replicas(plan, graph, given.cluster, "current", **options)
    assert file is not None
    assert file.role == "current"
    return {"{}/{}".format(*graph.name(item.task)): item.node for item in listed}


def test_each_task_is_replicated_where_most_of_its_key_groups_go() -> None:
    """Ties go to the first: of groups 2 and 3 one is with each of the first two new tasks."""
    assert standing(scale_out(), problem()) == {"sink/0": "n3", "sink/1": "n3", "sink/2": "n4"}
    later = scale_out(key_ranges=[[0, 0], [1, 3], [4, 4], [5, 5]])
    assert standing(later, problem()) == {"sink/0": "n3", "sink/1": "n1", "sink/2": "n4"}
    assert standing(scale_out(nodes=None), problem()) == dict.fromkeys(["sink/0", "sink/1", "sink/2"])
    assert standing(scale_out(nodes=["gone"] * 4), problem(), anywhere=True).keys() == {"sink/0", "sink/1", "sink/2"}
    even = scale_out(key_ranges=None, parallelism_to=2, nodes=["n3", "n4"])
    assert standing(even, problem()) == {"sink/0": "n3", "sink/1": "n3", "sink/2": "n4"}


@pytest.mark.parametrize(
    "fields", [{"state": "promoted"}, {"state": "normal"}, {"technique": "checkpoint"}, {"technique": None}]
)
def test_only_prepared_backups_count(fields: dict[str, Any]) -> None:
    assert standing(scale_out(**fields), problem()) == {}


def test_replicas_of_the_placement_stand_beside_them() -> None:
    placed = problem(replicas={"source": [None, "n4", None], "sink": ["n4", None, None]})
    assert standing(scale_out(), placed) == {"source/1": "n4", "sink/0": "n4", "sink/1": "n3", "sink/2": "n4"}


def test_replicate_tasks_keeps_what_is_prepared(tmp_path: Path) -> None:
    """Two lanes need four replicas: two of them run already, and one that runs is of no use."""
    path = tmp_path / "scale-out.json"
    path.write_text(scale_out().to_json())
    plan = ftplan.plan("replicate-tasks", problem(), budget=4, current=path, max_changes=3)
    assert names(plan) == ["sink/0@n3", "sink/1@n3", "source/0@n4", "source/1@n4"]
    assert names(plan, "activate") == ["source/0@n4", "source/1@n4"]
    assert names(plan, "deactivate") == ["sink/2@n4"]
    assert plan.inputs[-1].role == "current"
    assert verify(plan, problem()).violations == ()
    too_few = ftplan.plan("replicate-tasks", problem(), budget=4, current=scale_out(), max_changes=2)
    assert names(too_few, "activate") != names(plan, "activate")


def test_a_schedule_lets_backups_take_over() -> None:
    """The node of the first lane fails; the secondary of its sink is alive."""
    given = problem()
    without, with_backups = (
        ftplan.plan("recovery-schedule", given, fail=("node:n1",), samples=0, **options)
        for options in ({}, {"replicas": scale_out()})
    )
    recovered = [
        {f"{task['operator']}/{task['index']}" for step in (plan.plan or {})["steps"] for task in step["recover"]}
        for plan in (without, with_backups)
    ]
    assert recovered == [{"source/0", "source/1", "sink/0"}, {"source/0", "source/1"}]
    assert verify(with_backups, given).violations == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"operator": "snk"}, r"plan.operators\[0\]: unknown operator 'snk' \(did you mean 'sink'\?\)"),
        ({"parallelism_from": 2}, "'sink' has 3 tasks, not 2: plan the scale-out again"),
        ({"nodes": ["n1"]}, "names 1 nodes for 4 tasks"),
        ({"nodes": ["n9"] * 4}, "unknown node 'n9'"),
    ],
)
def test_a_plan_of_another_job_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message):
        standing(scale_out(**fields), problem())


def test_other_kinds_are_refused() -> None:
    other = load_plan({**ENVELOPE, "kind": "drain-schedule", "plan": {"rounds": []}}).value
    with pytest.raises(FtplanError, match="--current needs a plan of kind replicate-tasks or scale-out, not drain"):
        standing(other, problem())

"""One situation serves every question: what is in it, where each part is from, and that it is collected once."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.kinds import ROWS
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.situation import GivenByOptions, Situation, situation_of
from tests.places import ROOT
from tests.planners.plan_cases import SMALL

PLANNERS = ROOT / "ftplan" / "planners"
#: What collects a part of the situation from the inputs.
COLLECTING = ("measured_topology", "measured_rates", "task_costs", "task_state", "key_group_series", "measured_by_task")
#: Who reads loads of key groups without a job, whose situation there is not.
WITHOUT_TOPOLOGY = {"allocate_checkpoints/key_group_sweep.py"}


def small(*, cluster: bool = True, stats: str | None = "stats", **options: Any) -> Situation:
    problem = ftplan.load(
        topology=SMALL / "topology.yaml",
        cluster=SMALL / "cluster.yaml" if cluster else None,
        stats=None if stats is None else SMALL / stats,
    )
    return situation_of(problem, RecoveryScheduleOptions.of("recovery-schedule", options))


def kinds(situation: Situation) -> dict[str, str]:
    return {name: origin.kind for name, origin in situation.origins.items()}


#: Without statistics: the topology states cpu and state, and no rate; nobody states the network.
PLAIN = {
    "graph": "assumed",
    "costs": "stated",
    "state": "stated",
    "series": "assumed",
    "home": "stated",
    "replicas": "assumed",
    "copies": "stated",
    "recovery": "assumed",
    "bandwidth_mb_s": "assumed",
    "delay_s": "assumed",
}
#: The folder ``stats`` has records of key groups; ``stats-tasks`` what each task took and sent.
KEY_GROUPS = {"costs": "measured", "series": "measured"}
TASKS = {**KEY_GROUPS, "graph": "measured"}
NO_CLUSTER = {"home": "assumed", "copies": "assumed"}


@pytest.mark.parametrize(
    ("cluster", "stats", "differs"),
    [
        (True, None, {}),
        (False, None, NO_CLUSTER),
        (True, "stats", KEY_GROUPS),
        (False, "stats", {**KEY_GROUPS, **NO_CLUSTER}),
        (True, "stats-tasks", TASKS),
    ],
)
def test_origins(cluster: bool, stats: str | None, differs: dict[str, str]) -> None:
    assert kinds(small(cluster=cluster, stats=stats)) == {**PLAIN, **differs}


def test_origins_say_what_was_measured_stated_or_assumed() -> None:
    found = {name: origin.text for name, origin in small(stats=None).origins.items()}
    assert found == {
        "graph": "1 record/s from each task of a source, and from there by selectivity",
        "costs": "cpu of the topology, 1 core where it states none",
        "state": "state_bytes of the topology",
        "series": "equal shares of the load of each operator",
        "home": "placement.tasks of the cluster",
        "replicas": "no replicas are in place",
        "copies": "placement.checkpoints of the cluster",
        "recovery": "failures are noticed and tasks start in no time",
        "bandwidth_mb_s": "100 MiB/s; a recovery without it takes no time for transfers",
        "delay_s": "0.001 s",
    }
    assert small().origins["series"].text == "48 windows of 3600 s in the statistics"
    measured = "the topology's cpu, divided over the tasks of a process by their measured records"
    assert small().origins["costs"].text == measured


def test_origins_of_what_options_state() -> None:
    found = small(fail=("zone:a",), bandwidth=10.0).origins
    assert found["failed"] == ("stated", "--fail zone:a")
    assert found["arrivals"] == ("assumed", "2 new nodes arrive, one for each failed one")
    assert found["bandwidth_mb_s"] == ("stated", "--bandwidth 10MiB/s")
    assert small(complete_failure=True).origins["failed"] == ("stated", "--complete-failure")
    assert small(fail=("zone:a",), arrivals=False).origins["arrivals"] == ("assumed", "no node arrives")


def test_a_placement_that_was_made_up_is_assumed() -> None:
    documents = {"topology": SMALL / "topology.yaml", "stats": SMALL / "stats"}
    nodes = {"format": "ftplan/cluster", "format_version": "1.0", "nodes": [{"id": "n1", "cpu": 8}]}
    assert situation_of(ftplan.load(**documents, cluster=nodes)).origins["home"].kind == "assumed"
    spread = situation_of(ftplan.load(**documents, cluster=nodes, spread=True))
    assert spread.origins["home"] == (
        "assumed",
        "tasks stand round robin on the cluster's nodes, as --spread asks",
    )
    assert (spread.home == 0).all()


def test_arrays() -> None:
    situation = small()
    # alerts, clicks, sessions: tasks are numbered by the id of their operator
    assert situation.node_names == ("n1", "n2", "n1", "n2", "n3", "n4", "n5", "n6")
    assert situation.home.tolist() == [0, 1, 0, 1, 2, 3, 4, 5]
    assert situation.unplaced == ()
    assert situation.replica_node.tolist() == [-1] * 8
    assert situation.copies == {"alerts": (("n2",), ("n2",), ("n1",), ("n1",))}
    assert situation.used_cpu.tolist() == [0.0] * 6
    assert situation.memory_mb.tolist() == [64.0] * 6
    assert situation.costs.cost.shape == situation.state.total.shape == (8,)
    assert situation.series("records").loads.shape == (48, 12)
    assert situation.series("records", [situation.topology.operator("sessions")]).loads.shape == (48, 8)
    assert situation.files == ()
    assert (situation.delay_s, situation.bandwidth_mb_s) == (0.001, None)


def test_without_a_cluster() -> None:
    situation = small(cluster=False)
    assert situation.node_names == (None,) * 8
    assert situation.home.tolist() == [-1] * 8
    assert situation.unplaced == ("alerts", "clicks", "sessions")
    assert situation.copies == {}


def test_one_graph_where_nothing_was_measured() -> None:
    situation = small(stats=None)
    assert situation.graph is situation.stated_graph
    assert small(stats="stats-tasks").graph.topology is not situation.topology


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    situation = small()
    assert set(vars(situation)) == {field.name for field in dataclasses.fields(Situation)}
    assert situation.costs is situation.costs  # and then it is kept
    assert set(vars(situation)) - {field.name for field in dataclasses.fields(Situation)} == {"stated_graph", "costs"}


def test_it_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        small().stats = None  # type: ignore[misc]


def test_what_a_question_needs() -> None:
    problem = ftplan.load(topology=SMALL / "topology.yaml")
    with pytest.raises(FtplanError, match=r"^a rebalance needs cluster: give --cluster \(in Python cluster=\.\.\.\)$"):
        situation_of(problem, None, "a rebalance", ("topology", "cluster", "stats"))


def test_options_are_found_by_their_names() -> None:
    asked = DrainScheduleOptions(checkpoints="plan.json", costs="costs.yaml")
    assert GivenByOptions.of(asked) == GivenByOptions(checkpoints="plan.json", costs="costs.yaml")
    assert GivenByOptions.of(None) == GivenByOptions()
    known = RecoveryScheduleOptions(fail=("zone:a",), complete_failure=True, arrivals=False, bandwidth=3.0)
    assert GivenByOptions.of(known) == GivenByOptions(
        fail=("zone:a",), complete_failure=True, arrivals=False, bandwidth=3.0
    )


def collecting(path: Path) -> set[str]:
    """Return which functions that collect a part of the situation a file imports from the model."""
    imported = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom))
    names = {(node.module, alias.name) for node in imported for alias in node.names}
    return {name for module, name in names if name in COLLECTING and (module or "").startswith("ftplan.model.measures")}


def test_nobody_else_collects_the_situation() -> None:
    by_file = {path.relative_to(PLANNERS).as_posix(): collecting(path) for path in PLANNERS.rglob("*.py")}
    who = {path for path, names in by_file.items() if names}
    assert who == {"situation.py"} | WITHOUT_TOPOLOGY
    assert Counter(name for names in by_file.values() for name in names) == {
        "measured_topology": 1,
        "task_costs": 1,
        "task_state": 1,
        "key_group_series": 2,
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_question_starts_from_it(row: Any) -> None:
    text = (PLANNERS / row.folder.rpartition(".")[2] / "prepare.py").read_text()
    assert text.count("situation_of(problem") == 1


def test_home_of_unknown_nodes_is_nowhere() -> None:
    situation = small()
    assert situation.cluster is not None
    placement = situation.cluster.placement
    assert placement is not None
    tasks = {name: nodes for name, nodes in placement.tasks.items() if name != "clicks"}
    cluster = dataclasses.replace(situation.cluster, placement=dataclasses.replace(placement, tasks=tasks))
    some = dataclasses.replace(situation, cluster=cluster)
    assert some.unplaced == ("clicks",)
    assert np.flatnonzero(some.home == -1).tolist() == [2, 3]

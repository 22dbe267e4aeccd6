"""The cost and the state of tasks: measured, shared by records within a process, or as the topology says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.cluster import Placement
from ftplan.model.measures.task_costs import TaskCosts, task_costs
from ftplan.model.measures.task_state import task_state
from ftplan.model.task_graph import TaskGraph
from tests.model.measures.measured_cases import measured
from tests.planners.recovery_schedule.recovery_cases import TOPOLOGY, statistics


def problem(tasks: list[tuple[Any, ...]] = [], key_groups: list[tuple[Any, ...]] = []) -> ftplan.Problem:  # noqa: B006
    return ftplan.load(topology=TOPOLOGY, stats=statistics(tasks, key_groups))


def costs(given: ftplan.Problem, placement: Placement | None = None) -> TaskCosts:
    assert given.topology is not None
    return task_costs(TaskGraph(given.topology), given.stats, placement)


def test_without_statistics_the_topology_says() -> None:
    found = costs(ftplan.load(topology=TOPOLOGY))
    assert found.source == "topology"
    assert found.warnings == ()
    assert sorted(found.cost.tolist()) == [0.25] * 4 + [0.5] * 2 + [1.0] * 4


def cost_of(found: TaskCosts, given: ftplan.Problem, operator: str) -> list[float]:
    assert given.topology is not None
    graph = TaskGraph(given.topology)
    parts: np.ndarray[Any, Any] = found.cost[graph.slice_of(given.topology.position[operator])]
    return parts.tolist()


def test_measured_cpu_is_taken_before_that_of_key_groups() -> None:
    """Two windows of 60 s: 60,000 ms are half a core. Join's task 1 owns groups 2 and 3."""
    given = problem(
        [("join", 0, 0, 5, 60_000.0), ("join", 0, 1, 5, None)],
        [("join", 0, 0, 1, 12_000.0), ("join", 2, 0, 1, 6_000.0), ("join", 3, 1, 1, 6_000.0)],
    )
    assert cost_of(costs(given), given, "join")[:2] == [0.5, 0.1]


def test_a_process_is_shared_by_records() -> None:
    """The tasks of one operator on one node are one process; without a placement the operator is."""
    given = problem([("join", i, 0, records, None) for i, records in enumerate((30, 10, 60, 100))])
    assert cost_of(costs(given), given, "join") == [0.6, 0.2, 1.2, 2.0]
    on = Placement(tasks={"join": ("a", "a", "b", "b")})
    assert cost_of(costs(given, on), given, "join") == [1.5, 0.5, 0.75, 1.25]


def test_what_was_measured_is_told_apart() -> None:
    given = problem([("join", 0, 0, 5, 60_000.0), ("join", 1, 0, 5, None), ("sink", 2, 0, 5, None)])
    graph = TaskGraph(given.topology)  # type: ignore[arg-type]
    by_cpu = costs(given).measured
    assert by_cpu is not None
    assert [graph.name(task) for task in np.flatnonzero(by_cpu)] == [("join", 0)]
    assert costs(ftplan.load(topology=TOPOLOGY)).measured is None


def test_what_nothing_is_known_of_costs_what_the_topology_says() -> None:
    given = problem([("join", 0, 0, 1, 60_000.0)])
    found = costs(given)
    assert cost_of(found, given, "sink") == [0.25] * 4
    assert [warning.code for warning in found.warnings] == ["COST_FROM_TOPOLOGY"]
    assert found.warnings[0].message.startswith("9 tasks have no statistics")


@pytest.mark.parametrize(
    ("tasks", "key_groups", "message"),
    [
        ([("join", 9, 0, 1, None)], [], "task join/9, but 'join' has 4 tasks"),
        ([("joni", 0, 0, 1, None)], [], "operator 'joni'.*did you mean 'join'"),
        ([], [("sink", 0, 0, 1, None)], "key groups of operator 'sink', which has none"),
        ([("join", 0, 0, 1, 1e18)], [], "task join/0 takes .* cores, more than"),
    ],
)
def test_statistics_of_another_job(tasks: list[Any], key_groups: list[Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message):
        costs(problem(tasks, key_groups))


def test_state_is_the_largest_that_was_seen() -> None:
    given = problem([], [("join", 0, 0, 1, None, 5e6), ("join", 0, 1, 1, None, 7e6), ("join", 3, 0, 1, None, 1e6)])
    assert given.topology is not None
    found = task_state(TaskGraph(given.topology), given.stats)
    stated = 8 * 2**20 / 2
    assert found.by_group["join"].tolist()[:4] == [7e6, stated, stated, 1e6]
    graph = TaskGraph(given.topology)
    assert found.total[graph.slice_of(given.topology.position["join"])].tolist() == [
        7e6 + stated, stated + 1e6, 2 * stated, 2 * stated,
    ]  # fmt: skip


def test_memory_is_state_where_no_state_was_measured() -> None:
    """The largest of each task; source states none, join states 8 MB of each task."""
    rows = [("source", 0, 0, 1, None, None, 3e6), ("source", 0, 1, 1, None, None, 2e6), ("join", 1, 0, 1, 1, 1, 5e6)]
    given = ftplan.load(topology=TOPOLOGY, stats=measured(["source", "join"], tasks=rows))
    assert given.topology is not None
    graph = TaskGraph(given.topology)
    answer = task_state(graph, given.stats)
    assert answer.total[graph.slice_of(0)].tolist() == [3e6, 0.0]
    assert answer.total[graph.slice_of(1)].tolist() == [8 * 2**20, 5e6, 8 * 2**20, 8 * 2**20]
    assert answer.by_group["join"].tolist()[2:4] == [2.5e6, 2.5e6]
    assert [warning.code for warning in answer.warnings] == ["STATE_DISAGREES"]
    text = "the state of join/1 is its measured memory of 5e+06 bytes; the topology says 8.38861e+06"
    assert answer.warnings[0].message == text


def test_memory_does_not_count_beside_measured_state() -> None:
    given = measured(["join"], tasks=[("join", 0, 0, 1, None, None, 1e9)], windows=2)
    groups = statistics([], [("join", 3, 0, 1, None, 1e6)])["key_groups"]
    given["manifest"]["operators"] = {"join": {"key_groups": 8}}
    loaded = ftplan.load(topology=TOPOLOGY, stats={**given, "key_groups": groups})
    assert loaded.topology is not None
    graph = TaskGraph(loaded.topology)
    answer = task_state(graph, loaded.stats)
    assert answer.total[graph.number("join", 0)] == 8 * 2**20
    assert answer.total[graph.number("join", 1)] == 4 * 2**20 + 1e6
    assert answer.warnings == ()

"""Tables of tasks and key groups as matrices, beside what a loop over their rows says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.measures.measured_tasks import by_task, measured_groups, measured_tasks
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from tests.effort import examples
from tests.model.measures.measured_cases import measured, tables
from tests.topologies import operator

NAN = math.nan
#: Operators and their tasks; file order is not that of ids.
TASKS = {"z": 2, "a": 3, "m": 1}
GROUPS = {"a": 7, "m": 2}
JOB = Topology(
    tuple(operator(name, tasks, key_groups=GROUPS.get(name)) for name, tasks in TASKS.items()),
    (Edge(0, 1, "full"), Edge(1, 2, "full")),
)
WINDOWS = 4
VALUE = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, 100.0]))


@st.composite
def _rows(draw: st.DrawFn) -> dict[str, Any]:
    named = [name for name in TASKS if draw(st.booleans())]
    tasks = [
        (name, task, window, draw(st.sampled_from([0.0, 3.0])), *(draw(VALUE) for _ in range(5)))
        for name in named
        for task in range(TASKS[name])
        for window in range(WINDOWS)
        if draw(st.booleans())
    ]
    groups = [
        (name, group, window, draw(st.sampled_from([0.0, 3.0])), draw(VALUE), draw(VALUE))
        for name in GROUPS
        if draw(st.booleans())
        for group in range(GROUPS[name])
        for window in range(WINDOWS)
        if draw(st.booleans())
    ]
    order = draw(st.randoms(use_true_random=False))
    order.shuffle(tasks)
    order.shuffle(groups)
    return measured(TASKS, tasks=tasks, key_groups=groups, windows=WINDOWS) | {"rows": (tasks, groups)}


COLUMNS = ("records_in", "records_out", "cpu_ms", "memory_bytes", "busy_ms", "queue_length")


@settings(max_examples=examples(60))
@given(_rows())
def test_matrices_are_what_the_rows_say(statistics: dict[str, Any]) -> None:
    rows, of_groups = statistics.pop("rows")
    graph, stats = TaskGraph(JOB), tables(statistics)
    groups = measured_groups(graph, stats)
    ours = measured_tasks(graph, stats, groups)
    cells = {row[:3]: dict(zip(COLUMNS, row[3:], strict=True)) for row in rows}
    group_cells = {row[:3]: row[3:] for row in of_groups}
    for i, (name, tasks) in enumerate(TASKS.items()):
        mine = [row for row in rows if row[0] == name]
        grouped = [row for row in of_groups if row[0] == name]
        assert ours.source[i] == ("tasks" if mine else "key_groups" if grouped else None)
        assert (name in groups) == bool(grouped)
        for column in COLUMNS:
            if not mine:
                continue
            has = any(cells[row[:3]][column] is not None for row in mine)
            here = getattr(ours, column)[:, graph.slice_of(i)]
            for task in range(tasks):
                last = NAN
                for window in range(WINDOWS):
                    row = cells.get((name, task, window))
                    value = NAN if row is None or row[column] is None else row[column]
                    if row is None and has and column != "memory_bytes":
                        value = 0.0
                    if column == "memory_bytes":
                        last = value = last if math.isnan(value) else value
                        if not has and grouped:
                            continue  # the state of its key groups stands in
                    np.testing.assert_equal(here[window, task], value)
        for group in range(GROUPS.get(name, 0) if grouped else 0):
            for window in range(WINDOWS):
                records = group_cells.get((name, group, window), (0.0,))[0]
                assert groups[name].records[window, group] == records


def test_key_groups_stand_in_for_tasks_by_the_ranges_of_the_engine() -> None:
    """Seven key groups on three tasks: 0 to 2, 3 and 4, 5 and 6."""
    rows = [("a", group, 0, 10.0**group, 1.0, 5.0 * group) for group in range(7)]
    stats = tables(measured(TASKS, key_groups=[*rows, ("a", 0, 1, 4.0, 9.0, None)]))
    graph = TaskGraph(JOB)
    ours = measured_tasks(graph, stats, measured_groups(graph, stats))
    part = graph.slice_of(1)
    np.testing.assert_array_equal(ours.records_in[:, part], [[111.0, 11_000.0, 1_100_000.0], [4.0, 0.0, 0.0]])
    np.testing.assert_array_equal(ours.cpu_ms[:, part], [[3.0, 2.0, 2.0], [9.0, 0.0, 0.0]])
    np.testing.assert_array_equal(ours.memory_bytes[:, part], [[15.0, 35.0, 55.0]] * 2)
    assert np.isnan(ours.busy_ms[:, part]).all()
    assert np.isnan(ours.records_in[:, graph.slice_of(0)]).all()
    assert ours.counts_output == (False, False, False)


def test_a_source_processed_what_it_wrote() -> None:
    rows = [("z", 0, 0, 0.0, 7.0), ("a", 0, 0, 7.0, 3.0), ("a", 1, 1, 5.0, None), ("m", 0, 0, 0.0)]
    graph = TaskGraph(JOB)
    ours = measured_tasks(graph, tables(measured(TASKS, tasks=rows)), {})
    assert ours.processed[:, graph.slice_of(0)].tolist() == [[7.0, 0.0], [0.0, 0.0]]
    assert ours.processed[:, graph.slice_of(1)].tolist() == [[7.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    assert ours.processed[:, graph.slice_of(2)].tolist() == [[0.0], [0.0]]
    assert ours.counts_output == (True, True, False)


def test_tasks_without_key_groups_of_their_own_get_nothing() -> None:
    """Two key groups for five tasks."""
    owner = operator("o", 5, key_groups=2).task_of_key_groups()
    sums = by_task(np.array([[1.0, 2.0], [NAN, 4.0]]), owner, 5)
    expected = np.zeros((2, 5))
    expected[:, owner] = [[1.0, 2.0], [NAN, 4.0]]
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        (measured(["x"], tasks=[("x", 0, 0, 1.0)]), "operator 'x', which the topology does not know"),
        (measured(["a"], tasks=[("a", 3, 0, 1.0)]), "task a/3, but 'a' has 3 tasks"),
        (measured(["a"], key_groups=[("a", 7, 0, 1.0)]), "key group"),
        (measured(["z"], key_groups=[("z", 0, 0, 1.0)]), "which has none in the topology"),
    ],
)
def test_what_the_topology_does_not_have_is_refused(statistics: dict[str, Any], message: str) -> None:
    graph, stats = TaskGraph(JOB), tables(statistics)
    with pytest.raises(FtplanError, match=message):
        measured_tasks(graph, stats, measured_groups(graph, stats))

"""The matrix of loads: against a plain loop, and every way in which topology and statistics can differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.problem import StatsTables
from tests.io.examples import key_group_row, manifest, said

OPERATORS = {"b": {"key_groups": 2}, "a10": {"key_groups": 3}, "a2": {"key_groups": 1}, "source": {}}


def stats(*rows: dict[str, Any], **changes: Any) -> StatsTables:
    document = manifest(**{"operators": OPERATORS, **changes})
    return load_stats({"manifest": document, "key_groups": list(rows)}).value


def row(operator: str, group: int, window: int, **changes: Any) -> dict[str, Any]:
    start = f"2024-01-01T00:0{window}:00Z"
    return key_group_row(**{"operator": operator, "key_group": group, "window_start": start, **changes})


def job(**key_groups: int | None) -> Any:
    operators = [{"id": name, "key_groups": count} for name, count in key_groups.items()]
    return load_topology({"format": "ftplan/topology", "format_version": "1.0", "operators": operators}).value


@given(
    st.lists(
        st.tuples(st.sampled_from([("b", 0), ("b", 1), ("a10", 0), ("a10", 2), ("a2", 0)]), st.integers(0, 3)),
        unique=True,
        max_size=12,
    ),
    st.randoms(),
)
def test_matrix(cells: list[tuple[tuple[str, int], int]], random: Any) -> None:
    """Every row is where it belongs, all else is zero; the largest state counts; the order of rows does not."""
    values = {cell: random.randint(1, 1000) / 8 for cell in cells}
    rows = [row(o, g, w, records=values[(o, g), w], state_bytes=w or None) for (o, g), w in cells]
    found = key_group_series(stats(*rows), "records")
    assert found.operators == ("a10", "a2", "b")
    assert found.names == (("a10", 0), ("a10", 1), ("a10", 2), ("a2", 0), ("b", 0), ("b", 1))
    expected = np.zeros((4, 6))
    for (name, window), value in values.items():
        expected[window, found.position[name]] = value
    np.testing.assert_array_equal(found.loads, expected)
    for k, name in enumerate(found.names):
        states = [w for n, w in cells if n == name and w]
        assert np.isnan(found.state_bytes[k]) if not states else found.state_bytes[k] == max(states)


def test_topology_decides() -> None:
    """Where the manifest does not say how many groups there are, the topology does, else the largest number seen."""
    read = stats(row("b", 1, 0), operators={"b": {}})
    assert key_group_series(read, "records").loads.shape == (4, 2)
    assert key_group_series(read, "records", job(b=5)).loads.shape == (4, 5)


def test_estimated() -> None:
    read = stats(row("b", 1, 0, estimated=True), operators={"b": {"key_groups": 2}, "c": {"key_groups": 1,
                 "estimated": True}})  # fmt: skip
    assert key_group_series(read, "records").estimated.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("rows", "measure", "topology", "message"),
    [
        ([row("b", 0, 0)], "cpu_ms", None, "the statistics have no 'cpu_ms': there is records, bytes"),
        ([row("b", 0, 0)], "byte", None,
         "the statistics have no 'byte' (did you mean 'bytes'?): there is records, bytes"),
        ([row("b", 0, 0), row("a2", 0, 0, bytes=None)], "bytes", None,
         "the statistics have no 'bytes' of operator 'a2'"),
        ([row("b", 0, 0), row("b", 0, 0)], "records", None,
         "key_groups: two rows for key group b/0 in window 0 (of 4)"),
        ([], "records", job(bb=2, a10=3, a2=1),
         "the statistics have an operator 'b', which the topology does not know (did you mean 'bb'?)"),
        ([], "records", job(b=None, a10=3, a2=1), "the statistics have key groups of operator 'b', which has none in "
         "the topology: give it 'key_groups: 2'"),
        ([], "records", job(b=2, a10=4, a2=1), "operator 'a10' has 4 key groups in the topology, but 3 in the "
         "statistics: make them equal, or compute the statistics again with the topology"),
    ],
)  # fmt: skip
def test_messages(rows: list[Any], measure: Any, topology: Any, message: str) -> None:
    assert said(key_group_series, stats(*rows), measure, topology) == message


def test_more_groups_than_the_topology_has() -> None:
    read = stats(row("b", 7, 0), operators={"b": {}})
    assert said(key_group_series, read, "records", job(b=5)) == (
        "operator 'b' has 5 key groups in the topology, but the statistics have key group 7"
    )


def test_too_large_a_matrix() -> None:
    read = stats(operators={name: {"key_groups": 10_000_000} for name in map(str, range(51))})
    assert said(key_group_series, read, "records") == (
        "510,000,000 key groups x 4 windows do not fit into memory: use longer windows"
    )

"""Tables on narrow terminals: what tells rows apart stays, numbers stay whole, nothing is wider than the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.cli.table_width import distinct, parts_of
from ftplan.reports.answer import Answer, Table
from tests.cli.narrow import assert_narrow, shown

NODES = [f"ip-10-0-{i}-7.eu-central-1.compute.internal" for i in range(12)]
PREFIXED = [f"streaming-production-taskmanager-eu-central-1-{i:03d}.cluster.local.example.org" for i in range(12)]
TASKS = [f"Source-orders-1-MiniBatchAssigner-2-Calc-3-Calc-7-MiniBatchAssigner-8-Loc/{i}" for i in range(12)]
CASES = [f"fail=zone:rack-{zone} spares={n} traffic=1.{n}" for zone in "abcd" for n in range(3)]


@pytest.mark.parametrize("names", [NODES, PREFIXED, TASKS, CASES])
@pytest.mark.parametrize("width", [40, 80])
def test_rows_keep_what_tells_them_apart(names: list[str], width: int) -> None:
    """Also where a table has far too many columns: each part of it begins with the names."""
    rows = [(name, NODES[i], 1234.5 * i, "recovered by step 0, whole", TASKS[-i]) for i, name in enumerate(names)]
    few = Table(("task", "node", "back, s", "reason", "with"), rows, "a title")
    many = Table(
        (*few.columns, *(f"delta of {i}" for i in range(9))), [(*row, *range(10**6, 10**6 + 9)) for row in rows]
    )
    for table in (few, many):
        assert_narrow(Answer("{}", [table]), width)
    parts = parts_of(many, width)
    assert len(parts) > 1
    assert {part.columns[0] for part in parts} == {"task"}
    assert all(len({part.rows[i][0] for part in parts}) == 1 or width == 40 for i in range(12))
    assert "1,000,008" in shown(Answer("{}", [many]), width)


def test_a_task_keeps_its_index_and_a_node_its_changing_part() -> None:
    tasks, nodes = distinct(TASKS, 20), distinct(PREFIXED, 16)
    assert tasks is not None
    assert nodes is not None
    assert all(tasks[name].endswith(f"/{i}") and tasks[name].startswith("Source") for i, name in enumerate(TASKS))
    assert all(f"{i:03d}"[1:] in nodes[name] for i, name in enumerate(PREFIXED))
    assert distinct(["ab" * 20 + "x" + "cd" * 20, "ab" * 20 + "y" + "cd" * 20], 10) is not None
    assert distinct([f"x{a}{'-' * 20}{b}{'-' * 20}{a}" for a in "cd" for b in "ef"], 8) is None  # folded, not cut


def test_what_fits_is_left_alone() -> None:
    table = Table(("task", "node"), [("join/0", "n1"), ("join/1", "n2")])
    (part,) = parts_of(table, 80)
    assert part.rows == (("join/0", "n1"), ("join/1", "n2"))
    assert part.widths == (6, 4)
    assert parts_of(Table(("task",), []), 80)[0].rows == ()


_CELLS = st.one_of(st.text(st.sampled_from("ab/-9 …é世\n"), max_size=60), st.integers(-(10**9), 10**9), st.none())


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.tuples(*[_CELLS] * n), max_size=6)), st.integers(20, 90))
def test_any_table(rows: list[tuple[object, ...]], width: int) -> None:
    count = len(rows[0]) if rows else 1
    assert_narrow(Answer("{}", [Table([f"column number {i}" for i in range(count)], rows)]), width)

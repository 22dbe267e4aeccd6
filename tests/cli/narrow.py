"""What a terminal of 80 columns shows of an answer: nothing is too wide, and what differs reads differently."""

from __future__ import annotations

import io
import os
import re
from unittest import mock

from rich.cells import cell_len

from ftplan.cli.render import _print_tables
from ftplan.cli.table_width import parts_of
from ftplan.reports.answer import Answer, Table, cell

COLUMNS = 80


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(answer: Answer, width: int = COLUMNS) -> str:
    """Return what is printed on a terminal of so many columns."""
    stream = Terminal()
    with mock.patch.dict(os.environ, {"COLUMNS": str(width), "TERM": "xterm"}):
        _print_tables(answer, "table", stream)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def assert_narrow(answer: Answer, width: int = COLUMNS) -> None:
    """Check every table: lines fit, and where cells of a column differ, or rows do, so do those that are shown."""
    text = shown(answer, width)
    assert max(map(cell_len, text.splitlines()), default=0) <= width, text
    for table in answer.tables:
        _assert_distinct(table, width)


def _assert_distinct(table: Table, width: int) -> None:
    rows = [tuple(map(cell, row)) for row in table.rows]
    parts = parts_of(table, width)
    assert list(dict.fromkeys(name for part in parts for name in part.columns)) == list(dict.fromkeys(table.columns))
    for part in parts:
        at = [table.columns.index(name) for name in part.columns]
        for place, i in enumerate(at):
            if table.columns.count(table.columns[i]) == 1:
                pairs = {(row[i], row_shown[place]) for row, row_shown in zip(rows, part.rows, strict=True)}
                assert len({seen for _, seen in pairs}) == len({whole for whole, _ in pairs}), (table.title, pairs)
    whole = {row: tuple(part.rows[n] for part in parts) for n, row in enumerate(rows)}
    assert len(set(whole.values())) == len(whole), table.title

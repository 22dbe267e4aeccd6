"""What a command answers, as data: JSON and tables; and how a value reads in a table, as text and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ftplan.errors import printable
from ftplan.reports.numbers import nearly_one


@dataclass(frozen=True, slots=True)
class Table:
    """A table to show: a title, column names, and rows; numbers are set flush right.

    With *tick* its first column holds boxes, and Markdown has a list of tasks to tick off instead of a table. *most*
    rows are shown where nobody asks for more; None shows all.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str | None = None
    tick: bool = False
    most: int | None = None

    def first(self, rows: int | None, others: str) -> Table:
        """Return the table with so many rows, None for :attr:`most`, and a word on the *others* in its title."""
        shown = self.most if rows is None else rows
        if self.most is None or shown is None or len(self.rows) <= shown:
            return self
        title = f"first {shown} … and {len(self.rows) - shown:,} more ({others})"
        if self.title:
            title = f"{self.title}: {title}"
        return replace(self, rows=self.rows[:shown], title=title)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers: a JSON text, and tables that say the same to people.

    ``data`` is what a file holds, where that is not the JSON text.
    """

    json: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = field(default=())
    data: bytes | None = None


def cell(value: Any) -> str:
    """Return a value as a person wants to read it: numbers with four significant digits, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{value + 0.0:,.0f}"  # no -0
        if abs(value) >= 1e6 or abs(value) < 1e-4:
            return f"{value:.3e}"
        return nearly_one(value) or (f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}")
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(item) for item in value)
    return printable(str(value))


def csv_cell(value: Any) -> Any:
    """Return a value as CSV holds it: text that a spreadsheet would take for a formula begins with an apostrophe."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def stands_right(value: Any) -> bool:
    """Return whether a value is set flush right: any number, also one that is not finite, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def markdown(table: Table) -> str:
    """Return a table as GitHub-flavoured Markdown."""
    if table.tick:
        return _checklist(table)
    right = [all(stands_right(r[i]) or r[i] is None for r in table.rows) for i in range(len(table.columns))]
    lines = [f"**{_inline(table.title)}**", ""] if table.title else []
    lines.append("| " + " | ".join(map(_inline, table.columns)) + " |")
    lines.append("|" + "|".join("---:" if r else "---" for r in right) + "|")
    lines += ["| " + " | ".join(_inline(cell(v)) for v in row) + " |" for row in table.rows]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    """Return a text as Markdown shows it within a line: it begins no column, tag or link."""
    return re.sub(r"([|<]|(?<=\])\()", r"\\\1", printable(text).replace("\n", " "))


def _checklist(table: Table) -> str:
    """Return a list of tasks: the first two columns, and the others behind their names; what is empty is left out."""
    lines = [f"**{table.title}**", ""] if table.title else []
    for _, number, *others in table.rows:
        named = zip(table.columns[2:], others, strict=True)
        known = [(name, cell(value)) for name, value in named if value not in (None, "")]
        text = "; ".join(f"{name}: {value}" if name else value for name, value in known)
        lines.append(f"- [ ] **{table.columns[1]} {cell(number)}**: {text}")
    return "\n".join(lines) + "\n"

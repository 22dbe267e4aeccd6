"""What names hold is neither a formula of a spreadsheet, nor a column or tag of Markdown, nor a terminal's command."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.reports.answer import Table, cell, csv_cell, markdown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('=HYPERLINK("http://x")', "'=HYPERLINK(\"http://x\")"), ("@SUM(A1)", "'@SUM(A1)"), ("+x", "'+x"),
        ("-cmd", "'-cmd"), ("\t=1", "'\t=1"), ("-1.5", "-1.5"), ("+3", "+3"), (-1.5, -1.5), (None, None),
        ("a=1", "a=1"), ("", ""),
    ],
)  # fmt: skip
def test_no_formula_in_csv(value: Any, shown: Any) -> None:
    assert csv_cell(value) == shown


def test_no_command_to_a_terminal() -> None:
    assert cell("a\x1b[2J\x9b\u202eb") == r"a\x1b[2J\x9b\u202eb"
    assert cell(["a\x07", 1]) == r"a\x07, 1"
    assert cell("zwei\nZeilen äöü …") == "zwei\nZeilen äöü …"


def test_no_column_or_tag_in_markdown() -> None:
    shown = markdown(Table(("a|b", "c"), [("x|<img src=y>", "[z](http://w)"), ("two\nlines", 1)], "t\x1b|"))
    assert shown.splitlines()[2:] == [
        r"| a\|b | c |", "|---|---|", r"| x\|\<img src=y> | [z]\(http://w) |", "| two lines | 1 |",
    ]  # fmt: skip
    assert shown.startswith(r"**t\x1b\|**")

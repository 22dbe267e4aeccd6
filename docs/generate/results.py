"""Figures and tables of the files that measurements wrote: no page types a measured number by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

Table = list[list[str]]


@cache
def _sections(file: str) -> dict[str, str]:
    """Return title and text of each section of a file in benchmarks/; a section holds its subsections too."""
    lines = (BENCHMARKS / file).read_text("utf-8").splitlines()
    heads = [
        (i, len(line) - len(line.lstrip("#")), line.lstrip("# ").strip())
        for i, line in enumerate(lines)
        if re.match(r"#+ ", line)
    ]
    found: dict[str, str] = {}
    for k, (start, level, title) in enumerate(heads):
        end = next((i for i, other, _ in heads[k + 1 :] if other <= level), len(lines))
        if title in found:
            found[title] += "\n" + "\n".join(lines[start:end])
        else:
            found[title] = "\n".join(lines[start:end])
    return found


def section(name: str) -> str:
    """Return the text of a section: its title, of RESULTS.md unless ``FILE.md#`` stands before it.

    Raises
    ------
    LookupError
        If there is none of that title.
    """
    file, _, title = name.rpartition("#")
    known = _sections(file or "RESULTS.md")
    if title not in known:
        raise LookupError(f"no section {title!r} in {file or 'RESULTS.md'}")
    return known[title]


def tables(text: str) -> Iterator[Table]:
    """Yield each table of a Markdown text as rows of cells, the head first."""
    for block in re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        yield [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]


def figure(name: str, row: str, column: str) -> str:
    """Return one cell of a table of a section.

    *row* is the beginning of a row: its first cell, or its first cells with `` & `` between them.
    """
    found = {
        cells[table[0].index(column)]
        for table in tables(section(name))
        if column in table[0]
        for cells in table[1:]
        if cells[: row.count(" & ") + 1] == row.split(" & ")
    }
    if len(found) != 1:
        raise LookupError(f"{len(found)} figures of row {row!r}, column {column!r} in {name!r}")
    return found.pop()


def table(name: str, columns: str = "", rows: str = "") -> str:
    """Return the first table of a section that has the columns, with some *columns*, and *rows* by their first cells.

    Both are divided by `` & ``; all, where they are empty.
    """
    wanted = columns.split(" & ") if columns else []
    for head, *body in tables(section(name)):
        if all(column in head for column in wanted):
            taken = [head.index(column) for column in wanted] or list(range(len(head)))
            kept = [cells for cells in body if not rows or cells[0] in rows.split(" & ")]
            if rows and {cells[0] for cells in kept} != set(rows.split(" & ")):
                raise LookupError(f"not every row of {rows!r} in {name!r}")
            lines = [head, ["---"] * len(head), *kept]
            return "\n".join("| " + " | ".join(cells[i] for i in taken) + " |" for cells in lines)
    raise LookupError(f"no table with the columns {columns!r} in {name!r}")

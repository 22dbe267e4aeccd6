"""REPRODUCED.md: every row with its plot, its claims, their rules and verdicts, and its table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reproduce.row import Row, Table

HEAD = """# The papers' figures, made again

Written by `python benchmarks/reproduce`. A verdict follows from the numbers by the rule beside the claim and says where
it fails; it is about the shape that the paper's text states, since numbers of single points are not in the texts.
[PAPERS.md](PAPERS.md) lists every figure of the papers, also those that are not here.

"""
COLUMNS = "| row | paper | what | verdicts |\n|---|---|---|---|"


def markdown(table: Table) -> str:
    """Return a table as Markdown."""
    head = " | ".join(name.replace("_", " ") for name in table.columns)
    lines = [f"| {head} |", "|---" * len(table.columns) + "|"]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in table.rows]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a value as it stands in a table."""
    if value is None or value != value:  # not a number
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def section(row: Row, table: Table, verdicts: list[str]) -> str:
    """Return the section of a row."""
    lines = [f"## {row.name}", "", f"**[{row.paper}], {row.what}: {row.title}.**", ""]
    lines += [f"![{row.title}](figures/{row.name}.svg)", ""]
    for claim, verdict in zip(row.claims, verdicts, strict=True):
        word, _, why = verdict.partition(" because " if " because " in verdict else ": ")
        joint = " because " if " because " in verdict else ": "
        lines += [
            f"- Claim ({claim.section}): {claim.says}.",
            f"  Rule: {claim.rule}.",
            f"  **Verdict: {word}**{joint}{why}.",
        ]
    numbers = ["<details><summary>numbers</summary>", "", markdown(table), "", "</details>"]
    return "\n".join([*lines, "", f"Assumed: {row.assumed}.", "", *numbers, ""])


def summary(row: Row, verdicts: list[str]) -> str:
    """Return the line of a row in the first table."""
    words = [re.split(": | because ", verdict)[0] for verdict in verdicts]
    said = ", ".join(f"{word}: {words.count(word)}" for word in dict.fromkeys(words))
    return f"| [{row.name}](REPRODUCED.md#{row.name}) | {row.paper} | {row.what} | {said} |"


def written(file: Path, made: Mapping[str, tuple[str, str]], order: list[str]) -> str:
    """Return the report with new (summary, section) by name; a row that was not made keeps what the file has of it."""
    old = file.read_text() if file.exists() else ""
    lines, sections = [], []
    for name in order:
        line = re.search(rf"^\| \[{re.escape(name)}\].*$", old, flags=re.MULTILINE)
        part = re.search(rf"^## {re.escape(name)}\n.*?(?=^## |\Z)", old, flags=re.DOTALL | re.MULTILINE)
        kept = (line[0], part[0].rstrip() + "\n") if line and part else None
        if (both := made.get(name, kept)) is not None:
            lines.append(both[0])
            sections.append(both[1])
    return HEAD + "\n".join([COLUMNS, *lines]) + "\n\n" + "\n".join(sections)

"""What many rows of a measurement come to, what its text says, and which claims of the papers hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import fmean, median

from docs.generate.results import section, tables

#: Where files of the project are read on the web, since pages cannot link to what is not a page.
ON_THE_WEB = "https://github.com/ftplan/ftplan/blob/main"
VERDICTS = ("holds", "holds partly", "does not hold")
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")


def over(name: str, column: str, how: str, where: str = "") -> str:
    """Return the ``least``, ``most``, ``mean``, ``median`` of a column, ``least to most``, or the ``count`` of rows.

    Of all tables of the section that have the column, and of the rows *where* other columns are as said:
    ``algorithm=exact & objective=usable``; ``column~text`` looks for a part of the cell, ``column!text`` for rows
    without it. Cells without a number do not count; what stands around a number (%, ×, s) is kept.
    """
    cells = list(_cells(name, column, _conditions(where)))
    if how == "count":
        return f"{len(cells):,}"
    numbers = [(_value(found[0]), cell) for cell in cells if (found := _NUMBER.search(cell))]
    if not numbers:
        raise LookupError(f"no number in {column!r} of {name!r} where {where!r}")
    values = [value for value, _ in numbers]
    ends = {"least": min(numbers)[1], "most": max(numbers)[1]}
    if how in ends:
        return ends[how]
    if how == "least to most":
        return ends["least"] if ends["least"] == ends["most"] else f"{ends['least']} to {ends['most']}"
    if how in ("mean", "median"):
        value = fmean(values) if how == "mean" else median(values)
        return _NUMBER.sub(lambda found: _like(value, (cell for _, cell in numbers)), numbers[0][1], count=1)
    raise ValueError(f"no way {how!r} to sum up a column: count, least, least to most, mean, median, most")


def selection(name: str, columns: str, where: str = "") -> str:
    """Return some columns of a section's first table that has them, of the rows that :func:`over` would look at."""
    wanted, conditions = columns.split(" & "), _conditions(where)
    for head, *rows in tables(section(name)):
        if {*wanted, *(column for column, _, _ in conditions)} <= set(head):
            kept = [
                row for row in rows if all(_meets(row[head.index(name)], sign, text) for name, sign, text in conditions)
            ]
            if not kept:
                break
            lines = [wanted, ["---"] * len(wanted), *([row[head.index(column)] for column in wanted] for row in kept)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    raise LookupError(f"no rows with {columns!r} in {name!r} where {where!r}")


def said(name: str, words: str) -> str:
    """Return what a section's text says in place of ``…`` in these words, such as ``median error … of what``."""
    pattern = r"\s+".join(re.escape(word).replace("…", r"(\S+?)") for word in words.split())
    found = {match[1] for match in re.finditer(pattern, section(name))}
    if len(found) != 1:
        raise LookupError(f"{len(found)} times {words!r} in {name!r}")
    return found.pop()


def verdicts(rows: str = "") -> str:
    """Return how many claims of some rows of REPRODUCED.md hold; *rows* begin so, divided by `` & ``."""
    counted: Counter[str] = Counter()
    for *_, found in _reproduced(rows):
        counted.update(found)
    plural = {"holds": "hold", "holds partly": "hold partly", "does not hold": "do not hold"}
    return ", ".join(f"{counted[word]} {word if counted[word] == 1 else plural[word]}" for word in VERDICTS)


def claims(rows: str, verdict: str = "") -> str:
    """Return the claims of some rows of REPRODUCED.md as a table, all or those with a *verdict*."""
    lines = ["| what the paper says | here |", "|---|---|"]
    for name, *_ in _reproduced(rows):
        for words, outcome in re.findall(
            r"^- Claim \([^:\n]*?\): (.*?)\n.*?\*\*Verdict: ([^*]*)\*\*", section(f"REPRODUCED.md#{name}"), re.M | re.S
        ):
            if verdict in ("", outcome):
                claim = " ".join(words.split())
                link = f"[{name}]({ON_THE_WEB}/benchmarks/REPRODUCED.md#{name})"
                lines.append(f"| {claim[0].upper()}{claim[1:]} | {outcome}: {link} |")
    if len(lines) == 2:
        raise LookupError(f"no claim of {rows!r} that {verdict}")
    return "\n".join(lines)


def reproduced(rows: str) -> str:
    """Return the rows of REPRODUCED.md that begin so as a table: what was made again, and how many claims hold."""
    lines = ["| made again | claims |", "|---|---|"]
    for name, paper, _, verdict in _reproduced(rows):
        text = ", ".join(f"{word}: {verdict[word]}" for word in VERDICTS if word in verdict)
        title = re.search(rf"^\*\*\[{paper}\], (.*?)\.?\*\*$", section(f"REPRODUCED.md#{name}"), re.MULTILINE)
        if title is None:
            raise LookupError(f"no title of {name!r} in REPRODUCED.md")
        lines.append(
            f"| {title[1][0].upper()}{title[1][1:]}: [{name}]({ON_THE_WEB}/benchmarks/REPRODUCED.md#{name}) | {text} |"
        )
    return "\n".join(lines)


def _conditions(where: str) -> list[tuple[str, str, str]]:
    found = [re.fullmatch(r"(.*?)([=~!])(.*)", part) for part in where.split(" & ")] if where else []
    return [(match[1].strip(), match[2], match[3].strip()) for match in found if match]


def _cells(name: str, column: str, conditions: list[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the cells of a column in the rows that meet the conditions."""
    for head, *rows in tables(section(name)):
        if column in head and all(other in head for other, _, _ in conditions):
            for row in rows:
                if all(_meets(row[head.index(other)], sign, text) for other, sign, text in conditions):
                    yield row[head.index(column)]


def _meets(cell: str, sign: str, text: str) -> bool:
    return {"=": cell == text, "~": text in cell, "!": text not in cell}[sign]


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _like(value: float, cells: Iterable[str]) -> str:
    """Return a number with as many digits behind the point as the most exact of the cells has."""
    digits = max(len(found[0].partition(".")[2]) for cell in cells if (found := _NUMBER.search(cell)))
    return f"{value:,.{digits}f}"


def _reproduced(rows: str) -> Iterator[tuple[str, str, str, dict[str, int]]]:
    """Yield name, paper, what it is and verdicts of rows of REPRODUCED.md."""
    wanted = tuple(rows.split(" & ")) if rows else ("",)
    head, *body = next(tables(section("REPRODUCED.md#The papers' figures, made again")))
    found = [row for row in body if (name := re.match(r"\[([^\]]+)\]", row[0])) and name[1].startswith(wanted)]
    if not found or head[0] != "row":
        raise LookupError(f"no row of REPRODUCED.md begins with {rows!r}")
    for row in found:
        yield row[0][1:].partition("]")[0], row[1], row[2], _counted(row[3])


def _counted(verdict: str) -> dict[str, int]:
    return {word: int(count) for word, count in (part.rsplit(": ", 1) for part in verdict.split(", "))}

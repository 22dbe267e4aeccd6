"""A repair over time as lines of text: one row a node, or a query where there are no nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.cli.render import Table, cell

#: Rows shown, and the narrowest and widest time axis in characters.
ROWS, NARROW, WIDE = 24, 20, 100

IDLE, RESTORE, PREFETCH, DOWN, BACK = "·", "█", "▒", "░", "─"


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time of a row, in seconds, and how it is drawn."""

    begin_s: float
    end_s: float
    glyph: str


def chart(plan: Mapping[str, Any], width: int, rows: int = ROWS) -> Table | None:
    """Return the restores on each node, or when each query is down and back where tasks have no nodes.

    Parameters
    ----------
    plan
        The body of a recovery schedule.
    width
        Characters of a line, names included.
    """
    by_row = _restores(plan) if any(_nodes(plan)) else _outages(plan)
    if not by_row:
        return None
    last = max(bar.end_s for bars in by_row.values() for bar in bars)
    last = max([last, *(step["at_s"] for step in plan["steps"])]) or 1.0
    names = list(by_row)[:rows]
    longest = max([len(name) for name in names] + [len("… and 9,999 more")])
    axis = min(max(width - longest - 4, NARROW), WIDE)
    lines = [(name, _line(by_row[name], last, axis)) for name in names]
    if len(by_row) > rows:
        lines.append((f"… and {len(by_row) - rows:,} more", ""))
    nodes = any(_nodes(plan))
    legend = f"{RESTORE} restore, {PREFETCH} prefetch" if nodes else f"{DOWN} down, {BACK} back"
    return Table(
        ("node" if nodes else "query", _axis(last, axis)), lines, title=f"seconds since the failure ({legend})"
    )


def _nodes(plan: Mapping[str, Any]) -> set[str | None]:
    return {item["node"] for step in plan["steps"] for item in step["recover"]}


def _restores(plan: Mapping[str, Any]) -> dict[str, list[Bar]]:
    """Return the restores of each node, one after another, nodes in the order of their first."""
    bars: dict[str, list[Bar]] = {}
    free: dict[str, float] = {}
    for step in plan["steps"]:
        for item in step["recover"]:
            node = str(item["node"])
            begin = min(max(step["at_s"], free.get(node, 0.0)), item["ready_s"])
            free[node] = max(free.get(node, 0.0), item["ready_s"])
            bars.setdefault(node, []).append(Bar(begin, item["ready_s"], PREFETCH if item["prefetch"] else RESTORE))
    return bars


def _outages(plan: Mapping[str, Any]) -> dict[str, list[Bar]]:
    """Return when each query is down and back, the first to return first."""
    end = max([step["at_s"] for step in plan["steps"]] + [q["back_s"] or 0.0 for q in plan["queries"]], default=0.0)
    end = end * 1.1 or 1.0
    down: dict[str, list[Bar]] = {}
    order = sorted(plan["queries"], key=lambda q: end if q["back_s"] is None else q["back_s"])
    for query in order:
        back = end if query["back_s"] is None else query["back_s"]
        bars = down.setdefault(f"{query['operator']}/{query['index']}", [])
        bars += [Bar(back, end, BACK)] if query["back_s"] is not None else []
        bars.append(Bar(0.0, back, DOWN))
    return down


def _line(bars: Sequence[Bar], last_s: float, width: int) -> str:
    """Draw bars; one without length is a single character, and restores win over prefetches."""
    drawn = [IDLE] * width
    for bar in sorted(bars, key=lambda bar: bar.glyph in (RESTORE, DOWN)):
        first = min(int(bar.begin_s / last_s * width), width - 1)
        if bar.end_s <= bar.begin_s and bar.glyph in (DOWN, BACK):
            continue
        following = max(min(round(bar.end_s / last_s * width), width), first + 1)
        drawn[first:following] = bar.glyph * (following - first)
    return "".join(drawn)


def _axis(last_s: float, width: int) -> str:
    """Return marks of time: the start, the end, and what fits between."""
    marks = max(2, width // 16)
    line = [" "] * width
    for k in range(marks):
        text = cell(round(last_s * k / (marks - 1), 3))
        place = min(round((width - 1) * k / (marks - 1)), width - len(text))
        line[place : place + len(text)] = text
    return "".join(line)

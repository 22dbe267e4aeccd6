"""A repair over time as lines of text: one row a node, or a query where there are no nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.planners.recovery_schedule.figure_times import Stretch, has_nodes, outages, restores
from ftplan.reports.answer import Table, cell

#: Rows shown, and the narrowest and widest time axis in characters.
ROWS, NARROW, WIDE = 24, 20, 100

IDLE, RESTORE, PREFETCH, DOWN, BACK, BEHIND = "·", "█", "▒", "░", "─", "▁"
_GLYPHS = {"restore": RESTORE, "prefetch": PREFETCH, "catch-up": BEHIND, "down": DOWN, "back": BACK}


def chart(plan: Mapping[str, Any], width: int, rows: int = ROWS) -> Table | None:
    """Return the restores on each node, or when each query is down and back where tasks have no nodes.

    Parameters
    ----------
    plan
        The body of a recovery schedule.
    width
        Characters of a line, names included.
    """
    nodes = has_nodes(plan)
    by_row = restores(plan) if nodes else outages(plan)
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
    legend = f"{RESTORE} restore, {PREFETCH} prefetch" if nodes else f"{DOWN} down, {BACK} back"
    if any(bar.what == "catch-up" for bars in by_row.values() for bar in bars):
        legend += f", {BEHIND} catching up"
    return Table(
        ("node" if nodes else "query", _axis(last, axis)), lines, title=f"seconds since the failure ({legend})"
    )


def _line(stretches: Sequence[Stretch], last_s: float, width: int) -> str:
    """Draw a row, a stretch without length as a single character; restores hide prefetches, and both catching up."""
    drawn = [IDLE] * width
    order = {"catch-up": 0, "prefetch": 1, "back": 1}
    for stretch in sorted(stretches, key=lambda stretch: order.get(stretch.what, 2)):
        first = min(int(stretch.begin_s / last_s * width), width - 1)
        if stretch.end_s <= stretch.begin_s and stretch.what in ("down", "back"):
            continue
        following = max(min(round(stretch.end_s / last_s * width), width), first + 1)
        drawn[first:following] = _GLYPHS[stretch.what] * (following - first)
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

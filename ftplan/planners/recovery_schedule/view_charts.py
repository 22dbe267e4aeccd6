"""A repair over time as lines of text: a row a node or query, and how much of what failed is restored by when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule.figure_times import TaskSpan, back_over_time, has_nodes, outages, restores
from ftplan.reports.answer import Table, cell
from ftplan.reports.sparkline import levels, line_width, sparkline

#: What a line is called, in order.
LINES = (
    ("after", "this plan"),
    ("step_by_step", "step by step"),
    ("before", "blocking"),
    ("most_back", "at most"),
)
EVENTS = "fails x, arrives +"
#: Times that a character is the mean of, and how much longer the axis is than until the last return.
FINE, BEYOND = 8, 1.05

Stairs = Sequence[tuple[float, float]]


def over_time(plan: Plan) -> Table | None:
    """Return the priority that is back over time, a line each; None where nothing returns later than at once.

    What is the same at all times shares a line.
    """
    known = back_over_time(plan.plan or {}, plan.summary)
    last = max((at for name, rows in known.items() if name != "most_back" for at, _ in rows), default=0.0)
    if last <= 0.0 or len(known) < 2:
        return None
    named: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, text in LINES:
        if name in known:
            named.setdefault(tuple(known[name]), []).append(text)
    names = [", ".join(texts) for texts in named.values()]
    high = max(value for rows in named for _, value in rows)
    end, width = last * BEYOND, line_width(max(map(len, [*names, EVENTS])))
    lines = [sparkline(_sampled(rows, end, FINE * width), width, high, levels()) for rows in named]
    rows = list(zip(names, lines, strict=True))
    what_happens = _events(plan, end, width)
    rows += [(EVENTS, what_happens)] if what_happens else []
    return Table((f"priority back, to {cell(round(high, 9))}", f"from 0 s to {cell(round(end, 3))} s"), rows)


def _events(plan: Plan, last_s: float, width: int) -> str:
    """Return marks where something else fails or a node arrives, nothing where neither happens."""
    marks = [" "] * width
    for step in (plan.plan or {})["steps"]:
        kind, _, what = (step.get("trigger") or "").partition(":")
        if what and step["at_s"] <= last_s:
            place = min(int(step["at_s"] / last_s * width), width - 1)
            marks[place] = "x" if kind == "failure" or marks[place] == "x" else "+"
    return "".join(marks).rstrip()


def _sampled(stairs: Stairs, last_s: float, count: int) -> list[float]:
    """Return the height of stairs in the middle of so many equal parts of the time."""
    values: list[float] = []
    steps = [(0.0, 0.0), *stairs, (float("inf"), 0.0)]
    k = 0
    for (_, value), (until, _) in pairwise(steps):
        while k < count and (k + 0.5) * last_s / count < until:
            values.append(value)
            k += 1
    return values


#: Rows shown, and the narrowest and widest time axis in characters.
ROWS, NARROW, WIDE = 24, 20, 100

IDLE, RESTORE, PREFETCH, DOWN, BACK, BEHIND = "·", "█", "▒", "░", "─", "▁"
_GLYPHS = {"restore": RESTORE, "prefetch": PREFETCH, "catch-up": BEHIND, "down": DOWN, "back": BACK}


def chart(plan: Mapping[str, Any], width: int) -> Table | None:
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
    names = list(by_row)[:ROWS]
    longest = max([len(name) for name in names] + [len("… and 9,999 more")])
    axis = min(max(width - longest - 4, NARROW), WIDE)
    lines = [(name, _line(by_row[name], last, axis)) for name in names]
    if len(by_row) > ROWS:
        lines.append((f"… and {len(by_row) - ROWS:,} more", ""))
    legend = f"{RESTORE} restore, {PREFETCH} prefetch" if nodes else f"{DOWN} down, {BACK} back"
    if any(bar.what == "catch-up" for bars in by_row.values() for bar in bars):
        legend += f", {BEHIND} catching up"
    return Table(
        ("node" if nodes else "query", _axis(last, axis)), lines, title=f"seconds since the failure ({legend})"
    )


def _line(stretches: Sequence[TaskSpan], last_s: float, width: int) -> str:
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

"""How much of what failed is back over time, as lines of text: the plan, what it is held against, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule.figure_times import back_over_time
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

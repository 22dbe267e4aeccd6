"""How much of what failed is back over time, as lines of text: the plan, what it is held against, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ftplan.cli.render import Table, cell
from ftplan.cli.simulate.sparkline import levels, line_width, sparkline
from ftplan.model.plan import Plan
from ftplan.reports.repair_times import back_over_time

#: What a line is called, in order.
LINES = (
    ("after", "this plan"),
    ("step_by_step", "step by step"),
    ("before", "blocking"),
    ("most_back", "at most"),
)
#: Times that a character is the mean of.
FINE = 8

Stairs = Sequence[tuple[float, float]]


def over_time(plan: Plan) -> Table | None:
    """Return the priority that is back over time, a line each; None where nothing returns later than at once."""
    known = back_over_time(plan.plan or {}, plan.summary)
    drawn = {name: rows for name, rows in known.items() if name != "most_back"}
    last = max((at for rows in drawn.values() for at, _ in rows), default=0.0)
    if last <= 0.0 or len(known) < 2:
        return None
    high = max(value for rows in known.values() for _, value in rows)
    width = line_width(len("fails x, arrives +"))
    rows = [
        (text, sparkline(_sampled(known[name], last, FINE * width), width, high, levels()))
        for name, text in LINES
        if name in known
    ]
    what_happens = _events(plan, last, width)
    rows += [("fails x, arrives +", what_happens)] if what_happens else []
    return Table((f"priority back, to {cell(round(high, 9))}", f"from 0 s to {cell(round(last, 3))} s"), rows)


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

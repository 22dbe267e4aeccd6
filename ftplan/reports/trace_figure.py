"""How the gap closed: the best value and the best bound over the time of planning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.model.trace import TraceLine
from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import duration, label, number

#: Points of a line, at most: more lie on top of each other.
MOST_POINTS = 500


def trace_figure(trace: Sequence[TraceLine], objective: str) -> Figure | None:
    """Return value and bound of the searches for the whole plan over time; None where the trace has fewer than two."""
    whole = [line for line in trace if line.search == objective]
    values = _points([(line.seconds, line.value) for line in whole])
    bounds = _points([(line.seconds, line.bound) for line in whole])
    if len(values) + len(bounds) < 2:
        return None
    end = max(line.seconds for line in whole)
    drawn = [
        Series((*points, (end, points[-1][1])), style, stepped=True)
        for points, style in ((values, "value-line"), (bounds, "bound-line"))
        if points
    ]
    heights = [value for one in drawn for _, value in one.points]
    room = 0.05 * ((max(heights) - min(heights)) or abs(max(heights)) or 1.0)
    last = whole[-1]
    found = sorted({line.by for line in whole})

    def draw(width: float) -> Any:
        reach = (min(heights) - room, max(heights) + room)
        return lines(
            drawn, width, Axis("time of planning", duration, times=True), Axis(label(objective), number, reach)
        )

    text = f"Last: {number(last.value) if last.value is not None else 'no value'}"
    text += f", bound {number(last.bound)}" if last.bound is not None else ", no bound"
    key = (("line:value-line", "", "best plan so far"), ("line:bound-line", "", "proven bound"))
    return figure("How the gap closed", f"{text}. Found by {', '.join(found)}.", draw, key=key[: 1 + bool(bounds)])


def _points(known: Sequence[tuple[float, float | None]]) -> tuple[tuple[float, float], ...]:
    """Return the moments at which a number changed."""
    points: list[tuple[float, float]] = []
    for seconds, number_then in known:
        if number_then is not None and (not points or points[-1][1] != number_then):
            points.append((seconds, number_then))
    step = max(1, len(points) // MOST_POINTS)
    return (*points[:-1:step], *points[-1:])

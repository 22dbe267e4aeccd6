"""Charts: bars beside names, lines over an axis, and bars over time. Each is drawn at the width that it is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ftplan.reports.drawing import Drawing, Line, Point, Rect, Shape, Text, fitted, text_width
from ftplan.reports.numbers import duration, number

#: Rows of a chart with a row for each thing, and the widest chart of bars.
ROWS, BARS = 40, 720.0
#: Distances of marks on a time axis, in seconds.
_TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)

Format = Callable[[float], str]


@dataclass(frozen=True)
class Bar:
    """A bar beside a name, and the text at its end."""

    name: str
    value: float
    text: str
    style: str = "value"


@dataclass(frozen=True)
class Axis:
    """What an axis is called, how its values are written, and what it reaches; None: from 0 to the largest value."""

    name: str
    form: Format = number
    reach: tuple[float, float] | None = None
    times: bool = False


@dataclass(frozen=True)
class Series:
    """A line through points, in steps where values hold until the next point."""

    points: tuple[Point, ...]
    style: str
    stepped: bool = False


@dataclass(frozen=True)
class Span:
    """A stretch of time in a row."""

    begin_s: float
    end_s: float
    style: str
    title: str = ""


@dataclass(frozen=True)
class Mark:
    """A vertical line at a time, or at another value of the horizontal axis."""

    at: float
    style: str
    text: str = ""


def bars(rows: Sequence[Bar], width: float, limit: tuple[float, str] | None = None) -> Drawing:
    """Return horizontal bars; *limit* is a value that a line marks, and its name."""
    width = min(width, BARS)
    names = min(max(text_width(row.name) for row in rows) + 10, 0.42 * width)
    ends = max(text_width(row.text) for row in rows) + 14
    low = min(0.0, *(row.value for row in rows), *([limit[0]] if limit else []))
    high = max(0.0, *(row.value for row in rows), *([limit[0]] if limit else []))
    room = max(width - names - ends, 40.0)

    def place(value: float) -> float:
        return names + room * (value - low) / ((high - low) or 1.0)

    top = 20.0 if limit else 4.0
    shapes: list[Shape] = []
    for i, row in enumerate(rows):
        y = top + 26.0 * i
        begin, end = sorted((place(0.0), place(row.value)))
        shapes += [
            Text(0.0, y + 15, fitted(row.name, names - 8)),
            Rect(begin, y + 3, max(end - begin, 1.5), 16, row.style, f"{row.name}: {row.text}", 2.0),
            Text(_beside(max(end, begin + 1.5) + 6, row.text, place(limit[0]) if limit else None), y + 15, row.text),
        ]
    bottom = top + 26.0 * len(rows)
    shapes.append(Line(((place(0.0), top), (place(0.0), bottom)), "axis"))
    if limit:
        x = place(limit[0])
        anchor, at = ("end", x - 4) if x > width / 2 else ("start", x + 4)
        shapes += [Line(((x, 6.0), (x, bottom)), "limit-line"), Text(at, 13.0, limit[1], "small", anchor)]  # type: ignore[arg-type]
    return Drawing(width, bottom + 4, tuple(shapes))


def _beside(at: float, text: str, line: float | None) -> float:
    """Return where a text at the end of a bar stands so that no line crosses it."""
    crossed = line is not None and at - 4 < line < at + text_width(text) + 4
    return line + 6 if crossed and line is not None else at


def ticks(low: float, high: float, most: int, times: bool = False) -> list[float]:
    """Return at most about *most* round values from *low* to *high*."""
    span = max(high - low, 1e-12)
    rough = span / max(most, 1)
    if times and rough <= _TIMES[-1]:
        step: float = next((t for t in _TIMES if t >= rough), _TIMES[-1])
        if rough < 0.5:
            step = _round_step(rough)
    else:
        step = _round_step(rough)
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _round_step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * f for f in (1, 2, 5, 10) if power * f >= rough * (1 - 1e-9))


@dataclass(frozen=True)
class Axes:
    """The frame of a chart: its place on the sheet, and what it reaches."""

    left: float
    top: float
    right: float
    bottom: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> Point:
        """Return where a point lies on the sheet."""
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top)

    def horizontal(self, axis: Axis) -> list[Shape]:
        """Return the marks of the horizontal axis and its name."""
        shapes: list[Shape] = []
        for value in ticks(*self.x, most=max(2, int((self.right - self.left) / 72)), times=axis.times):
            x, _ = self.at(value, self.y[0])
            anchor = "end" if x > self.right - 14 else "middle"
            shapes += [
                Line(((x, self.bottom), (x, self.bottom + 4)), "axis"),
                Text(x, self.bottom + 16, axis.form(value), "small", anchor),  # type: ignore[arg-type]
            ]
        return [*shapes, Text(self.right, self.bottom + 32, axis.name, "small", "end")]


def lines(
    series: Sequence[Series],
    width: float,
    x: Axis,
    y: Axis,
    *,
    marks: Sequence[Mark] = (),
    dots: Sequence[tuple[Point, str]] = (),
) -> Drawing:
    """Return lines over a horizontal axis that begins at 0.

    Parameters
    ----------
    dots
        Points with the style of each.
    """
    points = [point for one in series for point in one.points] + [point for point, _ in dots]
    x_high = max([at for at, _ in points] + [mark.at for mark in marks], default=1.0) or 1.0
    reach = y.reach or (min(0.0, *(v for _, v in points)), max(v for _, v in points) or 1.0)
    values = ticks(*reach, most=5)
    left = max(text_width(y.form(value), "small") for value in values) + 10
    height = 250.0 if width > 500 else 210.0
    top = 38.0 if any(mark.text for mark in marks) else 24.0
    axes = Axes(left, top, width - 8, height - 38, (0.0, x_high), reach)
    shapes: list[Shape] = [Text(0.0, 12.0, y.name, "small")]
    for value in values:
        _, at = axes.at(0.0, value)
        shapes += [
            Line(((axes.left, at), (axes.right, at)), "grid"),
            Text(left - 6, at + 4, y.form(value), "small", "end"),
        ]
    shapes += axes.horizontal(x)
    shapes += _marks(axes, marks)
    for one in series:
        drawn = [axes.at(*point) for point in one.points]
        if one.stepped:
            drawn = [p for a, b in pairwise(drawn) for p in (a, (b[0], a[1]))] + drawn[-1:]
        if len(drawn) > 1:
            shapes.append(Line(tuple(drawn), one.style))
    for point, style in dots:
        cx, cy = axes.at(*point)
        shapes.append(Rect(cx - 5, cy - 5, 10, 10, style, radius=5))
    return Drawing(width, height, tuple(shapes))


def _marks(axes: Axes, marks: Sequence[Mark]) -> list[Shape]:
    """Return vertical lines; the text of one stands where it does not cover the one before."""
    shapes: list[Shape] = []
    free = -math.inf
    for mark in sorted(marks, key=lambda m: m.at):
        x, _ = axes.at(mark.at, axes.y[0])
        shapes.append(Line(((x, axes.top), (x, axes.bottom)), mark.style, title=mark.text))
        wide = text_width(mark.text, "small")
        if mark.text and x >= free and x + wide <= axes.right + 8:
            shapes.append(Text(x, axes.top - 5, mark.text, "small"))
            free = x + 6 + wide
    return shapes


def gantt(
    rows: Sequence[tuple[str, Sequence[Span]]],
    width: float,
    *,
    marks: Sequence[Mark] = (),
    axis: str = "time since the failure",
) -> Drawing:
    """Return stretches of time in rows over one axis; those without length are as wide as a line."""
    listed = rows[:ROWS]
    names = min(max(text_width(name) for name, _ in listed) + 10, 0.32 * width)
    last = max([span.end_s for _, spans in listed for span in spans] + [mark.at for mark in marks], default=1.0) or 1.0
    tall = 22.0
    bottom = 26.0 + tall * len(listed)
    axes = Axes(names, 24.0, width - 8, bottom, (0.0, last), (0.0, 1.0))
    shapes: list[Shape] = []
    for k in range(len(listed)):
        y = 26.0 + tall * k
        shapes.append(Line(((names, y + tall - 0.5), (axes.right, y + tall - 0.5)), "grid"))
    shapes += axes.horizontal(Axis(axis, duration, times=True))
    shapes += _marks(axes, marks)
    for k, (name, spans) in enumerate(listed):
        y = 26.0 + tall * k
        shapes.append(Text(0.0, y + 15, fitted(name, names - 8)))
        for span in spans:
            begin, end = axes.at(span.begin_s, 0.0)[0], axes.at(span.end_s, 0.0)[0]
            begin = min(begin, axes.right - 3)
            shapes.append(Rect(begin, y + 4, max(end - begin, 3.0), tall - 8, span.style, span.title, 1.5))
    more = f"and {len(rows) - ROWS:,} more rows" if len(rows) > ROWS else ""
    if more:
        shapes.append(Text(0.0, bottom + 32, more, "small"))
    return Drawing(width, bottom + 40, tuple(shapes))

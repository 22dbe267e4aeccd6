"""What tables and pictures of several simulations share: figures over runs and times as people read them, and lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from ftplan.reports.answer import cell
from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, below, figure
from ftplan.reports.numbers import duration

Document = Mapping[str, Any]
Cells = Sequence[float | None]
#: What is drawn in a chart of each thing that is compared, and the chart's axis.
Panel = tuple[Callable[[Document], Cells], Axis]

#: Digits of times: what is beyond a millisecond is of no use to people.
DIGITS = 3
#: How the first things are drawn of what a picture shows.
STYLES = ("value-line", "bound-line", "limit-line", "arrival-line", "other-line", "event-line")


def runs_text(runs: int) -> str:
    """Return how many runs a table is of, and what it shows of several."""
    return "1 run" if runs == 1 else f"{runs:,} runs: mean (5 … 95 %)"


def spread(value: Mapping[str, Any] | None, missing: str | None = None) -> Any:
    """Return a figure over runs: its mean, with quantiles where there are several; *missing* where it is not known."""
    if value is None:
        return missing
    mean = round(value["mean"], DIGITS)
    if value["high"] is None:
        return mean
    return f"{cell(mean)} ({cell(round(value['p5'], DIGITS))} … {cell(round(value['p95'], DIGITS))})"


def seconds(value: float | None) -> str | None:
    """Return a time, None where there is none."""
    return None if value is None else cell(round(value, DIGITS))


def over_time_figure(
    title: str,
    time: str,
    document: Document,
    things: Sequence[tuple[str, Document]],
    what: str,
    panels: Sequence[Panel],
) -> Figure:
    """Return charts over time, one below the other, with a line for each of the first *things*, (name, document)."""
    shown = list(zip(things, STYLES, strict=False))

    def draw(width: float) -> Drawing:
        x = Axis(time, duration, times=True)
        charts = []
        for values, y in panels:
            series = [line for (_, item), style in shown for line in _stretches(document, values(item), style)]
            charts.append(lines(series, width, x, y))
        return below(charts)

    left_out = len(things) - len(shown)
    caption = "Simulated, batch by batch" + (f"; {left_out} more {what} are not drawn." if left_out else ".")
    return figure(title, caption, draw, key=tuple((f"line:{style}", "", name) for (name, _), style in shown))


def logarithms(values: Cells) -> Cells:
    """Return logarithms to base 10, of latencies for instance; None where there is none."""
    return [None if value is None or value <= 0.0 else math.log10(value) for value in values]


def powers(text: Callable[[float], str]) -> Callable[[float], str]:
    """Return what writes on an axis the number whose logarithm is given."""
    return lambda power: text(10.0**power)


def _stretches(document: Document, values: Cells, style: str) -> Iterable[Series]:
    """Yield a line for each stretch without gaps, from the failure on."""
    points = [(at, value) for at, value in zip(document["time_s"], values, strict=True) if at >= 0.0]
    for known, stretch in groupby(points, lambda point: point[1] is not None):
        if known:
            yield Series(tuple((at, value) for at, value in stretch if value is not None), style)

"""Simulated scaling over time: latency, queue, throughput and tasks of each mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ftplan.reports.charts import Axis, lines
from ftplan.reports.drawing import Drawing, Figure, below, figure
from ftplan.reports.numbers import duration
from ftplan.simulation.figure import STYLES, stretches

Document = Mapping[str, Any]

#: What is drawn over time, and what its axis says.
_PANELS = (
    ("latency_s", "latency, from when input is there until its last output"),
    ("queue_records", "records that wait"),
    ("throughput", "records of the input done in a second"),
    ("executors", "tasks that run"),
)


def simulation_figure(document: Document) -> Figure:
    """Return four charts, one below the other, with a line for each mode of a simulation's document."""
    shown = list(zip(document["modes"], STYLES, strict=False))

    def draw(width: float) -> Drawing:
        x = Axis("time", duration, times=True)
        charts = []
        for name, title in _PANELS:
            y = Axis(title, lambda power: duration(10.0**power)) if name == "latency_s" else Axis(title)
            series = [
                one
                for mode, style in shown
                for one in stretches(document["time_s"], _values(mode["over_time"][name], name), style)
            ]
            charts.append(lines(series, width, x, y))
        return below(charts)

    key = tuple((f"line:{style}", "", str(mode["mode"])) for mode, style in shown)
    return figure("Scaling over time", "Simulated, batch by batch.", draw, key=key)


def _values(values: list[float | None], name: str) -> list[float | None]:
    """Return values as they are drawn: of latencies the logarithm."""
    if name != "latency_s":
        return values
    return [None if value is None or value <= 0.0 else math.log10(value) for value in values]

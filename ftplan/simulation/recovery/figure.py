"""Simulated recoveries over time: what is available, how late the output is, the lag, and what is buffered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ftplan.reports.charts import Axis, lines
from ftplan.reports.drawing import Drawing, Figure, below, figure
from ftplan.reports.numbers import duration, number, size
from ftplan.simulation.figure import STYLES, stretches

Document = Mapping[str, Any]


def simulation_figure(document: Document) -> Figure:
    """Return four charts, one below the other, with a line for each recovery of a simulation's document."""
    shown = list(zip(document["recoveries"], STYLES, strict=False))
    priority = sum(query["priority"] for query in document["recoveries"][0]["queries"])
    panels = (
        (available_priority, Axis("priority of the queries that are available", reach=(0.0, priority))),
        (_latency, Axis("latency, times the usual one (mean over output)", lambda power: number(10.0**power))),
        (lambda item: item["lag_records"], Axis("records that wait in the sources' logs")),
        (_buffered, Axis("most output that the tasks of a query keep", size)),
    )

    def draw(width: float) -> Drawing:
        x = Axis("time since the failure", duration, times=True)
        charts = []
        for values, y in panels:
            series = [s for item, style in shown for s in stretches(document["time_s"], values(item), style)]
            charts.append(lines(series, width, x, y))
        return below(charts)

    key = tuple((f"line:{style}", "", _name(item)) for item, style in shown)
    left_out = len(document["recoveries"]) - len(shown)
    caption = "Simulated, batch by batch" + (f"; {left_out} more recoveries are not drawn." if left_out else ".")
    return figure("Recoveries over time", caption, draw, key=key)


def available_priority(recovery: Document) -> list[float]:
    """Return the summed priority of the queries that are available, cell by cell."""
    columns = ([query["priority"] * share for share in query["available"]] for query in recovery["queries"])
    return [sum(values) for values in zip(*columns, strict=True)]


def _latency(recovery: Document) -> list[float | None]:
    """Return the logarithm of the relative latency, the mean over queries with output by priority."""
    means: list[float | None] = []
    for values in zip(*(query["relative_latency"] for query in recovery["queries"]), strict=True):
        known = [
            (query["priority"], value)
            for query, value in zip(recovery["queries"], values, strict=True)
            if value is not None and value > 0.0
        ]
        weight = sum(priority for priority, _ in known)
        means.append(math.log10(sum(p * v for p, v in known) / weight) if known else None)
    return means


def _buffered(recovery: Document) -> list[float]:
    columns = (query["buffered_bytes"] for query in recovery["queries"])
    return [max(values) for values in zip(*columns, strict=True)]


def _name(recovery: Document) -> str:
    return f"{recovery['mode']}, {recovery['plan']}" if recovery["plan"] else str(recovery["mode"])

"""A simulated peer ring over time: what nodes process, what waits there, what they keep, and the latency."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ftplan.reports.charts import Axis, lines
from ftplan.reports.drawing import Drawing, Figure, below, figure
from ftplan.reports.numbers import duration
from ftplan.simulation.figure import STYLES, stretches

Document = Mapping[str, Any]

#: What is drawn of each node, and what its axis says.
_PANELS = (
    ("rate", "records that a node processes in a second"),
    ("queue_records", "records that wait at a node"),
    ("kept_records", "records that a node keeps for others"),
)


def changed_first(document: Document) -> list[Document]:
    """Return the nodes of the first run: those that gave or took anything, and then the others, each in their order."""
    changed = {name for item in document["changes"] if item["run"] == 0 for name in (item["node"], *item["others"])}
    return sorted(document["nodes"], key=lambda node: node["node"] not in changed)


def simulation_figure(document: Document) -> Figure:
    """Return four charts, one below the other: three with a line for each of the first nodes, and the latency."""
    shown = list(zip(changed_first(document), STYLES, strict=False))

    def draw(width: float) -> Drawing:
        x = Axis("time", duration, times=True)
        charts = []
        for name, title in _PANELS:
            series = [
                one for node, style in shown for one in stretches(document["time_s"], node["over_time"][name], style)
            ]
            charts.append(lines(series, width, x, Axis(title)))
        latency = [None if not value else math.log10(value) for value in document["latency_s"]]
        y = Axis("latency, from when records are sent until they count", lambda power: duration(10.0**power))
        charts.append(lines(list(stretches(document["time_s"], latency, STYLES[0])), width, x, y))
        return below(charts)

    key = tuple((f"line:{style}", "", str(node["node"])) for node, style in shown)
    left_out = len(document["nodes"]) - len(shown)
    caption = "Simulated, batch by batch" + (f"; {left_out} more nodes are not drawn." if left_out else ".")
    return figure("A peer ring over time", caption, draw, key=key)

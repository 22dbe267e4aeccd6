"""Accuracy of tentative output over what measures predicted, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, figure
from ftplan.reports.numbers import count, share
from ftplan.simulation.tentative_output.view import MEASURE_NAMES

#: Styles of dots, the last measure first drawn: where measures agree, the dot of the first one is seen.
_STYLES = ("value", "chosen", "other")


def simulation_figure(document: Mapping[str, Any]) -> Figure:
    """Return a dot for each different set of replicas and measure, and the line on which predictions are right."""
    different = {
        tuple((task["operator"], task["index"]) for task in item["replicas"]): item
        for item in reversed(document["sets"])
    }
    styles = dict(zip(MEASURE_NAMES, _STYLES, strict=True))
    dots = [
        (point, styles[measure])
        for measure in reversed(list(MEASURE_NAMES))
        for point in dict.fromkeys((item[measure], item["accuracy"]) for item in different.values())
    ]

    def draw(width: float) -> Drawing:
        ideal = Series(((0.0, 0.0), (1.0, 1.0)), "bound-line")
        return lines([ideal], width, Axis("foretold", share), Axis("accuracy", share, (0.0, 1.0)), dots=dots)

    key = (
        *((style, "", MEASURE_NAMES[measure]) for measure, style in styles.items()),
        ("line:bound-line", "", "as foretold"),
    )
    caption = f"{count(len(different), 'set of replicas', 'sets of replicas')}."
    return figure("Accuracy of tentative output over what was foretold", caption, draw, key=key)

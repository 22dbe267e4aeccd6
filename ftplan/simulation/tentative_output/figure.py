"""Accuracy of tentative output over what measures foretold, as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, Point, figure
from ftplan.reports.numbers import count, share

#: Styles of dots, the last measure first drawn: where measures agree, the dot of the first one is seen.
_STYLES = ("value", "chosen", "other")


def tentative_figure(points: Mapping[str, Sequence[Point]]) -> Figure:
    """Return a figure with a dot for each set of replicas and measure, and the line on which what is foretold is right.

    *points* are (foretold, accuracy) by measure, up to three measures.
    """
    styles = dict(zip(points, _STYLES, strict=False))
    dots = [(point, styles[measure]) for measure in reversed(list(points)) for point in dict.fromkeys(points[measure])]

    def draw(width: float) -> Drawing:
        ideal = Series(((0.0, 0.0), (1.0, 1.0)), "bound-line")
        return lines([ideal], width, Axis("foretold", share), Axis("accuracy", share, (0.0, 1.0)), dots=dots)

    key = (*((style, "", measure) for measure, style in styles.items()), ("line:bound-line", "", "as foretold"))
    said = f"{count(len(next(iter(points.values()))), 'set of replicas', 'sets of replicas')}."
    return figure("Accuracy of tentative output over what was foretold", said, draw, key=key)

"""Predicted over measured recoveries, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, figure
from ftplan.reports.numbers import count, duration


class Pair(NamedTuple):
    """Seconds of a recovery: measured and predicted."""

    measured_s: float
    predicted_s: float


def calibration_figure(pairs: Sequence[Pair], unseen: bool) -> Figure:
    """Return a figure of at least one recovery, a dot each, and the line on which a prediction is right.

    ``unseen``: each was predicted by a fit that had not seen it.
    """
    longest = max(max(pair) for pair in pairs)
    dots = [((pair.measured_s, pair.predicted_s), "value") for pair in dict.fromkeys(pairs)]
    said = " by fits that had not seen it" if unseen else ""

    def draw(width: float) -> Drawing:
        ideal = Series(((0.0, 0.0), (longest, longest)), "bound-line")
        return lines([ideal], width, Axis("measured", duration, times=True), Axis("predicted", duration), dots=dots)

    key = (("value", "", f"a recovery, predicted{said}"), ("line:bound-line", "", "as measured"))
    return figure("Predicted over measured recoveries", f"{count(len(pairs), 'recovery')}.", draw, key=key)

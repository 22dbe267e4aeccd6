"""The time that a job loses, over the interval between its checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.costs.interval_formula import LostTime
from ftplan.reports.charts import Axis, Mark, Series, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import duration

#: How far the curve reaches, in best intervals and in least losses; points of a line.
REACH, HEIGHT, POINTS = 4.0, 4.0, 200
HOUR_S = 3600.0


def interval_figure(lost: LostTime, best_s: float | None, longest_s: float | None) -> Figure:
    """Return the seconds of an hour that are lost by each interval, and what of them checkpoints and recoveries take.

    Parameters
    ----------
    best_s
        The chosen interval, None without one.
    longest_s
        The longest interval that keeps a limit on recoveries, None without one.
    """
    end = REACH * max(lost.best_s, best_s or 0.0)
    at = np.geomspace(lost.shortest_s, end, POINTS)
    least = float(lost.share(lost.best_s))
    at = at[lost.share(at) <= HEIGHT * least]

    def curve(share: Any, style: str) -> Series:
        return Series(tuple(zip(at.tolist(), (share(at) * HOUR_S).tolist(), strict=True)), style)

    drawn = [
        curve(lost.checkpointing, "other-line"),
        curve(lost.recovering, "bound-line"),
        curve(lost.share, "value-line"),
    ]
    marks = [] if longest_s is None or not 0.0 < longest_s <= end else [Mark(longest_s, "limit-line", "limit")]
    dots = () if best_s is None else (((best_s, float(lost.share(best_s)) * HOUR_S), "chosen"),)
    key = [
        ("line:value-line", "", "lost in all"),
        ("line:other-line", "", "checkpoints"),
        ("line:bound-line", "", "recoveries"),
        *([("chosen", "", "the best interval")] if dots else []),
        *([("line:limit-line", "", "recoveries take longer beyond")] if marks else []),
    ]

    def draw(width: float) -> Any:
        return lines(
            drawn,
            width,
            Axis("time between checkpoints", duration, times=True),
            Axis("seconds lost in an hour", reach=(0.0, HEIGHT * least * HOUR_S)),
            marks=marks,
            dots=dots,
        )

    said = f"Least is lost at {duration(lost.best_s)} between checkpoints."
    return figure("Time lost to checkpoints and recoveries", said, draw, key=tuple(key))

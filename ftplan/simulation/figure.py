"""What the pictures of several simulations share: styles of lines, and lines over time with gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ftplan.reports.charts import Series

Cells = Sequence[float | None]

#: How the first ones are drawn of what a picture shows.
STYLES = ("value-line", "bound-line", "limit-line", "arrival-line", "other-line", "event-line")


def stretches(time_s: Sequence[float], values: Cells, style: str) -> Iterable[Series]:
    """Yield a line for each stretch without gaps, from the failure on."""
    points = [(at, value) for at, value in zip(time_s, values, strict=True) if at >= 0.0]
    for known, stretch in groupby(points, lambda point: point[1] is not None):
        if known:
            yield Series(tuple((at, value) for at, value in stretch if value is not None), style)

"""One measure of a sweep over one or two swept fields, as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.reports.drawing import Form

#: Most values of a field that a map of two fields shows, and most marks of words under an axis.
MOST_CELLS, MOST_WORDS = 60, 24

Value = float | int | bool | str


class Point(NamedTuple):
    """A case: the values of the swept fields, one or two, and of the measure."""

    at: tuple[Value, ...]
    value: float


def draw_sweep(
    points: Sequence[Point],
    form: Form,
    *,
    fields: Sequence[str],
    measure: str,
    base: float | None = None,
) -> bytes:
    """Return a plot of a measure, the same bytes for the same numbers.

    Over one field: a line through the means where it holds numbers, marks where it holds words, and the range of the
    cases of equal value. Over two fields: a map of the means.

    Parameters
    ----------
    points
        At least one.
    measure
        As the axis shall say, with its unit.
    base
        The measure without any change, as a dashed line over one field.

    Raises
    ------
    FtplanError
        If two fields have more values than a map can show.
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "--plot") from None
    with matplotlib.rc_context({"svg.hashsalt": "ftplan", "svg.fonttype": "path", "text.parse_math": False}):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.add_subplot()
        if len(fields) == 1:
            _line(axes, points, base)
            axes.set_ylabel(measure)
            axes.grid(alpha=0.3)
        else:
            _map(figure, axes, points, fields, measure)
            axes.set_ylabel(fields[1])
        axes.set_xlabel(fields[0])
        sink = io.BytesIO()
        metadata = {"Date": None, "Creator": "ftplan"} if form == "svg" else {"Software": "ftplan"}
        figure.savefig(sink, format=form, metadata=metadata)
        return sink.getvalue()


def _ordered(points: Sequence[Point], axis: int) -> list[Value]:
    """Return the values on an axis: numbers ascending, else in the order of the cases."""
    values = list(dict.fromkeys(point.at[axis] for point in points))
    return sorted(values, key=float) if _numeric(values) else values


def _numeric(values: Sequence[Value]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _line(axes: Any, points: Sequence[Point], base: float | None) -> None:
    values = _ordered(points, 0)
    by_value: dict[Value, list[float]] = {value: [] for value in values}
    for point in points:
        by_value[point.at[0]].append(point.value)
    numeric = _numeric(values)
    at: list[float] = [float(value) for value in values] if numeric else list(map(float, range(len(values))))
    means = [float(np.mean(by_value[value])) for value in values]
    low, high = ([side(by_value[value]) for value in values] for side in (min, max))
    mean = "mean" if low != high else None
    if base is not None:
        axes.axhline(base, color="0.6", linestyle="--", label="base")
    if numeric:
        if low != high:
            axes.fill_between(at, low, high, color="C0", alpha=0.2, linewidth=0, label="range")
        axes.plot(at, means, color="C0", marker="o" if len(at) <= MOST_CELLS else None, label=mean)
    else:
        axes.vlines(at, low, high, color="C0", alpha=0.5)
        axes.plot(at, means, "o", color="C0", label=mean)
        _words(axes.set_xticks, values)
    if base is not None or low != high:
        axes.legend()


def _map(figure: Any, axes: Any, points: Sequence[Point], fields: Sequence[str], measure: str) -> None:
    across, up = (_ordered(points, axis) for axis in (0, 1))
    for name, values in zip(fields, (across, up), strict=True):
        if len(values) > MOST_CELLS:
            text = f"--plot: {name} has {len(values):,} values, a map of two fields shows {MOST_CELLS}"
            raise FtplanError(f"{text}: plot over one of them with --plot-over")
    total, count = np.zeros((len(up), len(across))), np.zeros((len(up), len(across)))
    column, line = ({value: i for i, value in enumerate(values)} for values in (across, up))
    for point in points:
        total[line[point.at[1]], column[point.at[0]]] += point.value
        count[line[point.at[1]], column[point.at[0]]] += 1
    means = np.ma.masked_invalid(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    image = axes.imshow(means, origin="lower", aspect="auto", cmap="viridis", interpolation="nearest")
    figure.colorbar(image, ax=axes, label=measure)
    _words(axes.set_xticks, across)
    _words(axes.set_yticks, up, upright=True)


def _words(set_ticks: Any, values: Sequence[Value], upright: bool = False) -> None:
    """Write values beside an axis, every one or as many as fit; long ones are cut."""
    step = -(-len(values) // MOST_WORDS)
    places = list(range(0, len(values), step))
    texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in (values[i] for i in places)]
    texts = [text if len(text) <= 20 else f"{text[:19]}…" for text in texts]
    crowded = not upright and sum(map(len, texts)) > 60
    set_ticks(places, texts, **({"rotation": 45, "ha": "right"} if crowded else {}))

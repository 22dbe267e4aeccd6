"""One measure of what-if cases over one or two swept fields, as a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, Rect, Shape, Text, figure, fitted, text_width
from ftplan.reports.numbers import count, number
from ftplan.reports.palette import STEPS

#: Most values of a field that a map of two fields, or a chart over words, shows.
MOST_VALUES = 60

Value = float | int | bool | str
Format = Callable[[float], str]


class PlottedCase(NamedTuple):
    """A case: the values of the swept fields, one or two, and of the measure."""

    at: tuple[Value, ...]
    value: float


def what_if_figure(
    points: Sequence[PlottedCase], fields: Sequence[str], measure: str, base: float | None = None, form: Format = number
) -> Figure:
    """Return a figure of a measure.

    Over one field of numbers: a dot a case and a line through the means. Over one of words, or two fields: a map, a
    cell for each value with the mean as number and colour.

    Parameters
    ----------
    points
        At least one.
    measure
        As the axis shall say.
    base
        The measure without any change, over one field.
    form
        How a value of the measure is written.
    """
    title = f"{measure.capitalize()} over {' and '.join(fields)}"
    values = [_ordered(points, axis) for axis in range(len(fields))]
    said = f"{count(len(points), 'case')}, {' × '.join(count(len(v), 'value') for v in values)}."
    if len(fields) == 1 and _numeric(values[0]) and min(map(float, values[0])) >= 0.0:
        return _curve(title, said, points, (fields[0], measure), base, form)
    return _map(title, said, points, values, fields, form)


def _ordered(points: Sequence[PlottedCase], axis: int) -> list[Value]:
    """Return the values on an axis: numbers ascending, else in the order of the cases."""
    values = list(dict.fromkeys(point.at[axis] for point in points))
    return sorted(values, key=float) if _numeric(values) else values


def _numeric(values: Sequence[Value]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _means(points: Sequence[PlottedCase]) -> dict[tuple[Value, ...], float]:
    by_place: dict[tuple[Value, ...], list[float]] = {}
    for point in points:
        by_place.setdefault(point.at, []).append(point.value)
    return {at: sum(values) / len(values) for at, values in by_place.items()}


def _curve(
    title: str, said: str, points: Sequence[PlottedCase], names: tuple[str, str], base: float | None, form: Format
) -> Figure:
    means = sorted((float(at[0]), mean) for at, mean in _means(points).items())
    drawn = [Series(tuple(means), "value-line")]
    key = [("value", "", "a case")]
    if len(means) < len(points):
        key.append(("line:value-line", "", "mean of the cases of equal value"))
    if base is not None:
        drawn.insert(0, Series(((0.0, base), (means[-1][0] or 1.0, base)), "bound-line"))
        key.append(("line:bound-line", "", f"base: {form(base)}"))
    dots = [(place, "value") for place in dict.fromkeys((float(point.at[0]), point.value) for point in points)]

    def draw(width: float) -> Drawing:
        return lines(drawn, width, Axis(names[0]), Axis(names[1], form), dots=dots)

    return figure(title, said, draw, key=tuple(key))


def _map(
    title: str,
    said: str,
    points: Sequence[PlottedCase],
    values: Sequence[list[Value]],
    fields: Sequence[str],
    form: Format,
) -> Figure:
    """Return a cell for each pair of values, with its mean as colour and number; over one field a single row."""
    means = _means(points)
    low, high = min(means.values()), max(means.values())
    step = (high - low) / STEPS or 1.0

    def style(value: float) -> int:
        return min(int((value - low) / step), STEPS - 1)

    occur = sorted({style(value) for value in means.values()})
    key = [(f"s{k}", "", f"{form(low + k * step)} to {form(low + (k + 1) * step)}") for k in occur]
    rows, columns = values[0], values[1] if len(fields) > 1 else [""]

    def draw(width: float) -> Drawing:
        names = min(max(text_width(_word(row)) for row in rows) + 12, 0.34 * width)
        room = min((width - names) / len(columns), 120.0)
        tall, top = 24.0, 22.0 if len(fields) == 1 else 40.0
        shapes: list[Shape] = [Text(0.0, top - 6, fields[0], "small")]
        if len(fields) > 1:
            shapes.append(Text(names, 12.0, fields[1], "small"))
        for j, column in enumerate(columns):
            word = fitted(_word(column), room - 4, "small")
            shapes.append(Text(names + room * (j + 0.5), top - 6, word, "small", "middle"))
        for i, row in enumerate(rows):
            y = top + tall * i
            shapes.append(Text(0.0, y + 16, fitted(_word(row), names - 8)))
            for j, column in enumerate(columns):
                mean = means.get((row, column) if len(fields) > 1 else (row,))
                if mean is None:
                    continue
                x, text = names + room * j, form(mean)
                shapes.append(
                    Rect(x, y, room - 2, tall - 2, f"s{style(mean)}", f"{_word(row)}, {_word(column)}: {text}")
                )
                if text_width(text, "mark") <= room - 4:
                    shapes.append(Text(x + room / 2 - 1, y + 15, text, "mark", "middle"))
        return Drawing(width, top + tall * len(rows), tuple(shapes))

    return figure(title, said, draw, key=tuple(key))


def _word(value: Value) -> str:
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)

"""Axes: points by number, each with the values of its columns and what it changes; and the columns of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, Literal

from ftplan.errors import FtplanError
from ftplan.what_if.delta import Delta
from ftplan.what_if.draws import Entries, described

ColumnType = Literal["text", "number", "whole", "flag"]

#: Columns of draws: the number, and what failed.
DRAW, FAILED = "draw", "failed"


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column of the rows: its type, which way is better (None: neither), and its unit."""

    name: str
    type: ColumnType
    sense: Literal["min", "max"] | None = None
    unit: str | None = None


def column_of(name: str, values: Iterable[Any]) -> tuple[RowColumn, list[Any]]:
    """Return the column of some values, None among them, and these as it holds them."""
    listed = list(values)
    some = [value for value in listed if value is not None]
    if some and all(isinstance(value, bool) for value in some):
        return RowColumn(name, "flag"), listed
    if some and all(isinstance(value, int) and not isinstance(value, bool) for value in some):
        return RowColumn(name, "whole"), listed
    if some and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in some):
        return RowColumn(name, "number"), [None if value is None else float(value) for value in listed]
    return RowColumn(name, "text"), [None if value is None else text_of(value) for value in listed]


def text_of(value: Any) -> str:
    """Return a value as text: numbers in at most 12 digits, lists and mappings as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.12g}"
    return json.dumps(value, sort_keys=True)


@dataclass(frozen=True, slots=True)
class AxisPoint:
    """Values of columns, and what is changed for them."""

    values: Mapping[str, Any] = field(default_factory=dict)
    delta: Delta = field(default_factory=Delta)

    def then(self, other: AxisPoint) -> AxisPoint:
        """Return two points as one."""
        return AxisPoint({**self.values, **other.values}, self.delta.then(other.delta))


@dataclass(frozen=True, slots=True)
class CaseAxis:
    """So many points. The first ``swept`` of the columns tell them apart, further ones say more of each.

    ``listed`` tells that somebody wrote the points one by one, so that two may be the same by mistake.
    """

    columns: tuple[RowColumn, ...]
    count: int
    point: Callable[[int], AxisPoint]
    swept: int = 1
    listed: bool = False

    def label(self, number: int) -> str:
        """Return how the id of a case names a point: ``added=2``."""
        values = self.point(number).values
        return " ".join(f"{column.name}={text_of(values[column.name])}" for column in self.columns[: self.swept])


def _drawn(draw: Callable[[int], Entries], number: int) -> AxisPoint:
    entries = draw(number)
    return AxisPoint({DRAW: number, FAILED: described(entries)}, Delta(failures=entries))


def _seeded(first: int, number: int) -> AxisPoint:
    return AxisPoint({"seed": first + number}, Delta(options={"seed": first + number}))


def _renamed(point_of: Callable[[int], AxisPoint], old: str, new: str, number: int) -> AxisPoint:
    point = point_of(number)
    return replace(point, values={new if key == old else key: value for key, value in point.values.items()})


def _in_step(axes: tuple[CaseAxis, ...], number: int) -> AxisPoint:
    return reduce(AxisPoint.then, (axis.point(number) for axis in axes), AxisPoint())


def listed(name: str, points: Iterable[tuple[Any, Delta]]) -> CaseAxis:
    """Return an axis of listed values, each with what it changes."""
    pairs = list(points)
    column, values = column_of(name, [value for value, _ in pairs])
    made = tuple(AxisPoint({name: value}, delta) for value, (_, delta) in zip(values, pairs, strict=True))
    return CaseAxis((column,), len(made), made.__getitem__, listed=True)


def drawn(draw: Callable[[int], Entries], count: int) -> CaseAxis:
    """Return an axis of drawn failures."""
    return CaseAxis((RowColumn(DRAW, "whole"), RowColumn(FAILED, "text")), count, partial(_drawn, draw))


def seeded(first: int, count: int) -> CaseAxis:
    """Return an axis of consecutive seeds."""
    return CaseAxis((RowColumn("seed", "whole"),), count, partial(_seeded, first))


def in_step(axes: Sequence[CaseAxis], name: str | None, taken: Collection[str]) -> CaseAxis:
    """Return axes that vary together as one, whose first column is called *name*.

    Raises FtplanError if they are not of one length, a column is there already, or two points are the same.
    """
    if not axes:
        raise FtplanError("varies nothing")
    first, *others = axes
    if name is not None:
        old, *more = first.columns
        point = partial(_renamed, first.point, old.name, name)
        first = replace(first, columns=(replace(old, name=name), *more), point=point)
    axes = (first, *others)
    names = [column.name for axis in axes for column in axis.columns]
    for column in names:
        if column in taken or names.count(column) > 1:
            raise FtplanError(f"there is a column {column!r} already: give the axis another name")
    if len({axis.count for axis in axes}) > 1:
        counts = ", ".join(f"{axis.columns[0].name} has {axis.count}" for axis in axes)
        raise FtplanError(f"what varies in step needs equally many values, but {counts}; or make it two axes")
    if not first.count:
        raise FtplanError(f"{first.columns[0].name}: lists nothing")
    swept = [column for axis in axes for column in axis.columns[: axis.swept]]
    columns = (*swept, *(column for axis in axes for column in axis.columns[axis.swept :]))
    made = first if not others else CaseAxis(columns, first.count, partial(_in_step, tuple(axes)), len(swept))
    if all(axis.listed for axis in axes):
        seen: dict[str, int] = {}
        for i in range(made.count):
            if seen.setdefault(made.label(i), i) != i:
                raise FtplanError(f"lists {made.label(i)} twice")
    return made

"""A circle of tokens: the arc of each in the colour of its zone, and how far its load reaches beyond a fair share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ftplan.reports.drawing import Drawing, Line, Point, Shape, Text, fitted, text_width

#: Most arcs that can be told apart, the widest drawing, and the room for the highest load, in pixels.
ARCS, WIDEST, REACH = 400, 560.0, 46.0
#: The widest name beside the circle, the width of the band of zones, and what lies between two names.
_NAME, _BAND, _LINE = 110.0, 20.0, 14.0


@dataclass(frozen=True)
class Arc:
    """An arc from one token up to the next.

    Attributes
    ----------
    begin, end
        On the circle, in [0, 1); an end at or before the begin goes over 0.
    level
        Load over the fair share, None where unknown.
    """

    begin: float
    end: float
    name: str
    style: str
    title: str
    level: float | None = None

    @property
    def length(self) -> float:
        """Share of the circle; one arc alone is all of it."""
        return (self.end - self.begin) % 1.0 or 1.0

    @property
    def middle(self) -> float:
        """Half way from begin to end."""
        return (self.begin + self.length / 2) % 1.0


def ring(arcs: Sequence[Arc], width: float) -> Drawing:
    """Return the circle with 0 on top and positions growing clockwise; at most :data:`ARCS` arcs."""
    width = min(width, WIDEST)
    names = min(max(text_width(arc.name) for arc in arcs) + 8, _NAME)
    levels = [arc.level for arc in arcs if arc.level is not None]
    reach = REACH if levels else 0.0
    radius = min(150.0, width / 2 - names - reach - _BAND)
    outer = radius + _BAND
    centre = (width / 2, outer + reach + _LINE + 4)
    shapes: list[Shape] = []
    highest = max([*levels, 1.0])
    for arc in arcs:
        shapes.append(Line(_sector(centre, radius, outer, arc), arc.style, title=arc.title))
        if arc.level:
            style = "value" if arc.level <= 1.0 + 1e-9 else "other"
            top = outer + 3 + (reach - 3) * arc.level / highest
            shapes.append(Line(_sector(centre, outer + 3, top, arc), style, title=arc.title))
    if levels:
        shapes.append(Line(_round(centre, outer + 3 + (reach - 3) / highest, 0.0, 1.0), "limit-line"))
    shapes += _names(arcs, centre, outer + reach + 6, names - 4)
    shapes += [Text(centre[0], centre[1] - radius + 16, "0", "small", "middle")]
    shapes += [Text(centre[0], centre[1] + radius - 8, "0.5", "small", "middle")]
    return Drawing(width, centre[1] + outer + reach + _LINE + 6, tuple(shapes))


def _at(centre: Point, radius: float, position: float) -> Point:
    angle = 2.0 * math.pi * position
    return centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)


def _round(centre: Point, radius: float, begin: float, length: float) -> tuple[Point, ...]:
    """Return points along a stretch of a circle, at most three degrees apart."""
    steps = max(1, math.ceil(length * 120))
    return tuple(_at(centre, radius, begin + length * k / steps) for k in range(steps + 1))


def _sector(centre: Point, inner: float, outer: float, arc: Arc) -> tuple[Point, ...]:
    """Return the outline of a piece of a ring."""
    far = _round(centre, outer, arc.begin, arc.length)
    near = _round(centre, inner, arc.begin, arc.length)
    return (*far, *reversed(near), far[0])


def _names(arcs: Sequence[Arc], centre: Point, radius: float, room: float) -> list[Shape]:
    """Return the names that fit beside the circle, one line apart on each side, in the order of the arcs."""
    shapes: list[Shape] = []
    taken: dict[bool, list[float]] = {True: [], False: []}
    for arc in arcs:
        x, y = _at(centre, radius, arc.middle)
        right = arc.middle < 0.5
        if all(abs(y - other) >= _LINE for other in taken[right]):
            taken[right].append(y)
            shapes.append(Text(x, y + 4, fitted(arc.name, room), "label", "start" if right else "end"))
    return shapes

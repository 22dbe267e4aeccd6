"""Drawings as plain shapes: a template writes them as SVG, :mod:`ftplan.reports.plot_file` paints them as PNG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ftplan.reports.palette import LETTERINGS
from ftplan.reports.tables import PageTable

#: Width in pixels of what is drawn for a desk and for a phone.
WIDE, NARROW = 940.0, 326.0

Point = tuple[float, float]
#: The forms of a file.
Form = Literal["svg", "png"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; ``title`` is what a pointer over it shows."""

    x: float
    y: float
    width: float
    height: float
    style: str
    title: str = ""
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """Straight lines through points, or with ``bend`` curves that leave and arrive along the x or the y axis.

    A style with a fill fills what they enclose.
    """

    points: tuple[Point, ...]
    style: str
    bend: Literal["x", "y"] | None = None
    title: str = ""

    @property
    def path(self) -> str:
        """The data of an SVG path."""
        (x, y), *others = self.points
        parts = [f"M{x:.1f} {y:.1f}"]
        for to_x, to_y in others:
            if self.bend is None:
                parts.append(f"L{to_x:.1f} {to_y:.1f}")
            else:
                (a, b), (c, d) = bends((x, y), (to_x, to_y), self.bend)
                parts.append(f"C{a:.1f} {b:.1f} {c:.1f} {d:.1f} {to_x:.1f} {to_y:.1f}")
            x, y = to_x, to_y
        return "".join(parts)


def bends(start: Point, end: Point, axis: Literal["x", "y"]) -> tuple[Point, Point]:
    """Return the control points of a curve that leaves and arrives along an axis."""
    if axis == "x":
        middle = (start[0] + end[0]) / 2
        return (middle, start[1]), (middle, end[1])
    middle = (start[1] + end[1]) / 2
    return (start[0], middle), (end[0], middle)


@dataclass(frozen=True, slots=True)
class Text:
    """A text whose baseline begins, has its middle, or ends at a point."""

    x: float
    y: float
    text: str
    style: str = "label"
    anchor: Literal["start", "middle", "end"] = "start"


Shape = Rect | Line | Text


@dataclass(frozen=True)
class Drawing:
    """Shapes on a sheet, in pixels from the top left corner, in the order in which they are drawn."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Figure:
    """A drawing for a desk and one for a phone, with what they show in words and, where there are any, in numbers.

    Attributes
    ----------
    key
        Styles with the mark that stands beside the colour, and what they mean.
    """

    title: str
    description: str
    wide: Drawing
    narrow: Drawing
    key: tuple[tuple[str, str, str], ...] = ()
    table: PageTable | None = None


def figure(
    title: str,
    description: str,
    draw: Callable[[float], Drawing],
    *,
    key: tuple[tuple[str, str, str], ...] = (),
    table: PageTable | None = None,
) -> Figure:
    """Return a figure from a function that draws it at a width."""
    return Figure(title, description, draw(WIDE), draw(NARROW), key, table)


def text_width(text: str, style: str = "label") -> float:
    """Return about how wide a text is: fonts differ, and this is a wide one."""
    lettering = LETTERINGS[style]
    wide = sum(0.88 if c.isupper() or c in "mwMW%@—" else 0.33 if c in "ilj.,:;|!'/ " else 0.58 for c in text)
    return wide * lettering.size * (1.06 if lettering.bold else 1.0)


def fitted(text: str, width: float, style: str = "label") -> str:
    """Return a text cut to a width, with a mark where it is cut."""
    if text_width(text, style) <= width:
        return text
    kept = text
    while kept and text_width(f"{kept}…", style) > width:
        kept = kept[:-1]
    return f"{kept}…"


def sheet(drawn: Figure) -> Drawing:
    """Return the wide drawing of a figure with its title above and its key below, for a file of its own."""
    wide = drawn.wide
    top, shapes = 32.0, [Text(0.0, 14.0, fitted(drawn.title, wide.width, "title"), "title")]
    placed: list[Shape] = [*shapes, *(_lower(shape, top) for shape in wide.shapes)]
    x, y = 0.0, top + wide.height + 20.0
    for style, mark, text in drawn.key:
        length = 24.0 + text_width(text) + 18.0
        if x and x + length > wide.width:
            x, y = 0.0, y + 22.0
        if style.startswith("line:"):
            placed.append(Line(((x, y - 4), (x + 17, y - 4)), style[5:]))
        else:
            placed.append(Rect(x, y - 12, 16.0, 16.0, style, radius=2.5))
        placed += [Text(x + 8, y, mark, "mark", "middle")] if mark else []
        placed.append(Text(x + 24, y, text))
        x += length
    return Drawing(wide.width, y + 8.0 if drawn.key else top + wide.height, tuple(placed))


def below(drawings: Sequence[Drawing]) -> Drawing:
    """Return drawings one below the other."""
    top, gap, shapes = 0.0, 14.0, []
    for drawn in drawings:
        shapes += [_lower(shape, top) for shape in drawn.shapes]
        top += drawn.height + gap
    return Drawing(max(drawn.width for drawn in drawings), top - gap, tuple(shapes))


def _lower(shape: Shape, by: float) -> Shape:
    if isinstance(shape, Line):
        return replace(shape, points=tuple((x, y + by) for x, y in shape.points))
    return replace(shape, y=shape.y + by)

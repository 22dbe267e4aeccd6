"""The colours of pages and drawings, by theme. Every pair of text and ground keeps a contrast of 4.5 or more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: Colours by name. ``s0`` to ``s5`` are steps and rounds, early to late; text on them is ``mark``.
LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "panel": "#f4f6f8",
    "ink": "#16202b",
    "muted": "#51606f",
    "line": "#ccd4dc",
    "outline": "#748291",
    "accent": "#0a5bb5",
    "good": "#0f6a3c",
    "good-ground": "#dff3e6",
    "warn": "#7a4a00",
    "warn-ground": "#fdf0d5",
    "bad": "#a3211b",
    "bad-ground": "#fbe3e0",
    "calm": "#e3e8ed",
    "mark": "#0f1a24",
    "s0": "#7fcfc0",
    "s1": "#a2d899",
    "s2": "#cfdc80",
    "s3": "#f0d470",
    "s4": "#f5bd78",
    "s5": "#f0a38a",
    "chosen": "#8fbdf0",
}
DARK: Mapping[str, str] = {
    "paper": "#12171d",
    "panel": "#1b222a",
    "ink": "#e8edf2",
    "muted": "#a5b1bd",
    "line": "#36414d",
    "outline": "#7d8b99",
    "accent": "#7fb6f5",
    "good": "#7fd6a3",
    "good-ground": "#163526",
    "warn": "#f0c274",
    "warn-ground": "#3a2c10",
    "bad": "#f7a199",
    "bad-ground": "#451d1a",
    "calm": "#2c3641",
    "mark": "#ffffff",
    "s0": "#0d6c60",
    "s1": "#2c6d38",
    "s2": "#566c1c",
    "s3": "#75630f",
    "s4": "#855018",
    "s5": "#8a4030",
    "chosen": "#215b9c",
}
#: How many steps have a colour of their own; later ones are told apart by their number alone.
STEPS = 6


class Style(NamedTuple):
    """How a shape looks: names of colours, the width of its outline, and its dashes."""

    fill: str | None
    stroke: str | None = None
    width: float = 1.0
    dash: tuple[float, ...] = ()


#: Shapes by style. A style that ends in ``-hatched`` has stripes over its fill.
SHAPES: Mapping[str, Style] = {
    "box": Style("paper", "outline"),
    "axis": Style(None, "outline"),
    "grid": Style(None, "line"),
    "edge": Style(None, "outline", 1.25),
    "edge-split": Style(None, "outline", 1.25, (7.0, 3.0)),
    "edge-merge": Style(None, "outline", 1.25, (2.0, 3.0)),
    "edge-full": Style(None, "outline", 2.5),
    "edge-measured": Style(None, "outline", 1.5, (9.0, 3.0, 2.0, 3.0)),
    "live": Style("calm", "outline", 0.75),
    "down": Style("bad-ground", "bad"),
    "down-hatched": Style("bad-ground", "bad"),
    "chosen": Style("chosen", "outline", 0.75),
    "waiting-hatched": Style("calm", "outline", 0.75),
    "value": Style("accent"),
    "value-line": Style(None, "accent", 2.25),
    "other": Style("outline"),
    "other-line": Style(None, "outline", 1.75, (2.0, 3.0)),
    "peer-line": Style(None, "warn", 1.75, (9.0, 3.0, 2.0, 3.0)),
    "bound-line": Style(None, "muted", 1.75, (7.0, 4.0)),
    "limit-line": Style(None, "bad", 1.5, (7.0, 4.0)),
    "event-line": Style(None, "bad", 1.0, (3.0, 3.0)),
    "arrival-line": Style(None, "good", 1.0, (3.0, 3.0)),
    **{f"s{k}": Style(f"s{k}", "outline", 0.75) for k in range(STEPS)},
}


class Lettering(NamedTuple):
    """How a text looks: colour, size in pixels, and whether it is bold."""

    fill: str
    size: float
    bold: bool = False


LETTERINGS: Mapping[str, Lettering] = {
    "title": Lettering("ink", 15.0, True),
    "label": Lettering("ink", 12.0),
    "strong": Lettering("ink", 12.5, True),
    "small": Lettering("muted", 11.0),
    "mark": Lettering("mark", 10.0, True),
    "down-mark": Lettering("bad", 10.0, True),
}


def step_style(step: int) -> str:
    """Return the style of a step or round, counted from 0."""
    return f"s{min(max(step, 0), STEPS - 1)}"

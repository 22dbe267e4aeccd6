"""Pictures as files: the one that says most of a plan, or any figure, as SVG or PNG (painted by matplotlib)."""

from __future__ import annotations

import importlib.util
import io
import os
from typing import Any

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.io.output import refuse_existing, write_bytes
from ftplan.model.kinds import with_article
from ftplan.model.plan import Plan
from ftplan.reports.drawing import Drawing, Figure, Form, Line, Rect, Text, bends, sheet
from ftplan.reports.palette import LETTERINGS, LIGHT, SHAPES, Style

#: Pixels of the file for one of the drawing, and the margin around it.
SCALE, MARGIN = 2.0, 12.0
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}

_FORMS: dict[str, Form] = {".svg": "svg", ".png": "png"}
_PACKAGES: dict[Form, str] = {"svg": "jinja2", "png": "matplotlib"}


def png(drawing: Drawing) -> bytes:
    """Return a drawing as a PNG file, the same bytes for the same drawing.

    Raises MissingExtraError if matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "a PNG") from None
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    sheet = Figure(figsize=(width / 72, height / 72), facecolor=LIGHT["paper"])
    axes = sheet.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(-MARGIN, drawing.width + MARGIN)
    axes.set_ylim(drawing.height + MARGIN, -MARGIN)
    for order, shape in enumerate(drawing.shapes):
        if isinstance(shape, Text):
            lettering = LETTERINGS[shape.style]
            axes.text(
                shape.x,
                shape.y,
                shape.text,
                color=LIGHT[lettering.fill],
                fontsize=lettering.size,
                fontweight="bold" if lettering.bold else "normal",
                ha=_ANCHORS[shape.anchor],
                va="baseline",
                zorder=order,
                parse_math=False,
            )
        else:
            axes.add_patch(_patch(shape, order))
    sink = io.BytesIO()
    sheet.savefig(sink, format="png", dpi=72 * SCALE, metadata={"Software": "ftplan"})
    return sink.getvalue()


def _patch(shape: Rect | Line, order: int) -> Any:
    from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
    from matplotlib.path import Path

    style = SHAPES[shape.style]
    look = _look(style) | {"zorder": order}
    if isinstance(shape, Line):
        points, codes = [shape.points[0]], [Path.MOVETO]
        for point in shape.points[1:]:
            if shape.bend is None:
                points.append(point)
                codes.append(Path.LINETO)
            else:
                points += [*bends(points[-1], point, shape.bend), point]
                codes += [Path.CURVE4] * 3
        return PathPatch(Path(points, codes), **(look | {"fill": style.fill is not None}))
    if shape.style.endswith("-hatched"):
        look["hatch"] = "////"
    if not shape.radius:
        return Rectangle((shape.x, shape.y), shape.width, shape.height, **look)
    rounded = min(shape.radius, shape.width / 2, shape.height / 2)
    box = f"round,pad=0,rounding_size={rounded}"
    return FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=box, **look)


def _look(style: Style) -> dict[str, Any]:
    return {
        "facecolor": "none" if style.fill is None else LIGHT[style.fill],
        "edgecolor": "none" if style.stroke is None else LIGHT[style.stroke],
        "linewidth": style.width if style.stroke is not None else 0.0,
        "linestyle": (0, style.dash) if style.dash else "solid",
    }


def check_plot(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work, a plot that cannot be drawn or written.

    Raises FtplanError if the name ends neither in .svg nor in .png, or the file exists and *force* is false;
    MissingExtraError if what draws is not installed.
    """
    package = _PACKAGES[form_of(path)]
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(package, "report", "--plot")
    refuse_existing(path, force)


def plot(plan: Plan, path: str | os.PathLike[str], force: bool = False) -> None:
    """Draw a plan into a file: what a recovery restores over time, what a budget of replicas buys, where copies lie.

    Raises FtplanError as :func:`check_plot`, and if there is nothing to draw: no answer, or a kind without figures.
    """
    from ftplan.reports.plan_figures import figures

    form = form_of(path)
    drawn = figures(plan)
    if not drawn:
        why = f"its status is {plan.status}" if plan.plan is None else f"{with_article(plan.kind)} has no figure"
        raise FtplanError(f"--plot {os.fspath(path)}: there is nothing to draw: {why}")
    write_bytes(path, picture(drawn[0], form), force)


def write_figure(drawn: Figure, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write a figure into a file, in the form that its name ends in.

    Raises FtplanError as :func:`check_plot`.
    """
    write_bytes(path, picture(drawn, form_of(path)), force)


def picture(drawn: Figure, form: Form) -> bytes:
    """Return a figure as the bytes of a file, the same for the same figure."""
    if form == "svg":
        from ftplan.reports.page import svg

        return svg(drawn).encode()
    return png(sheet(drawn))


def form_of(path: str | os.PathLike[str]) -> Form:
    """Return the form that the name of a plot ends in."""
    name = os.fspath(path)
    form = _FORMS.get(os.path.splitext(name)[1].lower())
    if form is None:
        raise FtplanError(f"--plot {name}: expected a name that ends in .svg or .png")
    return form

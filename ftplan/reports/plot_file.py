"""The picture that says most of a plan, as a file."""

from __future__ import annotations

import importlib.util
import os

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.io.output import refuse_existing, write_bytes
from ftplan.model.plan import Plan
from ftplan.reports.drawing import Figure, Form, sheet

_FORMS: dict[str, Form] = {".svg": "svg", ".png": "png"}
_PACKAGES: dict[Form, str] = {"svg": "jinja2", "png": "matplotlib"}


def check_plot(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work, a plot that cannot be drawn or written.

    Raises
    ------
    FtplanError
        If the name ends neither in .svg nor in .png, or the file exists and *force* is false.
    MissingExtraError
        If what draws is not installed.
    """
    package = _PACKAGES[form_of(path)]
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(package, "report", "--plot")
    refuse_existing(path, force)


def plot(plan: Plan, path: str | os.PathLike[str], force: bool = False) -> None:
    """Draw a plan into a file: what a recovery restores over time, what a budget of replicas buys, where copies lie.

    Raises
    ------
    FtplanError
        As :func:`check_plot`, and if there is nothing to draw: no answer, or a kind without figures.
    """
    from ftplan.reports.plan_figures import figures

    form = form_of(path)
    drawn = figures(plan)
    if not drawn:
        why = f"its status is {plan.status}" if plan.plan is None else f"a {plan.kind} has no figure"
        raise FtplanError(f"--plot {os.fspath(path)}: there is nothing to draw: {why}")
    write_bytes(path, picture(drawn[0], form), force)


def write_figure(drawn: Figure, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write a figure into a file, in the form that its name ends in.

    Raises
    ------
    FtplanError
        As :func:`check_plot`.
    """
    write_bytes(path, picture(drawn, form_of(path)), force)


def picture(drawn: Figure, form: Form) -> bytes:
    """Return a figure as the bytes of a file, the same for the same figure."""
    if form == "svg":
        from ftplan.reports.page import svg

        return svg(drawn).encode()
    from ftplan.reports.raster import png

    return png(sheet(drawn))


def form_of(path: str | os.PathLike[str]) -> Form:
    """Return the form that the name of a plot ends in."""
    name = os.fspath(path)
    form = _FORMS.get(os.path.splitext(name)[1].lower())
    if form is None:
        raise FtplanError(f"--plot {name}: expected a name that ends in .svg or .png")
    return form

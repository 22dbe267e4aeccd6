"""The curve of a replication plan as a file."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.io.output import refuse_existing, write_bytes
from ftplan.model.plan import Plan
from ftplan.reports.fidelity_curve import Form

_FORMS: dict[str, Form] = {".svg": "svg", ".png": "png"}
_UNITS = {"tasks": "replicas", "cores": "cores of replicas", "mb": "state of replicas, units of 2^20 bytes"}


def check_plot(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work, a plot that cannot be drawn or written.

    Raises
    ------
    FtplanError
        If the name ends neither in .svg nor in .png, or the file exists and *force* is false.
    MissingExtraError
        If matplotlib is not installed.
    """
    _form(path)
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "report", "--plot")
    refuse_existing(path, force)


def plot_curve(plan: Plan, path: str | os.PathLike[str], force: bool = False) -> None:
    """Draw the curve of a plan into a file, beside the plan itself and random choices.

    Raises
    ------
    FtplanError
        As :func:`check_plot`, and if the plan has no curve.
    """
    from ftplan.reports.fidelity_curve import draw_curve

    points: Any = (plan.plan or {}).get("curve")
    if not points:
        raise FtplanError("the plan has no curve to draw: plan with --curve")
    metric = str(plan.options.get("metric", "output-fidelity"))
    unit = str(plan.options.get("budget_unit", "tasks"))
    after, random = plan.summary.get("after") or {}, plan.summary.get("random") or {}
    spent = after.get({"tasks": "replicas", "cores": "cpu", "mb": "memory_mb"}[unit])
    values = [figures.get(metric.replace("-", "_")) for figures in (after, random)]
    marks = [(float(spent), value) if spent is not None and value is not None else None for value in values]
    drawn = draw_curve(points, _form(path), metric=metric, unit=_UNITS[unit], chosen=marks[0], random=marks[1])
    write_bytes(path, drawn, force)


def _form(path: str | os.PathLike[str]) -> Form:
    name = os.fspath(path)
    form = _FORMS.get(os.path.splitext(name)[1].lower())
    if form is None:
        raise FtplanError(f"--plot {name}: expected a name that ends in .svg or .png")
    return form

"""What every budget of replicas buys, as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ftplan.errors import MissingExtraError

Form = Literal["svg", "png"]


def draw_curve(
    points: Sequence[Mapping[str, Any]],
    form: Form,
    *,
    metric: str,
    unit: str,
    chosen: tuple[float, float] | None = None,
    random: tuple[float, float] | None = None,
) -> bytes:
    """Return a plot of value and bound over budgets, the same bytes for the same numbers.

    Parameters
    ----------
    points
        ``{budget, value, bound}``, ascending.
    unit
        Of the budgets, as the axis shall say.
    chosen, random
        (budget, value) of the plan, and of random choices of its budget.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "--plot") from None
    with matplotlib.rc_context({"svg.hashsalt": "ftplan", "svg.fonttype": "path"}):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.add_subplot()
        budgets = [point["budget"] for point in points]
        bounded = [(point["budget"], point["bound"]) for point in points if point["bound"] is not None]
        if bounded:
            axes.plot(*zip(*bounded, strict=True), color="0.6", linestyle="--", label="proven bound")
        axes.plot(budgets, [point["value"] for point in points], color="C0", label="planner")
        if chosen is not None:
            axes.plot([chosen[0]], [chosen[1]], "o", color="C0", label="this plan")
        if random is not None:
            axes.plot([random[0]], [random[1]], "x", color="C3", label="random choice (mean)")
        axes.set_xlabel(unit)
        axes.set_ylabel(metric)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlim(left=0.0)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")
        sink = io.BytesIO()
        metadata = {"Date": None, "Creator": "ftplan"} if form == "svg" else {"Software": "ftplan"}
        figure.savefig(sink, format=form, metadata=metadata)
        return sink.getvalue()

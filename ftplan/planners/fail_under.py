"""``--fail-under METRIC=VALUE``: limits that an evaluation has to meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ftplan.errors import FtplanError, suggestion
from ftplan.model import kinds
from ftplan.model.kinds import metrics_of
from ftplan.model.plan import Warn
from ftplan.planners.assessments import MetricValue

Limit = tuple[str, float]


def limits_of(texts: Iterable[str], kind: str) -> tuple[list[Limit], tuple[Warn, ...]]:
    """Return the limits by the names of now, and a warning for each name of before.

    Raises
    ------
    FtplanError
        If one names no metric of the kind, or no number.
    """
    limits, warnings = [], []
    known = [metric.name for metric in metrics_of(kind)]
    for text in texts:
        name, equals, number = text.partition("=")
        now = None if name in known else _renamed(name)
        if now is not None:
            warnings.append(Warn("METRIC_RENAMED", f"--fail-under {text}: {name} is called {now} now: write that"))
            text = now + equals + number
        limits.append(limit_of(text, known, "METRIC"))
    return limits, tuple(warnings)


def _renamed(name: str) -> str | None:
    """Return the name of now of a metric that was renamed, whatever kind of plan has it; None for any other."""
    renamed = (kinds.question(kind).renamed_metrics for kind in kinds.names())
    return next((names[name] for names in renamed if name in names), None)


def limit_of(text: str, known: Sequence[str], what: str) -> Limit:
    """Return one limit on one of the *known* names; *what* they are, in capitals.

    Raises
    ------
    FtplanError
        If it names none of them, or no number.
    """
    name, equals, number = text.partition("=")
    if not equals or name not in known:
        listed = f"{what.lower()}s: {', '.join(known)}"
        raise FtplanError(f"--fail-under {text!r}: expected {what}=VALUE{suggestion(name, known)}; {listed}")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if value != value:
        raise FtplanError(f"--fail-under {text!r}: {number!r} is no number")
    return name, value


def unmet_limits(metrics: Sequence[MetricValue], limits: Sequence[Limit]) -> tuple[str, ...]:
    """Return a sentence for each limit that a metric is on the worse side of, or undefined."""
    texts = []
    for metric in metrics:
        for limit in (value for name, value in limits if name == metric.name):
            below = metric.sense == "max"
            if metric.value is not None and (metric.value >= limit if below else metric.value <= limit):
                continue
            side = "below" if below else "above"
            shown = "undefined" if metric.value is None else f"{metric.value:.6g}, {side}"
            texts.append(f"{metric.name} is {shown} the limit {limit:g}")
    return tuple(texts)

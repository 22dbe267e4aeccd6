"""What is measured of the answer of a case, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ftplan.errors import FtplanError, Mistakes, suggestion
from ftplan.io.what_if_file import MeasureModel
from ftplan.model.kinds import metrics_of
from ftplan.model.plan import Plan, canonical_number
from ftplan.planners.assessments import Evaluation

#: Numbers of a plan's objective.
STATED = ("objective", "bound", "gap")
#: Where in a plan a measure may lie.
PLACES = ("summary", "options", "plan", "warnings", "objective", "infeasible")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure; ``source`` says where it is read: the objective, ``evaluate``, or a place in the plan."""

    name: str
    source: Literal["objective", "metric", "place"]
    sense: Literal["min", "max"] | None = None
    unit: str | None = None

    def of(self, plan: Plan | None, metrics: Mapping[str, float | None]) -> float | None:
        """Return the value, in the digits that plans promise; None where there is none.

        Raises FtplanError if the plan has no such place, or no number there.
        """
        value: float | int | None
        if self.source == "metric":
            value = metrics.get(self.name)
        elif self.source == "objective":
            stated = None if plan is None else plan.objective
            value = None if stated is None else getattr(stated, "value" if self.name == "objective" else self.name)
        else:
            value = None if plan is None else _at(plan.to_dict(), self.name)
        return None if value is None else canonical_number(float(value))


def measures_of(given: list[Any] | None, kind: str, *, evaluated: bool) -> tuple[Measure, ...]:
    """Return the measures that a file names, else the objective and its bound, or all metrics of the kind.

    Raises FtplanError if one is unknown, or named twice.

    Parameters
    ----------
    evaluated
        Whether a given plan is evaluated, so that there are metrics only.
    """
    default = [metric.name for metric in metrics_of(kind)] if evaluated else ["objective", "bound"]
    measures: list[Measure] = []
    mistakes = Mistakes()
    for i, item in enumerate(given if given is not None else default):
        model = item if isinstance(item, MeasureModel) else MeasureModel(name=item, sense=None, unit=None)
        with mistakes.caught(f"measures[{i}]"):
            if any(model.name == other.name for other in measures):
                raise FtplanError(f"{model.name!r} is named twice")
            measures.append(_measure(model, kind, evaluated))
    mistakes.finish()
    return tuple(measures)


def _measure(model: MeasureModel, kind: str, evaluated: bool) -> Measure:
    name = model.name
    for metric in metrics_of(kind):
        if metric.name == name:
            return Measure(name, "metric", model.sense or metric.sense, model.unit or metric.unit)
    if not evaluated and name in STATED:
        own = ("min", "share") if name == "gap" else (None, None)
        return Measure(name, "objective", model.sense or own[0], model.unit or own[1])  # type: ignore[arg-type]
    first, dot, rest = name.partition(".")
    if not evaluated and ((dot and rest and first in PLACES) or name == "warnings"):
        return Measure(name, "place", model.sense, model.unit)
    known = [metric.name for metric in metrics_of(kind)]
    if evaluated:
        raise FtplanError(
            f"unknown measure {name!r}{suggestion(name, known)}: evaluate has {', '.join(known) or 'none'}"
        )
    known = [*STATED, *known]
    shown = f"one of {', '.join(known)}, or a place in the plan such as summary.after.priority_time"
    raise FtplanError(f"unknown measure {name!r}{suggestion(name, known)}: {shown}")


def _at(document: Any, name: str) -> float | int | None:
    """Return the number at a place; a list or mapping counts its entries, what lies below nothing is nothing."""
    value = document
    for i, key in enumerate(name.split(".")):
        if value is None:
            return None
        if isinstance(value, (list, tuple)) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
            continue
        if not isinstance(value, Mapping) or key not in value:
            above = ".".join(name.split(".")[:i])
            known = [str(item) for item in value] if isinstance(value, Mapping) else []
            there = f"; {above} has {', '.join(known)}" if known else f"; {above} holds no such thing"
            raise FtplanError(f"measures: unknown {name!r}{suggestion(key, known)}{there}")
        value = value[key]
    if isinstance(value, (list, tuple, Mapping)):
        return len(value)
    if value is None or isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    raise FtplanError(f"measures: {name} is no number but {value!r}")


def metrics_in(evaluation: Evaluation) -> dict[str, float | None]:
    """Return the metrics of an evaluation by name."""
    return {metric.name: metric.value for metric in evaluation.metrics}

"""How good a plan is proven to be, in words and beside what it is held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ftplan.model.kinds import metrics_of
from ftplan.model.plan import Objective, Plan
from ftplan.reports.charts import Bar, bars
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import LARGE, NOTHING, figures_in, label, quantity, share, shown, under_assumptions, unit_of

Tone = Literal["good", "warn", "bad", "plain"]
#: Gaps up to which a plan counts as good, and from which on as loose.
GOOD, LOOSE = 0.01, 0.1
#: Relative difference below which two numbers are one.
SAME = 1e-6

#: Objectives that are no metric.
_MEANINGS: Mapping[str, str] = {
    "priority": "priority of the queries made whole, summed over the steps; the bound is the most that each step could "
    "make whole in the state that it found",
    "usable": "copies of key groups on overloaded nodes whose host could take the group, summed over all windows",
}


class Badge(NamedTuple):
    """A verdict in a word or two, and whether it is good news."""

    text: str
    tone: Tone


def badge(plan: Plan) -> Badge:
    """Return how good a plan is proven to be, in a word or two."""
    objective = plan.objective
    if plan.status == "infeasible":
        return Badge("no plan is possible", "bad")
    if plan.status == "no-plan-in-time":
        return Badge("no plan in time", "bad")
    if plan.status == "optimal" or (objective is not None and objective.gap is not None and objective.gap <= 1e-9):
        assumed = len(plan.assumptions or ())
        return Badge(under_assumptions("optimal", assumed) if assumed else "proven optimal", "good")
    if objective is None or objective.value is None:
        return Badge("not rated", "plain")
    if objective.gap is None:
        return Badge("no bound", "plain")
    text = f"within {gap_of(objective)} of the best possible"
    return Badge(text, "good" if objective.gap <= GOOD else "warn" if objective.gap > LOOSE else "plain")


def gap_of(objective: Objective) -> str:
    """Return the gap of an objective; a large one is not given exactly, since the value is next to nothing."""
    if objective.gap is None:
        return NOTHING
    return f"more than {LARGE:g} times the value" if objective.gap > LARGE else share(objective.gap)


def value_of(objective: Objective, value: float | None) -> str:
    """Return a value or bound with its unit."""
    return NOTHING if value is None else quantity(value, unit_of(objective.name))


def proof(plan: Plan) -> list[str]:
    """Return how good a plan is proven to be, in sentences."""
    objective = plan.objective
    if plan.plan is None:
        return _refusal(plan)
    if objective is None or objective.value is None:
        return ["The plan does not say how good it is, so nothing is proven. `ftplan evaluate` scores it."]
    name, value = label(objective.name).capitalize(), value_of(objective, objective.value)
    meaning = _MEANINGS.get(objective.name) or {m.name: m.meaning for m in metrics_of(plan.kind)}.get(objective.name)
    more, over = ("more", "above") if objective.sense == "max" else ("less", "below")
    if objective.bound is None or objective.gap is None:
        text = "no bound was asked for, so nothing is proven about how much better another plan could be"
    elif plan.status == "optimal" or objective.gap <= 1e-9:
        text = f"proven optimal, since no plan that keeps the same rules has {more}"
    else:
        bound = value_of(objective, objective.bound)
        text = f"it is proven that no plan that keeps the same rules gets {over} {bound}. The gap between the two is "
        text += f"{gap_of(objective)} of {_scale(objective)}: the best possible plan is no further away than that"
    said = [f"{name}: {value} ({more} is better); {text}."]
    if plan.reason:
        said.append(f"{plan.reason[:1].upper()}{plan.reason[1:]}.")
    if meaning:
        said.append(f"{name} means: {meaning}.")
    return said + [f"Assumed: {item.message}." for item in plan.assumptions or ()]


def _scale(objective: Objective) -> str:
    size = max(abs(objective.value or 0.0), 1e-9)
    if objective.scale is None or abs(objective.scale - size) <= SAME * size:
        return "the value"
    return "the distance from a random plan to the bound"


def _refusal(plan: Plan) -> list[str]:
    if plan.infeasible is None:
        why = f": {plan.reason}" if plan.reason else ""
        return [f"There is no plan{why}."]
    no = plan.infeasible
    said = [f"No plan keeps all rules: {no.reason}.", f"What binds is {no.limit}"]
    if no.current is not None and no.needed is not None:
        said[1] += f": it is {_plain(no.current)} and would have to be {_plain(no.needed)}"
    said[1] += "."
    return [*said, f"Smallest change that helps: {no.smallest_fix}."]


def _plain(value: Any) -> str:
    return shown("", value)


#: What a plan is held against, as its summary and as a reader calls it.
_BESIDE = (
    ("before", "before"),
    ("step_by_step", "at each step alone"),
    ("random", "at random"),
    ("even", "evenly spread"),
)


def value_figure(plan: Plan, before: str) -> Figure | None:
    """Return the plan's value beside others and the bound, as bars; None where there is nothing to compare.

    Parameters
    ----------
    before
        What *before* means for this kind of plan.
    """
    objective = plan.objective
    if objective is None or objective.value is None:
        return None
    key = objective.name.replace("-", "_")
    rows = []
    for name, text in _BESIDE:
        value = figures_in(plan.summary.get(name)).get(key)
        if value is not None:
            rows.append(Bar(before if name == "before" else text, value, value_of(objective, value), "other"))
    peers = plan.summary.get("peers")
    for name, figures in peers.items() if isinstance(peers, Mapping) else ():
        value = figures_in(figures).get(key)
        if value is not None and label(name) != before:
            rows.append(Bar(label(name), value, value_of(objective, value), "other"))
    rows.append(Bar("this plan", objective.value, value_of(objective, objective.value), "value"))
    if objective.bound is not None:
        rows.append(Bar("proven bound", objective.bound, value_of(objective, objective.bound), "waiting-hatched"))
    if len(rows) < 2:
        return None
    best = "longer" if objective.sense == "max" else "shorter"
    bounded = objective.bound is not None
    said = f"{label(objective.name).capitalize()}: {best} bars are better"
    said += "; no plan that keeps the same rules can pass the proven bound." if bounded else "."
    return figure("Value and bound" if bounded else "Value", said, lambda width: bars(rows, width))

"""Which technique each operator is split by: the cheapest whose pause is short enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ftplan.model.plan import Infeasible
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem
from ftplan.planners.scale_out.techniques.costs import TechniqueCost, TechniqueSetting, technique_costs

AUTO = "auto"
#: Longest pause in seconds that ``auto`` looks for where nothing is asked for.
LATENCY_BUDGET_S = 1.0


class ChosenTechnique(NamedTuple):
    """What splitting an operator costs by the technique that was taken for it, and why it was taken."""

    cost: TechniqueCost
    reason: str


class Techniques(NamedTuple):
    """The technique of each operator of a scaling, in its order; none of them where *infeasible* says why not."""

    chosen: tuple[ChosenTechnique, ...]
    infeasible: Infeasible | None = None


def choose_techniques(
    problem: ScalingProblem,
    scaling: Scaling,
    setting: TechniqueSetting,
    technique: str = AUTO,
    latency_budget_s: float | None = None,
) -> Techniques:
    """Return the technique of least extra core-seconds for each operator, of those whose pause is within the budget.

    Each operator is split by itself, so the choice is optimal operator by operator; ties go to the shorter pause, then
    to the order of :data:`ftplan.planners.scale_out.techniques.costs.TECHNIQUES`. Without a budget a pause of
    :data:`LATENCY_BUDGET_S` is looked for, else the shortest is taken. With a technique other than ``auto`` there is
    no choice, but the budget holds all the same.
    """
    options = [technique_costs(problem, item, setting) for item in scaling.operators]
    names = [problem.operators[item.operator].id for item in scaling.operators]
    unable = _unable(names, options, technique)
    if unable is not None:
        any_technique = [tuple(item for item in costs if _allowed(item, AUTO)) for costs in options]
        missed = _missed(
            names, options, any_technique, AUTO, math.inf if latency_budget_s is None else latency_budget_s
        )
        fix = unable.smallest_fix if missed is None else f"{unable.smallest_fix} {missed.smallest_fix}"
        return Techniques((), replace(unable, smallest_fix=fix))
    open_to = [tuple(item for item in costs if _allowed(item, technique)) for costs in options]
    if latency_budget_s is not None:
        missed = _missed(names, options, open_to, technique, latency_budget_s)
        if missed is not None:
            return Techniques((), missed)
    return Techniques(
        tuple(_chosen(costs, able, technique, latency_budget_s) for costs, able in zip(options, open_to, strict=True))
    )


def _chosen(
    costs: Sequence[TechniqueCost], able: Sequence[TechniqueCost], technique: str, budget_s: float | None
) -> ChosenTechnique:
    """Return the choice for one operator; *able* are those of its *costs* that may be taken."""
    if able[0].technique is None:
        return ChosenTechnique(able[0], "it has no keyed state: new tasks start beside the old ones")
    limit = LATENCY_BUDGET_S if budget_s is None else budget_s
    within = [item for item in able if _within(item, limit)]
    best = min(within, key=_price) if within else min(able, key=lambda item: (item.pause_s, _price(item)))
    if technique != AUTO:
        return ChosenTechnique(best, "as asked for")
    others = [_compared(item, best, limit) for item in costs if item is not best]
    said = f"least extra core-seconds of the techniques that pause at most {limit:g} s"
    if not within:
        said = f"shortest pause, none being at most {limit:g} s"
    return ChosenTechnique(best, "; ".join([said, *others]))


def _compared(item: TechniqueCost, best: TechniqueCost, limit_s: float) -> str:
    if item.why_not is not None:
        return f"{item.technique}: {item.why_not}"
    if _within(item, limit_s) or not _within(best, limit_s):
        return f"{item.technique}: {item.extra_core_s:.3g} core-s, pause {item.pause_s:.3g} s"
    return f"{item.technique} would pause {item.pause_s:.3g} s for {item.extra_core_s:.3g} core-s"


def _allowed(item: TechniqueCost, technique: str) -> bool:
    return item.why_not is None and (item.technique is None or technique in (AUTO, item.technique))


def _within(item: TechniqueCost, limit_s: float) -> bool:
    return item.pause_s <= limit_s * (1.0 + ROUNDING)


def _price(item: TechniqueCost) -> tuple[float, float]:
    return item.extra_core_s, item.pause_s


def _unable(names: Sequence[str], options: Sequence[Sequence[TechniqueCost]], technique: str) -> Infeasible | None:
    """Say which operator cannot be split by the technique that is asked for."""
    for name, costs in zip(names, options, strict=True):
        if not any(_allowed(item, technique) for item in costs):
            why = next(item.why_not for item in costs if item.technique == technique)
            able = next(item.technique for item in costs if item.why_not is None)
            reason = f"operator {name!r} cannot be split by {technique}: {why}"
            return Infeasible(reason, "technique", technique, able, "--technique auto")
    return None


def _missed(
    names: Sequence[str],
    options: Sequence[Sequence[TechniqueCost]],
    open_to: Sequence[Sequence[TechniqueCost]],
    technique: str,
    budget_s: float,
) -> Infeasible | None:
    """Say which operator pauses longest beyond the budget, whatever it is split by, and what would do."""
    least = [min(item.pause_s for item in able) for able in open_to]
    if all(pause <= budget_s * (1.0 + ROUNDING) for pause in least):
        return None
    needed = _rounded_up(max(least))
    worst = least.index(max(least))
    best = min(open_to[worst], key=lambda item: item.pause_s)
    reason = f"operator {names[worst]!r} pauses at least {best.pause_s:.3g} s, by {best.technique}"
    every = [min(item.pause_s for item in costs) for costs in options]
    fix = f"--latency-budget {needed:g}s"
    if technique != AUTO and max(every) <= budget_s * (1.0 + ROUNDING):
        fix = f"--technique auto, or {fix}"
    return Infeasible(reason, "latency-budget", budget_s, needed, fix)


def _rounded_up(seconds: float) -> float:
    """Return a number of at most six digits that is no less."""
    step = 10.0 ** (math.floor(math.log10(seconds)) - 4)
    return float(f"{math.ceil(seconds / step) * step:.12g}")

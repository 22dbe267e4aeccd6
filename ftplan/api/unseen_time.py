"""``--holdout``: plan on the first part of the trace, judge on the rest, beside ``even`` and a random plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.metrics.allocation_score import AllocationScore, allocation_score
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan, Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners import registry
from ftplan.planners.checkpoints.allocation import Allocation
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.result import Result

#: Random plans of ``even`` that a plan is compared with, and Student's t for 95 % at one degree of freedom less.
EVEN_PLANS = 20
STUDENT_T = 2.093


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a plan is worth on unseen time, as ``summary.holdout`` holds it, and the warning where it gains nothing."""

    summary: Mapping[str, Any]
    warnings: tuple[Warn, ...]


def seen_and_unseen(series: KeyGroupSeries, holdout: Any) -> tuple[KeyGroupSeries, KeyGroupSeries | None]:
    """Return the windows to plan on and those to judge on: the last *holdout* of the range, in whole windows.

    The number of unseen windows is rounded, with at least one on either side. Without a holdout all windows are seen.
    Key groups that are idle in one part stay in it; state sizes are those of the whole trace.

    Raises
    ------
    FtplanError
        If the holdout is no share between 0 and 1, or there are fewer than two windows.
    """
    if holdout is None:
        return series, None
    if isinstance(holdout, (bool, str)) or not 0 < holdout < 1:
        raise FtplanError(f"--holdout: {holdout!r} is not a share between 0 and 1, such as 0.3")
    windows = series.loads.shape[0]
    if windows < 2:
        raise FtplanError(f"--holdout: {windows} windows cannot be split: compute the statistics with shorter windows")
    split = windows - min(max(round(windows * holdout), 1), windows - 1)
    return replace(series, loads=series.loads[:split]), replace(series, loads=series.loads[split:])


def planned_on(plan: Plan, series: KeyGroupSeries) -> KeyGroupSeries:
    """Return the part of the statistics that a plan was made on."""
    return seen_and_unseen(series, plan.options.get("holdout"))[0]


def judge(
    assignments: Sequence[Mapping[str, Any]],
    row: registry.Row,
    problem: CheckpointProblem,
    options: AllocationOptions,
    cluster: Cluster,
    seen: KeyGroupSeries,
    unseen: KeyGroupSeries,
) -> Judgement:
    """Score a plan on unseen windows, beside a random plan's expectation and the mean of 20 plans of ``even``.

    The capacity of nodes is that of the planned part: machines do not change when load does. The gain over ``even`` is
    that in usable share, or in the objective where no node is overloaded in unseen time; its 95 % interval is that of
    the mean over the plans of ``even`` (Student's t). Where the interval reaches 0 the plan gains nothing that would
    pay for planning, and a warning ``NO_GAIN_ON_UNSEEN_TIME`` says so.
    """
    objective = options.objective
    score = allocation_score(assignments, cluster, unseen, objective)
    others = [allocation_score(a, cluster, unseen, objective) for a in _even_plans(problem, options)]
    summary: dict[str, Any] = {
        "windows": {"planned": seen.loads.shape[0], "unseen": unseen.loads.shape[0]},
        "plan": {"usable_share": score.usable_share, score.key: score.value},
        "random": {"usable_share": score.random_usable_share, score.key: score.random},
        "even": None,
        "gain_over_even": None,
    }
    if not others:
        return Judgement(summary, ())
    by_share = score.usable_share is not None
    sign = 1.0 if by_share else -objective.sign
    mine, drawn = _measured(score, by_share), [_measured(other, by_share) for other in others]
    mean, low, high = _interval(drawn)
    gain = sorted((sign * (mine - low), sign * (mine - high)))
    summary["even"] = {
        "plans": len(others),
        "usable_share": mean if by_share else None,
        "usable_share_interval": [low, high] if by_share else None,
        score.key: _interval([other.value for other in others])[0],
        f"{score.key}_interval": list(_interval([other.value for other in others])[1:]),
    }
    what = "usable_share" if by_share else score.key
    summary["gain_over_even"] = {"in": what, "value": sign * (mine - mean), "interval": gain}
    if gain[0] > 0 or row.name == "even":
        return Judgement(summary, ())
    shown = f"{what.replace('_', ' ')} {mine:.4g}, even {low:.4g} to {high:.4g}"
    message = f"on the {unseen.loads.shape[0]} windows that the plan has not seen it gains nothing: {shown}"
    return Judgement(summary, (Warn("NO_GAIN_ON_UNSEEN_TIME", f"{message}; prefer --algorithm even"),))


def _even_plans(problem: CheckpointProblem, options: AllocationOptions) -> list[list[dict[str, Any]]]:
    """Return the assignments of ``even`` at successive seeds; none where its rules cannot be kept."""
    even = registry.load(registry.row("allocate-checkpoints", "even"))
    plans = []
    for number in range(EVEN_PLANS):
        drawn: Result[Allocation] = even(problem, replace(options, seed=options.seed + number, bound=False))
        if drawn.answer is None:
            return []
        plans.append(drawn.answer.assignments)
    return plans


def _measured(score: AllocationScore, by_share: bool) -> float:
    return float(score.usable_share or 0.0) if by_share else score.value


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval."""
    mean = float(np.mean(values))
    half = STUDENT_T * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half

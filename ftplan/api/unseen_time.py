"""``--holdout``: plan on the first part of the trace, judge on the rest, beside ``even`` and a random plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.metrics.allocation_score import allocation_score, wanted_copies
from ftplan.metrics.checkpoint_objective import copy_values
from ftplan.metrics.planned_copies import planned_copies
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan, Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray
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
    even = _even_plans(problem, options, cluster, unseen)
    summary: dict[str, Any] = {
        "windows": {"planned": seen.loads.shape[0], "unseen": unseen.loads.shape[0]},
        "plan": {"usable_share": score.usable_share, score.key: score.value},
        "random": {"usable_share": score.random_usable_share, score.key: score.random},
        "even": None,
        "gain_over_even": None,
    }
    if even is None:
        return Judgement(summary, ())
    summary["even"] = {"plans": EVEN_PLANS, **_with_interval(score.key, even.value)}
    summary["even"] |= _with_interval("usable_share", even.usable_share)
    by_share = score.usable_share is not None
    drawn = even.usable_share if even.usable_share is not None else even.value
    mine = score.value if score.usable_share is None else score.usable_share
    sign = 1.0 if by_share else -objective.sign
    mean, low, high = _interval(drawn)
    gain = sorted((sign * (mine - low), sign * (mine - high)))
    what = "usable_share" if by_share else score.key
    summary["gain_over_even"] = {"in": what, "value": sign * (mine - mean), "interval": gain}
    if gain[0] > 0 or row.name == "even":
        return Judgement(summary, ())
    shown = f"{what.replace('_', ' ')} {mine:.4g}, even {low:.4g} to {high:.4g}"
    message = f"on the {unseen.loads.shape[0]} windows that the plan has not seen it gains nothing: {shown}"
    advice = "prefer --algorithm even" + ("" if objective.name == "usable" else ", or try --objective usable")
    return Judgement(summary, (Warn("NO_GAIN_ON_UNSEEN_TIME", f"{message}; {advice}"),))


@dataclass(frozen=True, eq=False)
class _Even:
    """Objective and usable share of several plans of ``even``; no share where no node is overloaded."""

    value: FloatArray
    usable_share: FloatArray | None


def _even_plans(
    problem: CheckpointProblem, options: AllocationOptions, cluster: Cluster, series: KeyGroupSeries
) -> _Even | None:
    """Return what plans of ``even`` at successive seeds are worth; None where its rules cannot be kept.

    All of them are judged at once, as if they were one plan with 20 times as many copies.
    """
    planner = registry.load(registry.row("allocate-checkpoints", "even"))
    drawn: list[Result[Allocation]] = [
        planner(problem, replace(options, seed=options.seed + number, bound=False)) for number in range(EVEN_PLANS)
    ]
    answers = [result.answer for result in drawn if result.answer is not None]
    if len(answers) < EVEN_PLANS:
        return None
    one = planned_copies(answers[0].assignments, series, cluster)
    known = [name in series.position for name in zip(problem.operators, problem.key_group.tolist(), strict=True)]
    host = np.concatenate([answer.copies[known].ravel() for answer in answers])
    group = np.tile(np.repeat(np.arange(one.columns.size), problem.copies), EVEN_PLANS)
    plans = replace(one, count=one.count * EVEN_PLANS, group=group, host=host)
    shape = (EVEN_PLANS, host.size // EVEN_PLANS)
    value = copy_values(options.objective, plans, series, cluster).value.reshape(shape).sum(axis=1)
    usable = replace(options.objective.resolved(series, cluster), name="usable", correlate="raw")
    wanted = wanted_copies(usable, one, series, cluster)
    if not wanted:
        return _Even(value, None)
    fits = copy_values(usable, plans, series, cluster).value.reshape(shape).sum(axis=1)
    return _Even(value, fits / wanted)


def _with_interval(key: str, values: FloatArray | None) -> dict[str, Any]:
    """Return the mean and its interval as the summary names them."""
    if values is None:
        return {key: None, f"{key}_interval": None}
    mean, low, high = _interval(values)
    return {key: mean, f"{key}_interval": [low, high]}


def _interval(values: FloatArray) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval."""
    mean = float(values.mean())
    half = STUDENT_T * float(values.std(ddof=1)) / values.size**0.5
    return mean, mean - half, mean + half

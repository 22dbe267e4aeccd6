"""``--holdout``: plan on the first part of the trace, judge on the rest, compared with ``even`` and a random plan.

The unseen part is cut into splits, one after the other. For each a plan is made on all that lies before it, and judged
on it alone; how the gain over ``even`` differs from split to split is what its interval tells.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.planned_copies import planned_copies
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.metrics import allocation_score, wanted_copies
from ftplan.planners.allocate_checkpoints.objective import copy_values
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

#: What makes the assignments of a plan on a part of the trace; None where there is none.
Planner = Callable[[KeyGroupSeries], Sequence[Mapping[str, Any]] | None]

#: Plans of ``even`` whose mean a plan is compared with.
EVEN_PLANS = 20
#: Splits of the unseen part, as long as it has so many windows, and Student's t for 95 % by their number.
SPLITS = 5
STUDENT_T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
#: Part of the time limit that the plan itself may take where more plans are made for the splits.
FIRST_SHARE = 1 / 3


#: What a plan is worth on unseen time, as ``summary.holdout`` holds it, and the warning where it gains nothing.
Judgement = tuple[Mapping[str, Any], tuple[Warn, ...]]


@dataclass(frozen=True, eq=False)
class Holdout:
    """A problem whose plan has seen the first part of a trace, and the windows of the rest."""

    problem: CheckpointProblem
    options: AllocationOptions
    cluster: Cluster
    seen: KeyGroupSeries
    unseen: KeyGroupSeries


def judge(
    assignments: Sequence[Mapping[str, Any]], algorithm: str, holdout: Holdout, again: Planner, clock: Budget
) -> Judgement:
    """Score a plan on unseen windows, compared with a random plan's expectation and the mean of 20 plans of ``even``.

    The capacity of nodes is that of the planned part: machines do not change when load does. The gain over ``even`` is
    that in usable share, or in the objective where no node is overloaded in unseen time: the mean over up to 5 splits,
    which follow each other in the unseen part. The plan of the first split is *assignments*, those of later ones come
    from *again*, which sees all windows before them. The 95 % interval is that of this mean (Student's t), None with
    fewer than two splits. Where it reaches 0 the plan gains nothing that would pay for planning, and a warning
    ``NO_GAIN_ON_UNSEEN_TIME`` says so.
    """
    objective, unseen = holdout.options.objective, holdout.unseen
    score = allocation_score(assignments, holdout.cluster, unseen, objective)
    summary: dict[str, Any] = {
        "windows": {"planned": holdout.seen.loads.shape[0], "unseen": unseen.loads.shape[0]},
        "plan": {"usable_share": score.usable_share, score.key: score.value},
        "random": {"usable_share": score.random_usable_share, score.key: score.random},
        "even": None,
        "splits": [],
        "gain_over_even": None,
    }
    drawn = _even_plans(holdout.problem, holdout.options, clock)
    if drawn is None:
        cut = Warn("COMPARISON_CUT", "on unseen time the plan is not compared with even: the time limit is over")
        return summary, (cut,) if clock.cut else ()
    value, share = _mean_score(drawn, holdout, unseen)
    summary["even"] = {"plans": len(drawn), score.key: value, "usable_share": share}
    by_share = score.usable_share is not None
    summary["splits"] = _compared(assignments, holdout, drawn, by_share, again, clock)
    warnings: tuple[Warn, ...] = ()
    if clock.cut:
        text = f"{len(drawn)} of {EVEN_PLANS} plans of even and {len(summary['splits'])} splits"
        warnings = (Warn("COMPARISON_CUT", f"on unseen time the plan is compared with {text}: the time limit is over"),)
    gains = [split["gain"] for split in summary["splits"] if split["gain"] is not None]
    if not gains:
        return summary, warnings
    mean, interval = _interval(gains)
    what = "usable_share" if by_share else score.key
    summary["gain_over_even"] = {"in": what, "value": mean, "interval": interval}
    if (mean if interval is None else interval[0]) <= 0 and algorithm != "even":
        warnings = (_no_gain(summary, len(gains), objective.name), *warnings)
    return summary, warnings


def _compared(
    assignments: Sequence[Mapping[str, Any]],
    holdout: Holdout,
    drawn: Sequence[Allocation],
    by_share: bool,
    again: Planner,
    clock: Budget,
) -> list[dict[str, Any]]:
    """Return for each split what the plan and ``even`` are worth on it, and the gain, None where that is undefined."""
    objective, unseen, seen = holdout.options.objective, holdout.unseen, holdout.seen
    sign = 1.0 if by_share else -objective.sign
    splits = []
    for start, end in _splits(unseen.loads.shape[0]):
        if clock.over():
            break
        before = replace(seen, loads=np.concatenate([seen.loads, unseen.loads[:start]]))
        own = again(before) if start else assignments
        if own is None:
            continue
        part = replace(unseen, loads=unseen.loads[start:end])
        reached = allocation_score(own, holdout.cluster, part, objective)
        value, share = _mean_score(drawn, holdout, part)
        values = (reached.usable_share, share) if by_share else (reached.value, value)
        gain = None if values[0] is None or values[1] is None else sign * (values[0] - values[1])
        windows = {"planned": before.loads.shape[0], "unseen": end - start}
        splits.append({"windows": windows, "plan": values[0], "even": values[1], "gain": gain})
    return splits


def _no_gain(summary: Mapping[str, Any], splits: int, objective: str) -> Warn:
    gain, unseen = summary["gain_over_even"], summary["windows"]["unseen"]
    shown = f"a mean of {gain['value']:+.3g} in {gain['in'].replace('_', ' ')} against even over {splits} splits"
    if gain["interval"] is not None:
        shown += ", 95 % interval {:+.3g} to {:+.3g}".format(*gain["interval"])
    message = f"on the {unseen} windows that the plan has not seen it gains nothing for sure: {shown}"
    advice = "prefer --algorithm even" + ("" if objective == "usable" else ", or try --objective usable")
    return Warn("NO_GAIN_ON_UNSEEN_TIME", f"{message}; {advice}")


def _splits(windows: int) -> list[tuple[int, int]]:
    """Return first window and end of each split of the unseen part, nearly equally long."""
    count = min(SPLITS, windows)
    ends = [round(number * windows / count) for number in range(count + 1)]
    return list(itertools.pairwise(ends))


def _even_plans(problem: CheckpointProblem, options: AllocationOptions, clock: Budget) -> list[Allocation] | None:
    """Return plans of ``even`` at successive seeds, as far as there is time; None where its rules cannot be kept."""
    planner = registry.load(registry.row("allocate-checkpoints", "even"))
    answers: list[Allocation] = []
    for number in range(EVEN_PLANS):
        if clock.over():
            break
        result: Result[Allocation] = planner(problem, replace(options, seed=options.seed + number, bound=False))
        if result.answer is None:
            return None
        answers.append(result.answer)
    return answers or None


def _mean_score(answers: Sequence[Allocation], holdout: Holdout, series: KeyGroupSeries) -> tuple[float, float | None]:
    """Return mean objective and usable share of plans, judged at once as one with more copies.

    There is no share where no node is overloaded.
    """
    problem, cluster, objective = holdout.problem, holdout.cluster, holdout.options.objective
    one = planned_copies(answers[0].assignments, series, cluster)
    known = [name in series.position for name in zip(problem.operators, problem.key_group.tolist(), strict=True)]
    host = np.concatenate([answer.copies[known].ravel() for answer in answers])
    group = np.tile(np.repeat(np.arange(one.columns.size), problem.copies), len(answers))
    plans = replace(one, count=one.count * len(answers), group=group, host=host)
    value = float(copy_values(objective, plans, series, cluster).value.sum()) / len(answers)
    usable = replace(objective.resolved(series, cluster), name="usable", correlate="raw")
    wanted = wanted_copies(usable, one, series, cluster)
    if not wanted:
        return value, None
    fits = float(copy_values(usable, plans, series, cluster).value.sum()) / len(answers)
    return value, fits / wanted


def _interval(gains: Sequence[float]) -> tuple[float, list[float] | None]:
    """Return the mean and the ends of its 95 % interval, None of a single value."""
    mean = float(np.mean(gains))
    if len(gains) < 2:
        return mean, None
    half = STUDENT_T[len(gains)] * float(np.std(gains, ddof=1)) / len(gains) ** 0.5
    return mean, [mean - half, mean + half]

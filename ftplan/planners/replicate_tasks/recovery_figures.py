"""What recoveries after the replicas add to the figures of a replication plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.planners.replicate_tasks.problem import FailureCase

#: The name of the objective: that of recovery schedules, expected over the cases.
PRIORITY_TIME = "priority-time"


def expected(cases: Sequence[FailureCase], values: Sequence[float]) -> float:
    """Return the mean over the cases by their weights, of one value each."""
    return sum(c.weight * value for c, value in zip(cases, values, strict=True)) / sum(c.weight for c in cases)


def with_recovery(
    summary: Mapping[str, Any], cases: Sequence[FailureCase], after: Sequence[float] | None, before: float | None
) -> dict[str, Any]:
    """Return a summary with the priority x seconds down of the recoveries before and after.

    Parameters
    ----------
    after
        Of each case; None without a plan.
    before
        With the replicas in place; None where nobody computed it.
    """
    figures = dict(summary)
    if before is not None:
        figures["before"] = {**summary["before"], "priority_time": before}
    if after is not None:
        by_case = summary["after"]["by_case"]
        if by_case is not None:
            by_case = [{**row, "priority_time": value} for row, value in zip(by_case, after, strict=True)]
        figures["after"] = {**summary["after"], "by_case": by_case, "priority_time": expected(cases, after)}
    return figures

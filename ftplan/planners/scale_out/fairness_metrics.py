"""How fair operators were, and would have been with their new tasks, since they crossed the alarming threshold."""

from __future__ import annotations

from ftplan.planners.scale_out.fairness import fairness_degree, mean_fairness, needed_cores
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling

#: States of a bottleneck, or of what will soon be one.
BOTTLENECK = ("prepared", "promoted")


def fairness_of(prepared: PreparedScaling, number: int, item: OperatorScaling | None = None) -> float | None:
    """Return the fairness degree of an operator ([Mudassar2019], equation 5) from its last crossing to the end.

    As it ran, or as if it had had the tasks of *item*; None for what is no bottleneck.
    """
    operator = prepared.problem.operators[number]
    if operator.state not in BOTTLENECK:
        return None
    needed = needed_cores(prepared.histories[number].needed, prepared.problem.limits.target, operator.cpu)
    since = needed[_crossed(prepared, number) :]
    tasks = operator.parallelism if item is None else item.parallelism
    return fairness_degree(tasks * operator.cpu, since)


def mean_of(prepared: PreparedScaling, scaling: Scaling) -> float | None:
    """Return the mean over all bottlenecks as if they had had the tasks of a scaling (equation 6)."""
    count = len(prepared.problem.operators)
    return mean_fairness(fairness_of(prepared, number, scaling.by_operator.get(number)) for number in range(count))


def _crossed(prepared: PreparedScaling, number: int) -> int:
    """Return the window in which an operator crossed the alarming threshold last, 0 where it always was above."""
    events = prepared.timelines[number].events
    crossings = [e.window for e in events if e.after in BOTTLENECK and e.before not in BOTTLENECK]
    return crossings[-1] if crossings else 0

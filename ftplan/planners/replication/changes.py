"""Replicas that run already: which to start and which to stop when rates or budgets change ([SuZhou2016], V-C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.metrics.replication_problem import NodeByTask, ReplicationProblem
from ftplan.model.plan import Infeasible
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """How many replicas may start or stop, and what all changes must gain together; None for no limit."""

    max_changes: int | None = None
    threshold: float | None = None


def limited(
    problem: ReplicationProblem, fresh: BoolArray, current: BoolArray, limits: ChangeLimits, clock: Budget
) -> tuple[BoolArray | Infeasible, str | None]:
    """Return the replicas that the limits allow, or the limit that none keeps, and why the current ones stay if so.

    *fresh* is what a planner chose, *current* what is in place, both of shape (tasks,).
    """
    kept = _too_small_a_gain(problem, fresh, current, limits.threshold)
    if kept is not None:
        return current, kept
    if limits.max_changes is None or _changes(fresh, current) <= limits.max_changes:
        return fresh, None
    return within_changes(problem, fresh, current, limits.max_changes, clock), None


def within_changes(
    problem: ReplicationProblem, fresh: BoolArray, current: BoolArray, most: int, clock: Budget
) -> BoolArray | Infeasible:
    """Return replicas between those in place and a fresh choice with at most *most* changes.

    The changes of least value are undone one by one: a replica that would be started and adds least is not, and one
    that would be stopped stays where the budget has room. Where that ends below the current replicas, these stay.

    Cost: O(changes x (tasks + substreams)); once the clock runs out all that is left to undo is undone at once.
    Guarantee: none; the budget is kept.
    """
    plan = fresh.copy()
    while _changes(plan, current) > most:
        started = np.flatnonzero(plan & ~current)
        if len(started) == 0:
            return _fewest_stops(problem, current, most)
        loss = np.round(problem.losses(plan)[started], 12)
        order = started[np.lexsort((started, -problem.weight[started], loss))]
        plan[order[: _changes(plan, current) - most if clock.over() else 1]] = False
        _keep_running(problem, plan, current, most)
    plan = (plan & current) | problem.useful(plan)  # what is started without use waits
    if problem.fits(problem.cost(current)) and problem.value(current) > problem.value(plan):
        return current
    return plan


def _changes(plan: BoolArray, current: BoolArray) -> int:
    return int((plan != current).sum())


def _keep_running(problem: ReplicationProblem, plan: BoolArray, current: BoolArray, most: int) -> None:
    """Let replicas that would be stopped run on, the most valuable first, while the budget has room; *plan* changes."""
    stopped = np.flatnonzero(current & ~plan)
    if len(stopped) == 0:
        return
    gain = np.round(problem.losses(plan | current)[stopped], 12)
    cost = problem.cost(plan)
    for task in stopped[np.lexsort((stopped, -gain))].tolist():
        if problem.fits(cost + problem.weight[task]) and _changes(plan, current) > most:
            plan[task] = True
            cost += problem.weight[task]


def _fewest_stops(problem: ReplicationProblem, current: BoolArray, most: int) -> BoolArray | Infeasible:
    """Return the replicas in place without the heaviest ones, as few as bring the rest within the budget."""
    plan, stops = current.copy(), 0
    heaviest = np.flatnonzero(current)
    for task in heaviest[np.lexsort((heaviest, -problem.weight[heaviest]))].tolist():
        if problem.fits(problem.cost(plan)):
            break
        plan[task] = False
        stops += 1
    if stops <= most:
        return plan
    reason = (
        f"the replicas in place take {problem.cost(current):.6g} of a budget of {problem.budget:.6g}: at least {stops} "
        f"must stop, and only {most} changes are allowed"
    )
    return Infeasible(reason, "max-changes", most, stops, f"--max-changes {stops}")


def _too_small_a_gain(
    problem: ReplicationProblem, fresh: BoolArray, current: BoolArray, threshold: float | None
) -> str | None:
    """Return why the current replicas stay, None where the fresh ones gain enough or the current ones must go."""
    if threshold is None or not problem.fits(problem.cost(current)):
        return None
    gain = problem.value(fresh) - problem.value(current)
    if gain >= threshold - NOISE and gain > NOISE:
        return None
    if gain <= NOISE:
        return "no change: a fresh plan is no better than the replicas in place"
    return f"no change: a fresh plan would gain {gain:.6g}, below --threshold {threshold:.6g}"


def unchanged(current: NodeByTask | None, fresh: BoolArray, node: NodeByTask, most: int | None) -> str | None:
    """Return what kept the replicas in place as they are, None where they change or nobody knows them.

    Parameters
    ----------
    fresh
        What the planner chose, shape (tasks,).
    node
        Of each replica of the plan.
    most
        The limit on changes, if there is one.
    """
    if current is None or set(node) != set(current):
        return None
    if any(None not in (place, current[task]) and place != current[task] for task, place in node.items()):
        return None
    different = int(fresh.sum()) + len(current) - 2 * int(fresh[list(current)].sum())
    if different == 0:
        return "no change: a fresh plan has the replicas that are in place"
    if most is not None and different > most:
        return f"no change: a fresh plan makes {different} changes, and none within --max-changes {most} gains anything"
    return "no change: what a fresh plan would start finds no room on a node"

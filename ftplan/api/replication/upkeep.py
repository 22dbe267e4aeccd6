"""Which of the replicas in place to stop, and which to start, as rates or budgets change: [SuZhou2016], section V-C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.api.other_plans import replicas
from ftplan.api.replication.problem import Prepared
from ftplan.errors import FtplanError
from ftplan.model.plan import Infeasible, InputFile
from ftplan.model.problem import Problem
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.tolerances import NOISE
from ftplan.planners.budget import Budget


@dataclass(frozen=True, eq=False)
class Current:
    """The nodes of the replicas in place, by task, and the file that says so; ``known`` is False where nobody does."""

    node: Mapping[int, str | None]
    known: bool
    file: InputFile | None = None

    def replicated(self, tasks: int) -> BoolArray:
        """Return which tasks have a replica now, shape (tasks,)."""
        found = np.zeros(tasks, dtype=np.bool_)
        found[list(self.node)] = True
        return found


def current_of(given: Any, problem: Problem, graph: TaskGraph) -> Current:
    """Return the replicas of a plan, else of the cluster's placement.

    Raises
    ------
    FtplanError
        If the plan is of another kind, holds no answer, or names a task or node that is not there.
    """
    found, file = replicas(given, graph, problem.cluster, "current")
    placed = problem.cluster.placement.replicas if problem.cluster is not None and problem.cluster.placement else {}
    return Current({item.task: item.node for item in found}, given is not None or bool(placed), file)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may change, and what a change must gain to be worth it; None where it does not matter."""

    max_changes: int | None = None
    threshold: float | None = None

    @staticmethod
    def of(max_changes: Any, threshold: Any, known: bool) -> Limits:
        """Return checked limits.

        Raises
        ------
        FtplanError
            If a limit is out of range, or given where the replicas in place are not known.
        """
        if max_changes is not None and (not isinstance(max_changes, int) or isinstance(max_changes, bool)):
            raise FtplanError(f"--max-changes: {max_changes!r} is not a whole number of at least 0")
        if max_changes is not None and max_changes < 0:
            raise FtplanError(f"--max-changes: {max_changes!r} is not a whole number of at least 0")
        if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, (int, float))):
            raise FtplanError(f"--threshold: {threshold!r} is not a number from 0 to 1")
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise FtplanError(f"--threshold: {threshold!r} is not a number from 0 to 1")
        if not known and (max_changes is not None or threshold is not None):
            raise FtplanError(
                "--max-changes and --threshold need the replicas now in place: give --current PLAN, or "
                "placement.replicas in the cluster file"
            )
        return Limits(max_changes, None if threshold is None else float(threshold))


def within_changes(
    prepared: Prepared, fresh: BoolArray, now: BoolArray, most: int, clock: Budget
) -> BoolArray | Infeasible:
    """Return replicas between those in place and a fresh choice, both of shape (tasks,), with at most *most* changes.

    The changes of least worth are undone one by one: a replica that would be started and adds least is not, and one
    that would be stopped stays where the budget has room. Where that ends below the present replicas, these stay.

    Cost: O(changes x (tasks + substreams)); once the clock runs out all that is left to undo is undone at once.
    Guarantee: none; the budget is kept.
    """
    problem = prepared.problem
    plan = fresh.copy()
    while int((plan != now).sum()) > most:
        started = np.flatnonzero(plan & ~now)
        if len(started) == 0:
            return _fewest_stops(prepared, now, most)
        loss = np.round(prepared.losses(plan)[started], 12)
        order = started[np.lexsort((started, -problem.weight[started], loss))]
        many = int((plan != now).sum()) - most if clock.over() else 1
        plan[order[:many]] = False
        _keep_more(prepared, plan, now, most)
    plan = (plan & now) | prepared.useful(plan)  # what is started without use waits
    if problem.fits(problem.cost(now)) and problem.value(now) > problem.value(plan):
        return now
    return plan


def _keep_more(prepared: Prepared, plan: BoolArray, now: BoolArray, most: int) -> None:
    """Let replicas that would be stopped run on, the most valuable first, while the budget has room; *plan* changes."""
    problem = prepared.problem
    stopped = np.flatnonzero(now & ~plan)
    if len(stopped) == 0:
        return
    gain = np.round(prepared.losses(plan | now)[stopped], 12)
    cost = problem.cost(plan)
    for task in stopped[np.lexsort((stopped, -gain))].tolist():
        if problem.fits(cost + problem.weight[task]) and int((plan != now).sum()) > most:
            plan[task] = True
            cost += problem.weight[task]


def _fewest_stops(prepared: Prepared, now: BoolArray, most: int) -> BoolArray | Infeasible:
    """Return the replicas in place without the heaviest ones, as few as bring the rest within the budget."""
    problem = prepared.problem
    cost, plan, needed = problem.cost(now), now.copy(), 0
    heaviest = np.flatnonzero(now)
    for task in heaviest[np.lexsort((heaviest, -problem.weight[heaviest]))].tolist():
        if problem.fits(problem.cost(plan)):
            break
        plan[task] = False
        needed += 1
    if needed <= most:
        return plan
    reason = (
        f"the replicas in place take {cost:.6g} of a budget of {problem.budget:.6g}: at least {needed} must stop, and "
        f"only {most} changes are allowed"
    )
    return Infeasible(reason, "max-changes", most, needed, f"--max-changes {needed}")


def worth_changing(prepared: Prepared, fresh: BoolArray, now: BoolArray, threshold: float | None) -> str | None:
    """Return why the present replicas stay, None where the fresh ones gain enough or the present ones must go."""
    problem = prepared.problem
    if threshold is None or not problem.fits(problem.cost(now)):
        return None
    gain = problem.value(fresh) - problem.value(now)
    if gain >= threshold - NOISE and gain > NOISE:
        return None
    if gain <= NOISE:
        return "no change: a fresh plan is no better than the replicas in place"
    return f"no change: a fresh plan would gain {gain:.6g}, below --threshold {threshold:.6g}"


def unchanged(
    current: Current, fresh: BoolArray, node: Mapping[int, str | None] | None, most: int | None
) -> str | None:
    """Return what kept the replicas in place as they are, None where they change or nobody knows them.

    Parameters
    ----------
    fresh
        What the planner chose, shape (tasks,).
    node
        Of each replica of the plan; None where there is no plan.
    most
        The limit on changes, if there is one.
    """
    if node is None or not current.known or set(node) != set(current.node):
        return None
    if any(None not in (place, current.node[task]) and place != current.node[task] for task, place in node.items()):
        return None
    different = int((fresh != current.replicated(len(fresh))).sum())
    if different == 0:
        return "no change: a fresh plan has the replicas that are in place"
    if most is not None and different > most:
        return f"no change: a fresh plan makes {different} changes, and none within --max-changes {most} gains anything"
    return "no change: what a fresh plan would start finds no room on a node"


def limited(
    prepared: Prepared, fresh: BoolArray, current: Current, limits: Limits, clock: Budget
) -> tuple[BoolArray | Infeasible, str | None]:
    """Return the replicas that the limits allow, or the limit that none keeps, and why the present ones stay if so."""
    now = current.replicated(prepared.graph.tasks)
    kept = worth_changing(prepared, fresh, now, limits.threshold)
    if kept is not None:
        return now, kept
    if limits.max_changes is None or int((fresh != now).sum()) <= limits.max_changes:
        return fresh, None
    return within_changes(prepared, fresh, now, limits.max_changes, clock), None

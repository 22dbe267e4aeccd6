"""What every replication planner takes and returns, and how one is asked for replicas with a proven bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import PROVEN
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.replicate_tasks.algorithms.bounds import quick_bound
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Part of the time for a planner without a bound of its own; the rest is for a bound.
PLANNED = 0.8
#: A value below a target, or a gap, of less than this is a rounding error.
EQUAL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """The answer of every replication planner: the tasks to replicate, shape (T,), and where there are hosts on which.

    ``node`` is (T,), NOWHERE where there is no replica; None where the problem has no hosts.
    """

    replicated: BoolArray
    node: IntArray | None = None

    @staticmethod
    def on(problem: ReplicationProblem, node: IntArray) -> Replication:
        """Return replicas by the node of each, shape (T,), NOWHERE for none."""
        return Replication(node != NOWHERE, None if problem.hosts is None else node)

    def nodes(self) -> IntArray:
        """Return the node of each task's replica, shape (T,); 0 where there are no hosts."""
        return np.where(self.replicated, 0, NOWHERE) if self.node is None else self.node


@dataclass(frozen=True, slots=True)
class ReplicationOptions:
    """How to plan: shared by all replication planners. ``ends``: when the command has to, see :class:`Budget`."""

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf


Solve = Callable[[ReplicationProblem, ReplicationOptions], Result[Replication]]


@dataclass(frozen=True, slots=True)
class ReplicationPlanner:
    """A planner, and what stands beside it in its module for many budgets at once, where it does.

    ``curve(problem, budgets, budget)`` returns value and proven bound at each budget, or None; ``plans(problem,
    budgets, options)`` returns the nodes of replicas for each, (T,), from one run.
    """

    name: str
    plan: Solve
    curve: Callable[[ReplicationProblem, list[float], Budget], list[tuple[float, float]] | None] | None = None
    plans: Callable[[ReplicationProblem, list[float], ReplicationOptions], list[IntArray]] | None = None

    @property
    def proves(self) -> bool:
        """Whether it proves optima, if not always in time: it is one without a climb, or answers all budgets."""
        return self.plans is None or self.curve is not None

    @staticmethod
    def of(row: registry.Row) -> ReplicationPlanner:
        """Load the planner of a row."""
        beside = (registry.beside(row, name) for name in ("curve", "plans"))
        return ReplicationPlanner(row.name, registry.load(row), *beside)

    def choose(self, problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
        """Return what the planner chooses of the tasks that may fail, always with a proven bound.

        Raises :class:`RuntimeError` if the planner exceeds the budget: a fault of it.
        """
        if self.curve is None:  # its bound takes time beside it
            options = replace(options, time_limit_s=PLANNED * options.time_limit_s)
        result = self.plan(problem, options)
        if result.answer is None:
            return result
        node = result.answer.nodes()
        in_place = problem.current is not None and problem.max_changes is not None
        node = np.where(problem.fails | (in_place & (node == problem.current)), node, NOWHERE)
        self._check(problem, node)
        bound, warnings = result.bound, result.warnings
        if bound is None:
            clock = Budget(options.time_limit_s, options.iterations, ends=options.ends)
            bound = quick_bound(problem, clock)
            warnings = tuple(dict.fromkeys((*warnings, *clock.warnings())))
        log: Incumbents[Replication] = Incumbents("max", problem.metric)
        log.offer(Replication.on(problem, node), problem.value_at(node), self.name)
        log.prove(bound, "tables" if result.bound is None else self.name)
        if met(log):  # bounds are raised a little for rounding errors
            return replace(result, status="optimal", answer=log.answer, bound=log.value, warnings=warnings)
        return replace(result, answer=log.answer, bound=log.bound, warnings=warnings)

    def _check(self, problem: ReplicationProblem, node: IntArray) -> None:
        """Raise RuntimeError where a solution breaks a limit: a fault of the planner."""
        cost = problem.cost(node != NOWHERE)
        if not problem.fits(cost):
            raise RuntimeError(f"{self.name} spends {cost:g} of a budget of {problem.budget:g}")
        if problem.max_changes is not None and problem.changes(node) > problem.max_changes:
            raise RuntimeError(f"{self.name} makes {problem.changes(node)} changes of {problem.max_changes}")
        if problem.hosts is not None:
            problem.hosts.check(node, self.name)


def met(log: Incumbents[Any]) -> bool:
    """Return whether the bound is met up to a rounding error of it; where fidelities are tiny, so is that."""
    return log.bound - log.value <= PROVEN * log.bound


def climber(planner: ReplicationPlanner) -> ReplicationPlanner | None:
    """Return the planner whose climb answers many budgets at once: itself, or structure-aware for ``exact``."""
    if planner.plans is not None:
        return planner
    return ReplicationPlanner.of(registry.row("replicate-tasks", "structure-aware")) if planner.curve else None

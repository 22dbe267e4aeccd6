"""What a policy sees at a step of a recovery, and what it decides: the choice of queries, or of single tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepSolver
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, RecoveryProblem
from ftplan.planners.recovery_schedule.profit_density import profit_density


@dataclass(frozen=True, eq=False)
class StepState:
    """What a policy sees at a step: what is down, what is free, and what is expected. It does not see failures ahead.

    ``fillable`` is what of the capacity tasks of these sizes can use at all: two tasks of 0.3 cores leave 0.2 of a
    node's 0.8 empty.
    """

    problem: RecoveryProblem
    step: int
    at_s: float
    queries: FailedQueries
    down: BoolArray  # (T,)
    cost: FloatArray  # (T,) cores, of tasks that would never catch up more than there are
    room: FloatArray  # (H,) residual capacity, 0 for hosts that are not there
    capacity: float  # cores free just before the step
    fillable: float  # cores, at most capacity
    too_large: BoolArray  # (T,) tasks that fit on no node now
    hopeless: BoolArray  # (T,) nor on any that is expected
    coming: tuple[ArrivalEvent, ...]
    there: BoolArray  # (H,) hosts that are there
    free: FloatArray  # (H,) cores left on each host, there or not, below 0 where more runs than may
    pool: float  # cores that the hosts of the start may still take together, infinite without a cap
    lanes: FloatArray  # (H, lanes) when each lane of a host is free for a restore
    failed_s: FloatArray  # (T,) when each task that is down failed
    down_s: FloatArray  # (T,) and since when it has not been up to date
    caught_up: FloatArray  # (T,) since when each task that is not down is up to date
    home: IntArray  # (T,) host of each task that runs, -1 where it is down, split or its node unknown
    standby: IntArray  # (T,) host of a standby that has not taken over, -1 for none, -2 without a node
    may_pause: BoolArray  # (T,) tasks that may give way at this step
    may_drop: BoolArray  # (T,) tasks whose standby may
    paused: BoolArray  # (T,) tasks that gave way and are not back: they process nothing again
    kept: IntArray  # (T,) host where all of the state of such a task lies, -1 if it is not there any more
    pausing: Callable[[Sequence[int], Sequence[int]], StepState]

    def after_pause(self, tasks: Sequence[int], standbys: Sequence[int] = ()) -> StepState:
        """Return the state in which some tasks, and the standbys of some, have given way. Cost O(tasks + substreams).

        Only to be asked for while the step is decided.
        """
        return self.pausing(tasks, standbys)

    @property
    def priority(self) -> FloatArray:
        """Priority of each query that is down, shape (Q,)."""
        return self.problem.graph.per_task("priority")[self.queries.query]

    def density(self) -> FloatArray:
        """Return the profit density of each query that is down, shape (Q,)."""
        return profit_density(self.queries, self.priority, self.queries.weight(self.cost))

    def knapsack(self) -> SetUnionKnapsack:
        """Return the choice of this step as a set-union knapsack; what fits on no node is made too heavy for it."""
        q = self.queries
        weight = q.weight(self.cost)
        weight[q.bundle[self.too_large[q.task]]] += 2.0 * self.fillable + 1.0
        return SetUnionKnapsack(self.priority, weight, q.start, q.member, self.fillable)


@dataclass(frozen=True, eq=False)
class Decision:
    """What a policy wants back at a step: tasks in the order in which they shall be placed and restored.

    ``bound`` limits the summed priority of the queries that any decision makes whole at this step. ``ahead`` are tasks
    to begin with what is left, in this order, None for those of the densest missing query; ``prefetch`` says whether
    anything may be begun at all. ``one_by_one``: the tasks count in their order, not as whole queries; where one does
    not fit the rest is left out. ``placed``: tasks and their nodes, in the order in which they are restored; nothing
    else counts then. ``pause`` are tasks that give way before anything is placed, ``pause_standby`` tasks whose standby
    does, for good.
    """

    tasks: IntArray
    bound: float | None = None
    note: str | None = None
    ahead: IntArray | None = None
    prefetch: bool = True
    one_by_one: bool = False
    placed: tuple[StepAssignment, ...] | None = None
    pause: tuple[int, ...] = ()
    pause_standby: tuple[int, ...] = ()


class Policy(Protocol):
    """Decides step by step; a :class:`StepSolver` becomes one, the operator-centric order is one."""

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return what shall come back at this step."""


def by_queries(solver: StepSolver) -> Policy:
    """Return the policy that lets a one-step solver choose queries at each step."""

    def policy(state: StepState, budget: Budget, seed: int) -> Decision:
        knapsack = state.knapsack()
        choice = solver(knapsack, budget, seed)
        tasks = tasks_in_order(state.queries, knapsack.whole(choice.queries), state.density())
        return Decision(tasks, choice.bound, choice.note)

    return policy


def tasks_in_order(queries: FailedQueries, chosen: BoolArray, urgency: FloatArray) -> IntArray:
    """Return the missing tasks of the chosen queries: those of the most urgent query first, each by the streams.

    Parameters
    ----------
    chosen, urgency
        Shape (Q,). Ties of urgency end at the query's name.
    """
    order = np.flatnonzero(chosen)
    order = order[np.lexsort((order, -urgency[order]))]
    rank = np.full(queries.queries, len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    first = np.full(queries.bundles, len(order), dtype=np.int64)
    np.minimum.at(first, queries.member, rank[queries.row])
    place = first[queries.bundle]
    wanted = np.flatnonzero(place < len(order))
    return queries.task[wanted[np.argsort(place[wanted], kind="stable")]]

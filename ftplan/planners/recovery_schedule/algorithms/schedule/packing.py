"""Placing what a policy chose; where its tasks do not fit onto the nodes one by one, another choice that does.

And how the time of a schedule is shared out among its steps (:class:`StepClock`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.schedule.choose_and_pack import choose_and_pack
from ftplan.planners.recovery_schedule.algorithms.schedule.exact_packing import pack_exactly
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import (
    ResidualCapacity,
    StepAssignment,
    assign,
    assign_in_order,
    fits,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from ftplan.planners.recovery_schedule.profit_density import profit_density

#: Share of the time that step 0 may take; the later ones divide what is left.
FIRST_STEP = 0.7
#: Seconds that solvers may take to place a step, and that all of its placing may take, even when the time is over.
LEAST_PACKING_S, PLACING_S = 0.2, 0.5
#: Seconds after the end of the time that a step which has begun may still take; later steps recover nothing then.
LATE_S = 0.3


class StepClock:
    """The budget of a schedule of some steps.

    With *until_s*, a time of ``budget.now``, the schedule is a baseline: it is placed without solvers, so that the
    clock decides nothing of it. No solver places either where the work is bounded to none (``iterations`` 0).
    """

    def __init__(self, options: RecoveryOptions, steps: int, until_s: float | None) -> None:
        self.budget = Budget.of(options)
        self.baseline = until_s is not None
        self._steps = steps
        self._latest_s = self.budget.started + self.budget.time_limit_s + LATE_S if until_s is None else until_s
        self._late = False

    def late(self) -> bool:
        """Return whether no further step may begin."""
        self._late = self._late or now() > self._latest_s
        return self._late

    @contextmanager
    def choosing(self, step: int) -> Iterator[Budget]:
        """Give the policy its share of the time that is left."""
        part = self.budget.part(FIRST_STEP if step == 0 and self._steps > 1 else 1.0 / (self._steps - step))
        yield part
        self.budget.cut |= part.cut

    @contextmanager
    def placing(self, step: int) -> Iterator[Deadline]:
        """Give the placement of a step its share; solvers that take all of it count as cut by the clock."""
        if self.baseline:
            yield Deadline(0.0, self._latest_s)
            return
        if self.budget.iterations == 0:
            yield Deadline(0.0, max(self._latest_s, now() + PLACING_S))
            self.budget.cut |= now() > self._latest_s
            return
        solver_s, started = max(LEAST_PACKING_S, self.budget.left_s / (self._steps - step)), now()
        yield Deadline(solver_s, max(self._latest_s, started + PLACING_S))
        self.budget.cut |= now() - started >= solver_s or now() > self._latest_s


#: Queries in a row that do not fit before no more are tried.
MISSES = 300


class Deadline(NamedTuple):
    """How long placing may take: solvers about so many seconds, everything until a time of ``budget.now``."""

    solver_s: float
    until_s: float


class StepPacking(NamedTuple):
    """Tasks on nodes in the order in which they are restored, what had to be given up, and a bound that it proved."""

    placed: list[StepAssignment]
    warnings: tuple[Warn, ...] = ()
    bound: float | None = None


def pack(state: StepState, decision: Decision, repair: RepairState, deadline: Deadline, seed: int) -> StepPacking:
    """Place the tasks of a decision.

    First greedily (:func:`assign`), then exactly. Where no packing is found queries and nodes are chosen together
    (:func:`choose_and_pack`) or, where that is too much, queries are placed one by one, the densest first. Without
    time for solvers, few tasks are packed by search all the same. What is not placed by the deadline stays down.
    """
    tasks = decision.tasks.tolist()
    residual = repair.residual()
    if decision.one_by_one:
        return StepPacking(assign_in_order(tasks, state.cost, residual, deadline.until_s))
    placed = assign(tasks, state.cost, residual)
    if placed is None:
        placed = pack_exactly(tasks, state.cost, residual, deadline.solver_s / 4, seed)
    if placed is not None:
        return StepPacking(_in_order(placed, tasks))
    wanted = _whole(state, tasks)
    placed = _query_by_query(state, wanted, residual, deadline.until_s)
    together, bound = choose_and_pack(state, residual, min(deadline.solver_s, deadline.until_s - now()), seed)
    if _priority(state, together) > _priority(state, placed):
        placed = together
    kept = [item.task for item in placed]
    waiting = int((wanted & ~_whole(state, kept)).sum())
    text = (
        f"step {state.step}: the tasks of the {int(wanted.sum())} queries chosen fit in sum but not onto the nodes one "
        f"by one; {waiting} of them wait, others may come instead; --parallel-recovery splits tasks with key groups"
    )
    order = state.queries.task[np.isin(state.queries.task, kept)].tolist()
    return StepPacking(_in_order(placed, order), (Warn("PACKING_REPAIRED", text),), bound)


def pack_prefetch(state: StepState, decision: Decision, repair: RepairState, until_s: float) -> list[StepAssignment]:
    """Place tasks of the next query, in topological order, while they fit; the rest of the capacity stays free."""
    ahead = decision.ahead
    if ahead is None:
        ahead = _next_tasks(state, state.queries.without(~repair.down))
    return assign_in_order(ahead[repair.down[ahead]].tolist(), state.cost, repair.residual(), until_s)


def begun_early(state: StepState, placed: Iterable[StepAssignment]) -> set[int]:
    """Return the tasks of those placed that no query needs which is whole with them and what is back."""
    tasks = [item.task for item in placed]
    whole = _whole(state, tasks)
    needed = np.zeros(state.queries.bundles, dtype=np.bool_)
    needed[state.queries.member[whole[state.queries.row]]] = True
    return set(tasks) - set(state.queries.tasks_of(needed).tolist())


def _next_tasks(state: StepState, left: FailedQueries) -> IntArray:
    """Return the missing tasks of the densest query that is left, in topological order; ties by name.

    Queries with a task that no node which is expected has room for are not begun. Where no query is left, the failed
    tasks that no query needs follow.
    """
    # [SuZhouTR], figure 2, recovers such tasks although no query is whole by them; its algorithms do not say so.
    if left.queries == 0:
        return left.needless
    priority = state.problem.graph.per_task("priority")[left.query]
    density = profit_density(left, priority, left.weight(state.cost))
    blocked = np.zeros(left.bundles, dtype=np.bool_)
    blocked[left.bundle[state.hopeless[left.task]]] = True
    density[left.row[blocked[left.member]]] = -1.0
    densest = int(np.argmax(density))
    if density[densest] < 0.0:
        return np.zeros(0, dtype=np.int64)
    needed = np.zeros(left.bundles, dtype=np.bool_)
    needed[left.members(densest)] = True
    return left.tasks_of(needed)


def _whole(state: StepState, tasks: Iterable[int]) -> BoolArray:
    """Return which queries some tasks make whole, shape (Q,)."""
    back = np.zeros(len(state.down), dtype=np.bool_)
    back[list(tasks)] = True
    return ~np.isin(state.queries.query, state.queries.without(back).query)


def _priority(state: StepState, placed: list[StepAssignment]) -> float:
    """Return the summed priority of the queries that assignments make whole."""
    return float(state.priority[_whole(state, [item.task for item in placed])].sum())


def _in_order(placed: list[StepAssignment], tasks: Iterable[int]) -> list[StepAssignment]:
    place = {task: i for i, task in enumerate(tasks)}
    return sorted(placed, key=lambda item: (place[item.task], item.key_groups or (0, 0)))


def _query_by_query(
    state: StepState, wanted: BoolArray, residual: ResidualCapacity, until_s: float
) -> list[StepAssignment]:
    """Place whole queries one by one: the *wanted* ones in the order of their density, then all others likewise.

    The others end after ``MISSES`` in a row that do not fit.
    """
    queries = state.queries
    order = np.lexsort((np.arange(queries.queries), -state.density(), ~wanted))
    by_bundle = np.argsort(queries.bundle, kind="stable")
    start = np.searchsorted(queries.bundle[by_bundle], np.arange(queries.bundles + 1))
    placed: list[StepAssignment] = []
    done = np.zeros(queries.bundles, dtype=np.bool_)
    misses, free, largest = 0, residual.total, residual.largest
    for query in order.tolist():
        if now() > until_s or misses >= MISSES:
            break
        bundles = [b for b in queries.members(query).tolist() if not done[b]]
        missing = [int(t) for b in bundles for t in queries.task[by_bundle[start[b] : start[b + 1]]]]
        cost = state.cost[missing]
        parts = None
        if fits(float(cost.sum()), free) and fits(float(cost.max(initial=0.0)), largest):
            parts = assign(missing, state.cost, residual)
        if parts is None:
            misses += not wanted[query]
            continue
        misses = 0
        done[bundles] = True
        placed += parts
        residual = residual.after(parts)
        free, largest = residual.total, residual.largest
    return placed

"""Queries back as early as possible over the whole repair: least Σ priority × time down, not step by step."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from ftplan.model.plan import sound_bound
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.horizon.ruin_and_recreate import densities, improved, in_order
from ftplan.planners.recovery.horizon.time_indexed import NestedKnapsack, nested
from ftplan.planners.recovery.horizon.time_indexed_bound import bound_with_failures, most_by_step
from ftplan.planners.recovery.horizon.time_indexed_model import closer, proved
from ftplan.planners.recovery.knapsack.instance import BoolArray, StepSolver
from ftplan.planners.recovery.schedule.by_queries import tasks_in_order
from ftplan.planners.recovery.schedule.schedule import Decision, State

_log = logging.getLogger(__name__)

#: Shares of the time left: for the step-by-step plan, the bounds, the search, the bounds of single steps.
STEP_BY_STEP, BOUNDS, SEARCH, ALONE = 0.3, 0.3, 0.5, 0.6
#: Entries of (query, bundle) times steps up to which a proof takes the place of the search.
FEW_ENTRIES = 1_000
#: A value this close to its bound is proved best.
CLOSED = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class StepPlan:
    """By which step each query shall be whole. ``value`` and ``bound`` are Σ priority × seconds down, from now on.

    Queries that never return count until the horizon. ``step_bound`` limits the priority of any choice at step 0.
    """

    step: IntArray  # (Q,) K for never
    times: FloatArray  # (K,) seconds from the failure
    urgency: FloatArray  # (Q,) in which order within a step, largest first
    value: float
    bound: float
    step_bound: float
    optimal: bool
    step_by_step: float  # the value of deciding one step at a time


def plan_steps(state: State, solver: StepSolver, budget: Budget, seed: int = 0, *, parallel: bool = False) -> StepPlan:
    """Plan the steps of all queries that are down, for the arrivals that are expected; see :func:`planned`.

    Parameters
    ----------
    parallel
        Whether tasks may be split over nodes.
    """
    problem, times = nested(state, parallel=parallel)
    return planned(problem, times, solver, budget, seed)


def planned(problem: NestedKnapsack, times: FloatArray, solver: StepSolver, budget: Budget, seed: int) -> StepPlan:
    """Return the best plan found for a repair, and a bound.

    Starts from the step-by-step plan of *solver* or from queries by density, whichever is better, and improves it by
    local search (:mod:`nested_search`) and, where the model is small, CP-SAT (:mod:`nested_exact`), which then proves
    it best. Never worse than the step-by-step plan that it started from, in cores summed over the nodes; the bound
    holds for any placement and any restore times, which can only delay. It is the sum over the steps of the best
    bound on the priority whole by then (:mod:`nested_bound`).
    """
    myopic, first_bound = step_by_step(problem, solver, budget.part(STEP_BY_STEP), budget, seed)
    most = most_by_step(problem, problem.capacity, budget.part(BOUNDS))
    lines = float(most @ problem.span)
    most[0] = min(most[0], np.inf if first_bound is None else first_bound)
    upper = float(most @ problem.span)
    by_density = np.lexsort((np.arange(problem.queries), -densities(problem)))
    best = max((myopic, in_order(problem, by_density)), key=problem.gained)
    optimal = problem.gained(best) >= upper * (1.0 - CLOSED)
    few = len(problem.member) * problem.steps <= FEW_ENTRIES  # proved in less time than a search takes to compile
    if not optimal and not few:
        part = budget.part(SEARCH)
        best = problem.completed(improved(problem, best, part, seed))
        budget.cut |= part.cut
        optimal = problem.gained(best) >= upper * (1.0 - CLOSED)
    if not optimal and not few:
        part = budget.part(ALONE)
        most = closer(problem, best, most, part, seed)
        budget.cut |= part.cut
        upper = float(most @ problem.span)
        optimal = problem.gained(best) >= upper * (1.0 - CLOSED)
    if not optimal:
        best, proven, optimal = proved(problem, best, budget, seed, most)
        best = problem.completed(best)
        upper = upper if proven is None else min(upper, proven)
    value = problem.waited(problem.gained(best))
    if problem.gained(best) > upper + 1e-6 * max(1.0, upper):
        _log.error("a solver's bound %r is below what the plan gains, %r: not used", upper, problem.gained(best))
        upper, optimal = lines, False
    return StepPlan(
        best,
        times,
        densities(problem),
        value,
        sound_bound("min", value, problem.waited(upper), problem.waited(0.0)),
        float(most[0]),
        optimal,
        problem.waited(problem.gained(myopic)),
    )


def step_by_step(
    problem: NestedKnapsack, solver: StepSolver, budget: Budget, whole: Budget, seed: int
) -> tuple[IntArray, float | None]:
    """Return the steps when each is decided alone, without prefetch, and the solver's bound on the first."""
    step = np.full(problem.queries, problem.steps, dtype=np.int64)
    done = np.zeros(problem.queries, dtype=np.bool_)
    bound = None
    for k in range(problem.steps):
        if k > 0 and budget.over():
            whole.cut = True
            break
        used = problem.used(step)[k]
        choice = problem.remaining(done, k, float(used))
        part = budget.part(1.0 / (problem.steps - k))
        answer = solver(choice, part, seed)
        whole.cut |= part.cut
        bound = answer.bound if k == 0 else bound
        new = choice.whole(answer.queries) & ~done & (problem.release <= k)
        step[new] = k
        done |= new
    return step, bound


def priority_time(solver: StepSolver, *, parallel: bool = False) -> PriorityTime:
    """Return the policy that keeps to :func:`plan_steps`; a new one for every schedule."""
    return PriorityTime(solver, parallel)


class PriorityTime:
    """Plans the whole repair at step 0 and after whatever it did not foresee, and keeps to the plan otherwise.

    What it did not foresee: tasks that fail anew, or tasks of an earlier step that are still down because they could
    not be packed. What is left at a step begins the tasks of later steps, in the plan's order.
    """

    def __init__(self, solver: StepSolver, parallel: bool) -> None:
        self._solver, self._parallel = solver, parallel
        self._due: dict[int, float] = {}  # when each query shall be whole
        self._urgency: dict[int, float] = {}
        self._down: BoolArray | None = None

    def __call__(self, state: State, budget: Budget, seed: int) -> Decision:
        """Return the tasks of the queries that are due."""
        plan: StepPlan | None = None
        if self._surprised(state):
            plan = plan_steps(state, self._solver, budget, seed, parallel=self._parallel)
            when = np.append(plan.times, np.inf)[plan.step]
            names = state.queries.query.tolist()
            self._due = dict(zip(names, when.tolist(), strict=True))
            self._urgency = dict(zip(names, plan.urgency.tolist(), strict=True))
        self._down = state.down
        names = state.queries.query.tolist()
        due = np.array([self._due.get(query, np.inf) for query in names])
        urgency = np.array([self._urgency.get(query, 0.0) for query in names])
        tasks = tasks_in_order(state.queries, due <= state.at_s, urgency)
        later = np.unique(due[(due > state.at_s) & np.isfinite(due)]).tolist()
        parts = [tasks_in_order(state.queries, due == at_s, urgency) for at_s in later]
        overall = None
        if plan is not None and state.step == 0:
            foreseen = not state.problem.failures
            overall = plan.bound if foreseen else bound_with_failures(state, budget)
        return Decision(
            tasks,
            bound=plan.step_bound if plan is not None else None,
            overall_bound=overall,
            ahead=_once(parts),
            note=None
            if plan is None
            else f"planned {plan.value:.6g}, bound {plan.bound:.6g}, step by step {plan.step_by_step:.6g} priority × s",
        )

    def _surprised(self, state: State) -> bool:
        """Return whether the plan does not fit what is down now."""
        if state.step == 0 or self._down is None or bool((state.down & ~self._down).any()):
            return True
        return any(self._due.get(query, 0.0) < state.at_s for query in state.queries.query.tolist())


def _once(parts: list[IntArray]) -> IntArray:
    """Return the tasks of all parts in their order, each where it stands first."""
    tasks = np.concatenate([*parts, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    _, first = np.unique(tasks, return_index=True)
    return np.asarray(tasks[np.sort(first)], dtype=np.int64)

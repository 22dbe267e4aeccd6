"""Queries back as early as possible over the whole repair: least Σ priority × time down, not step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate import insert_in_order, ruin_and_recreate
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import (
    TimeIndexedKnapsack,
    step_bounds,
    time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import (
    single_step_bounds,
    solve_time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import StepSolver
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState, tasks_in_order

#: Shares of the time left: for the step-by-step plan, the bounds, the search, the bounds of single steps.
STEP_BY_STEP, BOUNDS, SEARCH, ALONE = 0.3, 0.3, 0.5, 0.6
#: Entries of (query, element) times steps up to which a proof takes the place of the search.
FEW_ENTRIES = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class HorizonPlan:
    """By which step each query shall be whole. ``value`` and ``bound`` are Σ priority × seconds down, from now on.

    Queries that never return count until the horizon. ``step_bound`` limits the priority of any choice at step 0.
    """

    step: IntArray  # (Q,) K for never
    value: float
    bound: float
    step_bound: float
    optimal: bool
    myopic_value: float  # of deciding one step at a time


def plan_horizon(problem: TimeIndexedKnapsack, solver: StepSolver, budget: Budget, seed: int) -> HorizonPlan:
    """Plan a repair as well as the budget allows, with a bound.

    Starts from the step-by-step plan of *solver* or from queries by density, whichever is better, and improves it by
    ruin and recreate and, where the model is small, by CP-SAT, which then proves it best. Never worse than the
    step-by-step plan, in cores summed over the nodes. The bound is the sum over the steps of the best bound on the
    priority whole by then; it holds for any placement and any restore times, which can only delay.
    """
    log: Incumbents[IntArray] = Incumbents("max", "priority-time, cores summed")

    def offer(step: IntArray, by: str) -> None:
        log.offer(step, problem.gained(step), by)

    part = budget.part(STEP_BY_STEP)
    myopic, first_bound = step_by_step(problem, solver, part, seed)
    budget.cut |= part.cut
    most = step_bounds(problem, problem.capacity, budget.part(BOUNDS))
    if first_bound is not None:
        most[0] = min(most[0], first_bound)
    log.prove(float(most @ problem.span), "minimum cuts")
    by_density = np.lexsort((np.arange(problem.knapsack.queries), -problem.knapsack.density))
    offer(myopic, "step by step")
    offer(insert_in_order(problem, by_density), "density")
    assert log.answer is not None
    # fewer entries are proved in less time than a search takes to compile
    many = problem.entries * problem.steps > FEW_ENTRIES
    if many and not log.closed:
        part = budget.part(SEARCH)
        offer(problem.completed(ruin_and_recreate(problem, log.answer, part, seed)), "ruin and recreate")
        budget.cut |= part.cut
    if many and not log.closed:
        part = budget.part(ALONE)
        most = single_step_bounds(problem, log.answer, most, part, seed)
        budget.cut |= part.cut
        log.prove(float(most @ problem.span), "CP-SAT, each step alone")
    if not log.closed:
        found, proven, _ = solve_time_indexed(problem, log.answer, budget, seed, most)
        offer(problem.completed(found), "CP-SAT")
        if proven is not None:
            log.prove(proven, "CP-SAT")
    value, bound = problem.downtime(log.value), problem.downtime(log.bound)
    return HorizonPlan(log.answer, value, bound, float(most[0]), log.proven, problem.downtime(problem.gained(myopic)))


def step_by_step(
    problem: TimeIndexedKnapsack, solver: StepSolver, budget: Budget, seed: int
) -> tuple[IntArray, float | None]:
    """Return the steps when each is decided alone, without prefetch, and the solver's bound on the first."""
    step = np.full(problem.knapsack.queries, problem.steps, dtype=np.int64)
    done = np.zeros(problem.knapsack.queries, dtype=np.bool_)
    bound = None
    for k in range(problem.steps):
        if k > 0 and budget.over():
            break
        knapsack = problem.residual(done, k, float(problem.used(step)[k]))
        part = budget.part(1.0 / (problem.steps - k))
        choice = solver(knapsack, part, seed)
        budget.cut |= part.cut
        bound = choice.bound if k == 0 else bound
        new = knapsack.whole(choice.queries) & ~done & (problem.release <= k)
        step[new] = k
        done |= new
    return step, bound


class AggregatedQueryPolicy:
    """The policy that plans the whole repair (:func:`plan_horizon`) and keeps to it; a new one for every schedule.

    It plans at step 0 and after whatever it did not foresee: tasks that fail anew, or tasks of an earlier step that
    are still down because they could not be packed. What is left at a step begins the tasks of later steps, in the
    plan's order.
    """

    def __init__(self, solver: StepSolver) -> None:
        self._solver = solver
        self._due: dict[int, float] = {}  # when each query shall be whole
        self._urgency: dict[int, float] = {}  # the order within a step, largest first
        self._down: BoolArray | None = None

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return the tasks of the queries that are due."""
        names = state.queries.query.tolist()
        plan: HorizonPlan | None = None
        if self._surprised(state):
            problem, times = time_indexed(state, parallel=True)
            plan = plan_horizon(problem, self._solver, budget, seed)
            self._due = dict(zip(names, np.append(times, np.inf)[plan.step].tolist(), strict=True))
            self._urgency = dict(zip(names, problem.knapsack.density.tolist(), strict=True))
        self._down = state.down
        due = np.array([self._due.get(query, np.inf) for query in names])
        urgency = np.array([self._urgency.get(query, 0.0) for query in names])
        later = np.unique(due[(due > state.at_s) & np.isfinite(due)]).tolist()
        ahead = [tasks_in_order(state.queries, due == at_s, urgency).tolist() for at_s in later]
        decision = Decision(
            tasks_in_order(state.queries, due <= state.at_s, urgency),
            ahead=np.array(list(dict.fromkeys(task for tasks in ahead for task in tasks)), dtype=np.int64),
        )
        if plan is None:
            return decision
        note = f"planned {plan.value:.6g}, bound {plan.bound:.6g}, step by step {plan.myopic_value:.6g} priority × s"
        return replace(decision, bound=plan.step_bound, note=note)

    def _surprised(self, state: StepState) -> bool:
        """Return whether the plan does not fit what is down now."""
        if state.step == 0 or self._down is None or bool((state.down & ~self._down).any()):
            return True
        return any(self._due.get(query, 0.0) < state.at_s for query in state.queries.query.tolist())

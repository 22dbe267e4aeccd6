"""Output intact as early as possible over the whole repair: the most output fidelity × time, parts of queries too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, fidelity_model
from ftplan.model.plan import sound_bound
from ftplan.model.rates import rates
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.horizon.fidelity_bound import most_fidelity
from ftplan.planners.recovery.horizon.fidelity_order import giving_up
from ftplan.planners.recovery.horizon.priority_time import planned
from ftplan.planners.recovery.horizon.time_indexed import NestedKnapsack, nested
from ftplan.planners.recovery.horizon.time_indexed_bound import capacity_with_failures
from ftplan.planners.recovery.knapsack.instance import SLACK, StepSolver
from ftplan.planners.recovery.schedule.by_queries import tasks_in_order
from ftplan.planners.recovery.schedule.schedule import Decision, State

#: Shares of the time left: each order by giving up, the plan by whole queries, the bound.
ORDER, WHOLE, BOUND = 0.2, 0.5, 0.8


@dataclass(frozen=True, slots=True, eq=False)
class FidelityPlan:
    """Tasks in the order in which they shall come back; value and bound are fidelity × seconds from now on."""

    order: IntArray
    value: float
    bound: float
    way: str  # which heuristic found the order


def plan_order(
    state: State, model: FidelityModel, solver: StepSolver, budget: Budget, seed: int = 0, *, parallel: bool = False
) -> FidelityPlan:
    """Return the best of several orders of recovery, judged by fidelity over time, and a bound.

    The orders: what is worth least given up first (:mod:`fidelity_order`), with and without its path; and whole
    queries as :func:`priority_time.planned` takes them, with the output's weight and with
    the priority for a query's. Cores are counted for all nodes together. The bound (:mod:`fidelity_bound`) holds for
    any placement and restore time.
    """
    problem, times = nested(state, parallel=parallel)
    queries, graph = state.queries, state.problem.graph
    wanted = np.zeros(graph.tasks, dtype=np.bool_)
    wanted[queries.task] = True
    wanted &= ~state.hopeless
    rank = graph.topological_rank
    orders: list[tuple[str, IntArray]] = []
    for paths in (True, False):
        part = budget.part(ORDER)
        orders.append(
            (
                "paths" if paths else "tasks",
                giving_up(model, state.down, wanted, state.cost, rank, part, paths=paths),
            )
        )
        budget.cut |= part.cut
    weight = np.zeros(graph.tasks)
    weight[model.outputs] = model.weight
    worth = np.maximum(weight[queries.query], 1e-9 / max(1, len(model.outputs)))
    for way, valued in (("output weights", replace(problem, priority=worth)), ("priorities", problem)):
        if len(orders) > 2 and budget.over():
            break
        part = budget.part(WHOLE / 2)
        plan = planned(valued, times, solver, part, seed)
        budget.cut |= part.cut
        orders.append((way, _by_step(state, plan.step, plan.urgency, problem.steps, wanted)))
    scored = [(_integrated(state, model, problem, order), way, order) for way, order in orders]
    value, way, order = max(scored, key=lambda item: item[0])
    capacity, kept = capacity_with_failures(state, problem, times) if state.problem.failures else (problem.limit, True)
    possible = wanted if kept else state.down
    most = most_fidelity(model, state.down, possible, state.cost, capacity, budget.part(BOUND))
    return FidelityPlan(order, value, sound_bound("max", value, float(most @ problem.span)), way)


def _by_step(state: State, step: IntArray, urgency: FloatArray, steps: int, wanted: BoolArray) -> IntArray:
    """Return tasks by the step of the first query that needs them, then those of queries that never return whole."""
    when = urgency / (1.0 + float(urgency[np.isfinite(urgency)].max(initial=0.0)))
    first = np.asarray(np.where(np.isfinite(when), when, 1.0) - step, dtype=np.float64)
    order = tasks_in_order(state.queries, np.ones(len(step), dtype=np.bool_), first)
    return order[wanted[order]]


def _integrated(state: State, model: FidelityModel, problem: NestedKnapsack, order: IntArray) -> float:
    """Return fidelity × seconds when the order is followed as far as the cores of each step reach."""
    live = ~state.down
    reached = np.cumsum(state.cost[order])
    total, done = 0.0, 0
    for limit, span in zip(problem.limit.tolist(), problem.span.tolist(), strict=True):
        until = int(np.searchsorted(reached, limit, side="right"))
        live[order[done:until]] = True
        done = max(done, until)
        total += span * model.fidelity(live)
    return total


def fidelity_time(solver: StepSolver, *, parallel: bool = False) -> FidelityTime:
    """Return the policy that keeps to :func:`plan_order`; a new one for every schedule."""
    return FidelityTime(solver, parallel)


class FidelityTime:
    """Orders all tasks at step 0 and whenever tasks fail anew, and follows the order while cores last."""

    def __init__(self, solver: StepSolver, parallel: bool) -> None:
        self._solver, self._parallel = solver, parallel
        self._model: FidelityModel | None = None
        self._order: IntArray = np.zeros(0, dtype=np.int64)
        self._down: BoolArray | None = None

    def __call__(self, state: State, budget: Budget, seed: int) -> Decision:
        """Return the next tasks of the order that fit in sum; what is left begins those after them one by one."""
        plan: FidelityPlan | None = None
        if state.step == 0 or self._model is None:
            graph = state.problem.graph
            self._model = fidelity_model(graph, rates(graph))
            self._down = None
        if self._down is None or bool((state.down & ~self._down).any()):
            plan = plan_order(state, self._model, self._solver, budget, seed, parallel=self._parallel)
            self._order = plan.order
        self._down = state.down
        open_ = self._order[state.down[self._order]]
        fitting = open_[~state.too_large[open_]]
        limit = state.fillable + SLACK * max(1.0, state.fillable)
        many = int(np.searchsorted(np.cumsum(state.cost[fitting]), limit, side="right"))
        return Decision(
            fitting[:many],
            overall_bound=plan.bound if plan is not None and state.step == 0 else None,
            ahead=fitting,
            note=None if plan is None else f"{plan.way}: {plan.value:.6g}, bound {plan.bound:.6g} fidelity × s",
        )

"""Output intact as early as possible over the whole repair: the most output fidelity × time, parts of queries too.

The order of recovery is found by reverse greedy: remove what loses least, recover in reverse order. A single task often
gains nothing before all of its path is back, so greedy growth is blind. Removal is not: while everything lives, each
task's loss is known, and a path that has lost one task gains nothing, so that its rest goes next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, fidelity_model
from ftplan.model.rates import rates
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack, time_indexed
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState

#: Passes in which everything is removed: each takes away this share of the cost, or one task.
PASSES = 400
_NOTHING = 1e-15


def reverse_greedy(
    model: FidelityModel,
    down: BoolArray,
    wanted: BoolArray,
    cost: FloatArray,
    rank: IntArray,
    budget: Budget,
    *,
    paths: bool,
) -> IntArray:
    """Return the wanted tasks in the order in which they shall come back, the last removed first.

    A heuristic without a guarantee. ``PASSES`` passes over the streams, each of one evaluation and one derivative.

    Parameters
    ----------
    down, wanted, rank
        Shape (tasks,): what does not work now, what of that can be recovered, and an order that ends ties.
    paths
        Whether a task is charged for what only serves with it: the cost of its path, upstream and downstream, by the
        share that flows through it. Otherwise for itself alone.
    """
    live = ~down | wanted
    charged = np.where(wanted, cost, 0.0)
    removed: list[IntArray] = []
    left = np.flatnonzero(wanted & (cost > 0.0))
    share = float(charged.sum()) / max(1, budget.passes(PASSES))
    while len(left) and not budget.over():
        intact = model.intact(live)
        slope = model.slope(live, intact)
        loss = slope[left] * intact[left]
        batch = left[loss <= _NOTHING]
        if len(batch):
            batch = batch[np.argsort(-rank[batch], kind="stable")]
        else:
            price = charged + (_along(model, live, intact, slope, charged) if paths else 0.0)
            ranked = left[np.lexsort((-rank[left], loss / price[left]))]
            many = 1 + int(np.searchsorted(np.cumsum(cost[ranked]), share, side="right"))
            batch = ranked[:many]
        live[batch] = False
        charged[batch] = 0.0
        removed.append(batch)
        left = left[live[left]]
    removed.append(left[np.argsort(-rank[left], kind="stable")])
    free = np.flatnonzero(wanted & (cost <= 0.0))
    paid = np.concatenate(removed)[::-1]
    return np.concatenate((free[np.argsort(rank[free], kind="stable")], paid)).astype(np.int64)


def _along(
    model: FidelityModel, live: BoolArray, intact: FloatArray, slope: FloatArray, cost: FloatArray
) -> FloatArray:
    """Return the cost of what depends on each task, downstream and upstream, by the share of its work that does."""
    after = np.zeros(len(live))
    for level in reversed(model.levels):
        below = (cost + after * intact)[level.task][level.owner]
        means = level.means(intact)
        level.pass_back(np.divide(below, means, out=np.zeros(level.slots), where=means > 0.0), after)
    before = np.zeros(len(live))
    for level in model.levels:
        whole = np.divide(cost + before, slope, out=np.zeros(len(live)), where=slope > 0.0)
        through = level.slot_slopes(live, level.means(intact), slope) * level.sums(whole)
        np.add.at(before, level.task[level.owner], through)
    return np.asarray(after * intact + before, dtype=np.float64)


#: Share of the time left for each order.
ORDER = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class FidelityPlan:
    """Tasks in the order in which they shall come back; the value is fidelity × seconds from now on."""

    order: IntArray
    value: float
    heuristic: str


def plan_order(state: StepState, model: FidelityModel, budget: Budget) -> FidelityPlan:
    """Return the better of two orders of recovery, judged by fidelity over time.

    The orders: :func:`reverse_greedy` with and without the cost of a task's path. Cores are counted for all nodes
    together, and tasks as split over nodes.
    """
    problem, _ = time_indexed(state, parallel=True)
    wanted = np.zeros(state.problem.graph.tasks, dtype=np.bool_)
    wanted[state.queries.task] = True
    wanted &= ~state.hopeless
    rank = state.problem.graph.topological_rank
    orders: dict[str, IntArray] = {}
    for name, paths in (("paths", True), ("tasks", False)):
        part = budget.part(ORDER)
        orders[name] = reverse_greedy(model, state.down, wanted, state.cost, rank, part, paths=paths)
        budget.cut |= part.cut
    values = {name: _integrated(state, model, problem, order) for name, order in orders.items()}
    best = max(values, key=lambda name: values[name])
    return FidelityPlan(orders[best], values[best], best)


def _integrated(state: StepState, model: FidelityModel, problem: TimeIndexedKnapsack, order: IntArray) -> float:
    """Return fidelity × seconds when the order is followed as far as the cores of each step reach."""
    live = ~state.down
    reached = np.cumsum(state.cost[order])
    total, done = problem.waits_s * model.fidelity(live), 0
    for limit, span in zip(problem.limit.tolist(), problem.span.tolist(), strict=True):
        until = int(np.searchsorted(reached, limit, side="right"))
        live[order[done:until]] = True
        done = max(done, until)
        total += span * model.fidelity(live)
    return total


class AggregatedTaskPolicy:
    """The policy that orders all tasks (:func:`plan_order`) and follows the order; a new one for every schedule.

    It orders at step 0 and whenever tasks fail anew.
    """

    def __init__(self) -> None:
        self._model: FidelityModel | None = None
        self._order: IntArray = np.zeros(0, dtype=np.int64)
        self._down: BoolArray | None = None

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return the next tasks of the order that fit in sum; what is left begins those after them one by one."""
        plan: FidelityPlan | None = None
        if state.step == 0 or self._model is None:
            self._model = fidelity_model(state.problem.graph, rates(state.problem.graph))
            self._down = None
        if self._down is None or bool((state.down & ~self._down).any()):
            plan = plan_order(state, self._model, budget)
            self._order = plan.order
        self._down = state.down
        order = self._order[state.down[self._order]]
        order = order[~state.too_large[order]]
        limit = state.fillable + ROUNDING * max(1.0, state.fillable)
        many = int(np.searchsorted(np.cumsum(state.cost[order]), limit, side="right"))
        decision = Decision(order[:many], ahead=order)
        if plan is None:
            return decision
        note = f"{plan.heuristic}: {plan.value:.6g} fidelity × s"
        return replace(decision, note=note)

"""Structure-aware: again and again the MC-tree of most fidelity for each new replica ([SuZhou2016], algorithms 3-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.metrics.fidelity_gains import gains
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.greedy import ranking, significant, taken
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.replication.search.completion import Completion, Trees, trees
from ftplan.planners.replication.search.decomposition import anchors
from ftplan.planners.result import Result

#: Replicas that are given up in turn, times tasks of the topology.
WORK = 100_000
#: Plans that begin with another tree.
STARTS = 20
#: Values that differ by less are equal.
EQUAL = 1e-12
#: One look at all candidates is good for this share of the replicas chosen so far, at least for one tree.
SHARE = 0.01
#: Tasks times cases above which that share grows.
TASKS = 100_000


def structure_aware(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Grow a plan by MC-trees, always by the one of most fidelity for each unit of cost that it adds.

    The topology is cut into full and structured sub-topologies, the structured ones into units; each segment of a
    unit, and each task of a full sub-topology, is a candidate together with what it still needs elsewhere.

    Not in the paper: plans of small topologies are also begun with the densest tree through each operator; one more
    begins with what is of use in greedy's; and the best of all is improved: each replica in turn, that of least gain
    first, is given up for what grows in its place, where that is better.

    Cost: a round prices all candidates in O(tasks + substreams) and takes trees for 1 % of the plan, at least one:
    about 100 (1 + ln(replicas / 100)) rounds. Guarantee: no worse than greedy, no useless replica; optimal on a chain
    of full edges up to 100 replicas of equal cost. Several failure cases are priced one by one and added up.

    References: [SuZhou2016], section IV-C, algorithms 3, 4 and 5.
    """
    # Departures: the three listings call each other for one increment at a time, from one sub-topology; here one loop
    # sees the increments of all. Profit density uses the fidelity of the whole topology, not of the sub-topology: in
    # series fidelities multiply, and .5 to .6 alone looks better than .1 to .19, which is worth more. The budget test
    # counts only new replicas against what is left, plans are united, not cut (line 19 of algorithm 3), usage is
    # raised after each increment, and the loop ends when no candidate gains or fits. A budget below the number of
    # operators may still hold an MC-tree of independent operators: the cheapest trees are tried when none else fits.
    # In a full sub-topology all tasks of an operator are fed alike, so its densest candidate is the next in the order
    # of algorithm 4's δ; the plan of largest fidelity is taken (the listing), not the largest δ (the prose).
    budget = Budget.of(options)
    grower = _Grower(problem, budget)
    ranked = taken(problem, ranking(problem, budget))
    starts = (problem.free, problem.useful(ranked), *grower.starts(problem.free))
    best = grower.improved(_best(problem, [grower.grown(start) for start in starts]))
    return Result("feasible", Replication(best), ("budget",), warnings=budget.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[BoolArray]:
    """Return replicas for each budget, from one growth up to the largest, or greedy's where these are better.

    What :func:`structure_aware` does for one budget alone, other first trees and the improvement at the end, is left
    out: a smaller budget's plan is what had grown until then. Where the clock runs out the last budgets have none.
    """
    largest = replace(problem, budget=max(budgets, default=0.0))
    grown: list[BoolArray] = []
    budget = Budget.of(options)
    _Grower(largest, budget, grown).grown(problem.free)
    costs = [problem.cost(plan) for plan in grown]
    order = ranking(problem, budget)
    best = []
    for limit in budgets:
        if budget.over():
            break
        here = replace(problem, budget=limit)
        fitting = [plan for plan, cost in zip(grown, costs, strict=True) if here.fits(cost)]
        best.append(_best(here, [*fitting[-1:], taken(here, order)]))
    return best


def _best(problem: ReplicationProblem, plans: list[BoolArray]) -> BoolArray:
    """Return the plan of most value, of equal ones the cheapest, of those the first."""
    return min(plans, key=lambda plan: (-round(problem.value(plan), 12), problem.cost(plan)))


class _Grower:
    """Grows plans of one problem."""

    def __init__(self, problem: ReplicationProblem, budget: Budget, steps: list[BoolArray] | None = None) -> None:
        self.problem = problem
        self.steps = steps  # every plan on the way, where they are asked for
        self.budget = budget
        self.completion = Completion(problem.model, problem.tasks)
        one_case = len(problem.cases) == 1 and problem.metric == "output-fidelity"
        self.anchors = anchors(problem.graph) if one_case else np.ones(problem.tasks, dtype=np.bool_)
        # Many cases make a round dear, so that fewer, larger rounds are made.
        self.share = SHARE * max(1.0, len(problem.cases) * problem.tasks / TASKS)
        total = problem.total_weight or 1.0
        self.cases = [(case.weight / total, case.failed) for case in problem.cases if case.weight > 0.0]

    def starts(self, plan: BoolArray) -> list[BoolArray]:
        """Return a plan with another tree each: the densest that fits through a task of each operator."""
        if STARTS * self.problem.tasks > WORK or self.budget.over():
            return []
        priced = [trees(self.completion, ~failed | plan, self.problem.weight) for _, failed in self.cases]
        density, case, task = self._candidates(plan, priced, self.problem.budget - self.problem.cost(plan))
        found: dict[int, BoolArray] = {}
        for k in np.lexsort((task, case, -density)).tolist():
            operator = int(self.problem.graph.operator_of[task[k]])
            if operator not in found and len(found) < STARTS:
                found[operator] = plan.copy()
                found[operator][priced[int(case[k])].missing(int(task[k]))] = True
        return [start for start in found.values() if self.problem.fits(self.problem.cost(start))]

    def improved(self, plan: BoolArray) -> BoolArray:
        """Return a plan that giving up one replica and growing again does not better, as far as it was tried."""
        tries = self.budget.passes(WORK // max(1, self.problem.tasks))
        value, waiting = self.problem.value(plan), self._least_first(plan)
        while waiting and tries and not self.budget.over():
            task, tries = waiting.pop(), tries - 1
            without = plan.copy()
            without[task] = False
            other = self.grown(self.problem.useful(without), forbidden=task)
            if (changed := self.problem.value(other)) > value + EQUAL:
                plan, value, waiting = other, changed, self._least_first(other)
        return plan

    def _least_first(self, plan: BoolArray) -> list[int]:
        """Return the replicas, the one of least gain for its cost last."""
        change = np.zeros(self.problem.tasks)
        for w, failed in self.cases:
            change += w * failed * gains(self.problem.model, ~failed | plan).change
        tasks = np.flatnonzero(plan & (self.problem.weight > 0.0))
        density = significant(change[tasks] / self.problem.weight[tasks])
        return tasks[np.lexsort((-tasks, -density))].tolist()  # type: ignore[no-any-return]

    def grown(self, plan: BoolArray, forbidden: int | None = None) -> BoolArray:
        """Return a plan with trees added while some fits and gains, none of them with a *forbidden* task."""
        weight = self.problem.weight.copy()
        if forbidden is not None:
            weight[forbidden] = np.inf
        plan = plan.copy()
        while not self.budget.over():
            if not self._round(plan, weight, False) and not self._round(plan, weight, True):
                break
            if self.steps is not None:
                self.steps.append(plan.copy())
        return self.problem.useful(plan)

    def _round(self, plan: BoolArray, weight: FloatArray, cheapest: bool) -> bool:
        """Add the densest trees that fit; return whether there was one."""
        priced = [trees(self.completion, ~failed | plan, weight, cheapest) for _, failed in self.cases]
        left = self.problem.budget - self.problem.cost(plan)
        density, case, task = self._candidates(plan, priced, left)
        most = max(1, int(self.share * plan.sum()))
        added = 0
        for k in np.lexsort((task, case, -density))[: 4 * most].tolist():
            missing = [t for t in priced[int(case[k])].missing(int(task[k])) if not plan[t]]
            cost = float(weight[missing].sum())
            if missing and self.problem.fits(self.problem.budget - left + cost):
                plan[missing] = True
                left -= cost
                added += len(missing)
            if added >= most:
                break
        return added > 0

    def _candidates(self, plan: BoolArray, priced: list[Trees], left: float) -> tuple[FloatArray, IntArray, IntArray]:
        """Return density, case and task of the trees that may fit and gain."""
        shared = np.zeros(self.problem.tasks)
        if len(priced) > 1:  # a single replica counts in every case
            for w, failed in self.cases:
                shared += w * failed * gains(self.problem.model, ~failed | plan).change
        found = []
        for k, (tree, (w, failed)) in enumerate(zip(priced, self.cases, strict=True)):
            gain = w * tree.gain
            if len(priced) > 1:
                gain = np.maximum(gain, np.where(failed & ~plan, shared, 0.0))
            fits = (tree.cost > 0.0) & np.isfinite(tree.cost) & (gain > 0.0)
            fits &= (tree.cost <= left * (1 + 1e-9) + 1e-9) & self.anchors
            tasks = np.flatnonzero(fits)
            found.append((gain[tasks] / tree.cost[tasks], np.full(len(tasks), k), tasks))
        case, task = (np.concatenate([f[j] for f in found]) for j in (1, 2))
        return significant(np.concatenate([f[0] for f in found])), case, task

"""Plans that grow by MC-trees, one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.metrics.fidelity_gains import gains
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.greedy import significant
from ftplan.planners.replication.search.completion import Completion, Trees, trees
from ftplan.planners.replication.search.decomposition import anchors

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


class _Candidates(NamedTuple):
    """Trees that may fit and gain: profit density, failure case and the task that names each."""

    density: FloatArray
    case: IntArray
    task: IntArray

    def densest(self, most: int | None = None) -> list[tuple[int, int]]:
        """Return case and task of the densest, at most so many, in descending order."""
        order = np.lexsort((self.task, self.case, -self.density))[:most]
        return list(zip(self.case[order].tolist(), self.task[order].tolist(), strict=True))


class TreeGrowth:
    """Grows plans of one problem by MC-trees, always by those of the largest profit density."""

    def __init__(self, problem: ReplicationProblem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
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
        candidates = self._candidates(plan, priced, self.problem.budget - self.problem.cost(plan))
        starts: dict[int, BoolArray] = {}
        for case, task in candidates.densest():
            operator = int(self.problem.graph.operator_of[task])
            if operator not in starts and len(starts) < STARTS:
                starts[operator] = plan.copy()
                starts[operator][priced[case].missing(task)] = True
        return [start for start in starts.values() if self.problem.fits(self.problem.cost(start))]

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
        change = self._single_changes(plan)
        tasks = np.flatnonzero(plan & (self.problem.weight > 0.0))
        density = significant(change[tasks] / self.problem.weight[tasks])
        return tasks[np.lexsort((-tasks, -density))].tolist()  # type: ignore[no-any-return]

    def _single_changes(self, plan: BoolArray) -> FloatArray:
        """Return by how much the expected fidelity changes with the replica of each failing task alone."""
        change = np.zeros(self.problem.tasks)
        for share, failed in self.cases:
            change += share * failed * gains(self.problem.model, ~failed | plan).change
        return change

    def grown(self, plan: BoolArray, forbidden: int | None = None, steps: list[BoolArray] | None = None) -> BoolArray:
        """Return a plan with trees added while some fits and gains, none of them with a *forbidden* task.

        Every plan on the way is added to *steps*.
        """
        weight = self.problem.weight.copy()
        if forbidden is not None:
            weight[forbidden] = np.inf
        plan = plan.copy()
        while not self.budget.over():
            if not self._round(plan, weight, False) and not self._round(plan, weight, True):
                break
            if steps is not None:
                steps.append(plan.copy())
        return self.problem.useful(plan)

    def _round(self, plan: BoolArray, weight: FloatArray, cheapest: bool) -> bool:
        """Add the densest trees that fit; return whether there was one."""
        priced = [trees(self.completion, ~failed | plan, weight, cheapest) for _, failed in self.cases]
        left = self.problem.budget - self.problem.cost(plan)
        most = max(1, int(self.share * plan.sum()))
        added = 0
        for case, task in self._candidates(plan, priced, left).densest(4 * most):
            missing = [t for t in priced[case].missing(task) if not plan[t]]
            cost = float(weight[missing].sum())
            if missing and self.problem.fits(self.problem.budget - left + cost):
                plan[missing] = True
                left -= cost
                added += len(missing)
            if added >= most:
                break
        return added > 0

    def _candidates(self, plan: BoolArray, priced: list[Trees], left: float) -> _Candidates:
        """Return the trees that may fit into what is left of the budget, and gain."""
        # a single replica counts in every case
        single = self._single_changes(plan) if len(priced) > 1 else np.zeros(self.problem.tasks)
        densities, cases, tasks = [], [], []
        for case, (tree, (share, failed)) in enumerate(zip(priced, self.cases, strict=True)):
            gain = share * tree.gain
            if len(priced) > 1:
                gain = np.maximum(gain, np.where(failed & ~plan, single, 0.0))
            fits = (tree.cost > 0.0) & np.isfinite(tree.cost) & (gain > 0.0)
            fits &= (tree.cost <= left * (1.0 + ROUNDING) + ROUNDING) & self.anchors
            task = np.flatnonzero(fits)
            densities.append(gain[task] / tree.cost[task])
            cases.append(np.full(len(task), case))
            tasks.append(task)
        return _Candidates(significant(np.concatenate(densities)), np.concatenate(cases), np.concatenate(tasks))

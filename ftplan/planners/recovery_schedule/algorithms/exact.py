"""The best one-step choice with a proof, or an incumbent with a proven bound, at any size."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import optimum_where_few
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import fractional_bound
from ftplan.planners.recovery_schedule.algorithms.knapsack.completion import best_completion
from ftplan.planners.recovery_schedule.algorithms.knapsack.deep_tree import DeepTree, deepen
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice, common_unit
from ftplan.planners.recovery_schedule.algorithms.knapsack.integer_program import solve
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import around_capacity
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import Reduction, reduce
from ftplan.planners.recovery_schedule.algorithms.local_search import local_search_step
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Parts of the remaining time for a first tree, the integer program, and a local search before the tree goes on.
FIRST_TIME, PROGRAM_TIME, SEARCH_TIME = 0.03, 0.7, 0.1
#: Gap up to which the relaxation is so tight that the integer program closes more of it than the tree.
TIGHT = 0.01


def exact(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly, or to a proven gap; see :func:`exact_step`."""
    return by_objective(problem, options, Method(exact_step, search=True, model=True))


def exact_step(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None) -> StepChoice:
    """Return the best choice with a proof, or where the work ends early the incumbent and a proven bound.

    The recovery step is a precedence-constrained knapsack. A price on the capacity leaves a maximum closure (minimum
    cut); the best price gives the linear relaxation's bound in about a dozen cuts, and closures on both sides of the
    capacity. What is left goes to a tree that branches on shared elements, a few nodes of it first, and many after a
    short local search; where the gap is small after the first, to HiGHS before that. Exponential in the worst case; the
    bound holds whenever the work ends, and no answer is worse than *hint*.
    """
    step = _Step(knapsack)
    if hint is not None:
        step.offer(hint, "hint")
    reduced = reduce(knapsack)
    if reduced is None:  # not even nothing fits
        return StepChoice(np.zeros(knapsack.queries, dtype=np.bool_), 0.0, True, "the capacity is negative")
    step.prove_sums(reduced)
    if not step.log.closed:
        step.close(reduced, seed, budget)
    assert step.log.answer is not None
    return StepChoice(step.log.answer, step.log.bound, step.log.proven, f"bound by {step.log.proven_by}")


class _Step:
    """A step under search: the log has its choices, in queries of the whole knapsack."""

    def __init__(self, knapsack: SetUnionKnapsack) -> None:
        self.knapsack = knapsack
        self.log: Incumbents[BoolArray] = Incumbents(
            "max", "step", unit=common_unit(knapsack.priority), gap=wanted_gap(len(knapsack.member))
        )

    def offer(self, queries: BoolArray, by: str) -> None:
        """Take a better choice that fits, with all that comes free."""
        if self.knapsack.fits(queries):
            whole = self.knapsack.whole(queries)
            self.log.offer(whole, self.knapsack.value(whole), by)

    def prove_sums(self, reduced: Reduction) -> None:
        """Take what sums of priorities and shares of weights prove, and the choices of nothing and of all."""
        everything = np.ones(reduced.knapsack.queries, dtype=np.bool_)
        for groups in (~everything, everything):
            self.offer(reduced.back(groups), "what fits at all")
        if reduced.knapsack.fits(everything):
            self.log.prove(reduced.base + float(reduced.knapsack.priority.sum()), "what fits at all")
        self.log.prove(reduced.base + fractional_bound(reduced.knapsack), "shares of weights")

    def close(self, reduced: Reduction, seed: int, budget: Budget) -> None:
        """All sets where these are few; else prices, a first tree, a search, and the tree again."""
        small = reduced.knapsack
        if (optimum := optimum_where_few(small)) is not None:
            self.offer(reduced.back(optimum.queries), "all plans")
            self.log.prove(reduced.base + small.value(optimum.queries), "all plans")
            return
        best, around = around_capacity(small, budget)
        self.log.prove(reduced.base + best.bound(small.limit), "minimum cuts")
        self.offer(reduced.back(best_completion(small, around, budget)), "closures")
        assert self.log.answer is not None
        tree = DeepTree(small, self.log.unit, reduced.forth(self.log.answer), best.price)
        self.branch(tree, reduced, budget.part(FIRST_TIME))
        if self.log.gap <= TIGHT and not self.log.closed:
            solved = solve(small, self.log.unit, seed, budget.part(PROGRAM_TIME))
            if solved.queries is not None:
                self.offer(reduced.back(solved.queries), "HiGHS")
            self.log.prove(reduced.base + solved.bound, "HiGHS")
        if not self.log.closed and not budget.over():
            found = local_search_step(self.knapsack, budget.part(SEARCH_TIME), seed, self.log.answer)
            self.offer(found.queries, "tabu search")
        self.branch(tree, reduced, budget)
        if not self.log.closed:
            budget.unfinished()

    def branch(self, tree: DeepTree, reduced: Reduction, budget: Budget) -> None:
        """Let the tree grow, and take its best choice and its bound; it leaves out what is no better than its own."""
        if self.log.closed or budget.over() or self.log.answer is None:
            return
        tree.offer(reduced.forth(self.log.answer))
        deepen(tree, budget)
        self.offer(reduced.back(tree.queries), "branches on shared tasks")
        floor, most = reduced.base + tree.value, reduced.base + tree.most_open
        self.log.prove_better_than(floor, most, "branches on shared tasks")

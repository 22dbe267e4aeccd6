"""The best one-step choice with a proof, or an incumbent with a proven bound, at any size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.plan import sound_bound
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import optimum_where_few
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import LagrangianBound, best_price, fractional_bound
from ftplan.planners.recovery_schedule.algorithms.knapsack.branching import Tree, branch, search_tree
from ftplan.planners.recovery_schedule.algorithms.knapsack.completion import best_completion
from ftplan.planners.recovery_schedule.algorithms.knapsack.deep_tree import DeepTree, deepen
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice
from ftplan.planners.recovery_schedule.algorithms.knapsack.integer_model import common_unit, solve, too_large
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import Fixed, Reduction, reduce
from ftplan.planners.recovery_schedule.algorithms.local_search import local_search_step
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Parts of the gap between bound and value in which better choices are looked for first, and the last: everywhere.
SLICES = (1 / 16, 1 / 4, 1.0)
#: Open queries below which slices gain nothing.
FEW_QUERIES = 60
#: Part of the remaining time that a slice before the last may take.
SLICE_TIME = 0.4
#: Parts of the remaining time for a first tree, for a local search, for a deep tree, and for integer programs before
#: it goes on.
FIRST_TIME, SEARCH_TIME, TREE_TIME, PROGRAM_TIME = 0.03, 0.1, 0.6, 0.2
#: Open queries below which the integer program alone is faster.
FEW_FOR_TREE = 100
#: Part of the queries that a slice before the last may leave open, above which it gains nothing either.
MOST_OPEN = 0.7
#: Rounds of prices and reductions before the integer program.
MOST_ROUNDS = 8


@dataclass
class Incumbent:
    """The best choice so far, in queries of the given knapsack, and the least bound on every choice that fits.

    All values are multiples of ``unit``, 0 for none; ``by`` is what proved the bound.
    """

    knapsack: SetUnionKnapsack
    unit: float
    queries: BoolArray
    bound: float
    by: str = "shares of weights"
    open_queries: int = 0  # of the last integer program

    @property
    def value(self) -> float:
        """Value of the best choice."""
        return self.knapsack.value(self.queries)

    def offer(self, queries: BoolArray) -> None:
        """Take a better choice, with all that comes free."""
        if not self.knapsack.fits(queries):
            return
        queries = self.knapsack.whole(queries)
        if self.knapsack.value(queries) > self.value:
            self.queries = queries

    def prove(self, bound: float, by: str) -> None:
        """Take a lower bound; values are multiples of the unit, so bounds are too."""
        if self.unit > 0:
            bound = self.unit * float(np.floor(bound / self.unit * (1 + ROUNDING) + 1e-6))
        if bound < self.bound:
            self.bound, self.by = bound, by

    @property
    def closed(self) -> bool:
        """Whether value and bound are one, up to rounding, by which bounds are raised already."""
        return self.bound - self.value <= 2.0 * ROUNDING * max(1.0, abs(self.bound))

    @property
    def better(self) -> float:
        """The least value that is better than what is known, a little lowered."""
        return self.value + max(0.999 * self.unit, 0.5 * ROUNDING * abs(self.value))


def exact(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly, or to a proven gap; see :func:`exact_step`."""
    return by_objective(problem, options, Method(exact_step, few=True, search=True, model=True))


def exact_step(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None) -> StepChoice:
    """Return the best choice with a proof, or where the work ends early the incumbent and a proven bound.

    The recovery step is a precedence-constrained knapsack. A price on the capacity leaves a maximum closure (minimum
    cut); the best price gives the linear relaxation's bound in about a dozen cuts, closures on both sides of the
    capacity, and proves which queries and elements every better choice has. What is left goes to a tree that
    branches on shared elements, first a few nodes of it, and after a short local search many in a compiled one, and to
    HiGHS, first for choices whose value is nearly the bound, since few queries can belong to those, then for all.
    Exponential in the worst case; the bound holds whenever the work ends, and no answer is worse than *hint*.
    """
    nothing = np.zeros(knapsack.queries, dtype=np.bool_)
    total = float(knapsack.priority.sum())
    incumbent = Incumbent(knapsack, common_unit(knapsack.priority), nothing, total * (1 + ROUNDING))
    if hint is not None:
        incumbent.offer(hint)
    reduced = reduce(knapsack, Fixed.nothing(knapsack))
    if reduced is None:  # not even nothing fits
        return StepChoice(nothing, 0.0, True, "the capacity is negative")
    everything = np.ones(reduced.knapsack.queries, dtype=np.bool_)
    incumbent.offer(reduced.back(everything))
    incumbent.offer(reduced.back(~everything))
    if reduced.knapsack.fits(everything):
        incumbent.prove(reduced.base + float(reduced.knapsack.priority.sum()), "what fits at all")
    incumbent.prove(reduced.base + fractional_bound(reduced.knapsack), "shares of weights")
    if not incumbent.closed:
        _close(incumbent, reduced, seed, budget)
    note = f"bound by {incumbent.by}"
    if incumbent.open_queries:
        note += f", {incumbent.open_queries} of {len(everything)} groups of queries left to the integer program"
    return StepChoice(incumbent.queries, sound_bound("max", incumbent.value, incumbent.bound), incumbent.closed, note)


def _close(incumbent: Incumbent, reduced: Reduction, seed: int, budget: Budget) -> None:
    """All sets where these are few; else prices, then a search, a tree, integer programs, and the tree again."""
    optimum = optimum_where_few(reduced.knapsack)
    if optimum is not None:
        incumbent.offer(reduced.back(optimum.queries))
        bound = reduced.base + reduced.knapsack.value(optimum.queries)
        incumbent.prove(max(bound, incumbent.value), "all plans")
        return
    dual = best_price(reduced.knapsack, budget)
    incumbent.prove(reduced.base + dual.bound, "minimum cuts")
    _complete(incumbent, reduced, dual, budget)
    if reduced.knapsack.queries <= FEW_FOR_TREE:
        _slices(incumbent, reduced, dual, seed, budget)
    elif not incumbent.closed and not budget.over():
        tree = search_tree(reduced.knapsack, reduced.forth(incumbent.queries), incumbent.unit, budget)
        _branch(incumbent, reduced, tree, budget.part(FIRST_TIME))
        if not incumbent.closed and not budget.over():
            part = budget.part(SEARCH_TIME)
            incumbent.offer(local_search_step(incumbent.knapsack, part, seed, incumbent.queries).queries)
        if not incumbent.closed and not budget.over():
            deep = DeepTree(reduced.knapsack, incumbent.unit, reduced.forth(incumbent.queries), dual.price)
            _branch(incumbent, reduced, deep, budget.part(TREE_TIME))
            _slices(incumbent, reduced, dual, seed, budget.part(PROGRAM_TIME))
            _branch(incumbent, reduced, deep, budget.part(1.0))
    if not incumbent.closed:
        budget.unfinished()


def _branch(incumbent: Incumbent, reduced: Reduction, tree: Tree | DeepTree, budget: Budget) -> None:
    """Let the tree grow, and take its incumbent and its bound."""
    if incumbent.closed or budget.over():
        return
    tree.offer(reduced.forth(incumbent.queries))
    if isinstance(tree, DeepTree):
        deepen(tree, budget)
    else:
        branch(tree, budget)
    incumbent.offer(reduced.back(tree.queries))
    incumbent.prove(max(reduced.base + tree.bound, incumbent.value), "branches on shared tasks")


def _slices(incumbent: Incumbent, reduced: Reduction, dual: LagrangianBound, seed: int, budget: Budget) -> None:
    """Solve integer programs for slices of the gap from the bound down."""
    queries = reduced.knapsack.queries
    for part in SLICES if queries > FEW_QUERIES else SLICES[-1:]:
        if incumbent.closed or budget.over():
            break
        floor = incumbent.bound - part * (incumbent.bound - incumbent.value)
        if part == SLICES[-1]:
            _slice(incumbent, reduced, dual, floor, queries, seed, budget)
        else:
            limits = replace(budget, time_limit_s=budget.time_limit_s - (1 - SLICE_TIME) * budget.left_s)
            _slice(incumbent, reduced, dual, floor, int(MOST_OPEN * queries), seed, limits)


def _slice(
    incumbent: Incumbent,
    reduced: Reduction,
    dual: LagrangianBound,
    floor: float,
    most_open: int,
    seed: int,
    budget: Budget,
) -> None:
    """Look for choices better than the incumbent and than *floor*; what is proved of them bounds all choices.

    The integer program is left out where more than *most_open* groups of queries are open.
    """
    for _ in range(MOST_ROUNDS):
        at_least = max(incumbent.better, floor)
        further = reduce(reduced.knapsack, dual.fixed(at_least - reduced.base - ROUNDING * abs(at_least)))
        if further is None:
            incumbent.prove(max(incumbent.value, floor), "minimum cuts")
            return
        stalled = further.knapsack.queries > 0.95 * reduced.knapsack.queries
        reduced = reduced.then(further)
        dual = best_price(reduced.knapsack, budget)
        incumbent.prove(max(reduced.base + dual.bound, incumbent.value, floor), "minimum cuts")
        _complete(incumbent, reduced, dual, budget)
        if reduced.knapsack.queries == 0 or stalled or budget.over():
            break
    if reduced.base + dual.bound >= max(incumbent.better, floor) and reduced.knapsack.queries <= most_open:
        _solve(incumbent, reduced, max(incumbent.value, floor), seed, budget)


def _solve(incumbent: Incumbent, reduced: Reduction, floor: float, seed: int, budget: Budget) -> None:
    """Give what is left open to the integer program."""
    small = reduced.knapsack
    incumbent.open_queries = small.queries
    if small.queries == 0 or too_large(small, budget):
        return
    hint = reduced.forth(incumbent.queries)
    solved = solve(small, hint if small.fits(hint) else None, incumbent.unit, seed, budget)
    if solved.queries is not None:
        incumbent.offer(reduced.back(solved.queries))
    incumbent.prove(max(reduced.base + solved.bound, incumbent.value, floor), "integer program")


def _complete(incumbent: Incumbent, reduced: Reduction, dual: LagrangianBound, budget: Budget) -> None:
    """Look for better choices beside the closures on both sides of the capacity."""
    if reduced.knapsack.queries:
        incumbent.offer(reduced.back(best_completion(reduced.knapsack, [dual.below, dual.above], budget)))

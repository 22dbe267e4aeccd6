"""The best one-step choice with a proof, or the best found with a proven bound, at any size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.plan import sound_bound
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.dynamic_programming import optimum_where_few
from ftplan.planners.recovery.knapsack.branching import Tree, branch, grow
from ftplan.planners.recovery.knapsack.completion import best_completion
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound
from ftplan.planners.recovery.knapsack.instance import BoolArray, Choice, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.integer_model import priority_unit, solve, too_large
from ftplan.planners.recovery.knapsack.lagrangian_bound import Dual, best_price
from ftplan.planners.recovery.knapsack.reduction import Fixed, Reduction, reduce
from ftplan.planners.recovery.local_search import local_search_step
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_objective import by_objective
from ftplan.planners.recovery.schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Parts of the gap between bound and value in which better choices are looked for first, and the last: everywhere.
SLICES = (1 / 16, 1 / 4, 1.0)
#: Open queries below which slices gain nothing.
FEW_QUERIES = 60
#: Part of the remaining time that a slice before the last may take.
SLICE_TIME = 0.4
#: Parts of the remaining time for a local search, for a first tree, and for integer programs before it goes on.
SEARCH_TIME, TREE_TIME, PROGRAM_TIME = 0.1, 0.3, 0.4
#: Open queries below which the integer program alone is faster.
FEW_FOR_TREE = 100
#: Part of the queries that a slice before the last may leave open, above which it gains nothing either.
MOST_OPEN = 0.7
#: Rounds of prices and reductions before the integer program.
MOST_ROUNDS = 8
#: Relative difference of value and bound that counts as none.
ROUNDING = 1e-9


@dataclass
class Progress:
    """The best choice so far, in queries of the given knapsack, and the least bound on every choice that fits."""

    knapsack: SetUnionKnapsack
    unit: float
    queries: BoolArray
    bound: float
    by: str = "shares of weights"
    open_queries: int = 0

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
        """Whether value and bound are one, up to rounding."""
        return self.bound - self.value <= ROUNDING * max(1.0, abs(self.bound))

    @property
    def better(self) -> float:
        """The least value that is better than what is known, a little lowered."""
        return self.value + max(0.999 * self.unit, 0.5 * ROUNDING * abs(self.value))


def exact(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly, or to a proven gap; see :func:`exact_step`."""
    return by_objective(problem, options, exact_step)


def exact_step(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None) -> Choice:
    """Return the best choice with a proof, or where the work ends early the best found and a proven bound.

    The recovery step is a precedence-constrained knapsack. A price on the capacity leaves a maximum closure (minimum
    cut); the best price gives the linear relaxation's bound in about a dozen cuts, closures on both sides of the
    capacity, and proves which queries and bundles every better choice has. What is left goes to a tree that
    branches on shared bundles, and to HiGHS, first for choices that are worth almost as much as the bound, since few
    queries can belong to those, then for all. A short local search stands between them.
    Exponential in the worst case; the bound holds whenever the work ends, and no answer is worse than *hint*.
    """
    state = _start(knapsack, hint)
    reduced = reduce(knapsack, Fixed.nothing(knapsack))
    if reduced is None:  # not even nothing fits
        return Choice(np.zeros(knapsack.queries, np.bool_), 0.0, True, "the capacity is negative")
    state.offer(reduced.back(np.ones(reduced.knapsack.queries, np.bool_)))
    state.offer(reduced.back(np.zeros(reduced.knapsack.queries, np.bool_)))
    if reduced.knapsack.queries == 0 or reduced.knapsack.fits(np.ones(reduced.knapsack.queries, np.bool_)):
        state.prove(reduced.base + float(reduced.knapsack.priority.sum()), "what fits at all")
    state.prove(reduced.base + fractional_bound(reduced.knapsack), "shares of weights")
    if not state.closed:
        _close(state, reduced, seed, budget)
    return _answer(state, reduced)


def _start(knapsack: SetUnionKnapsack, hint: BoolArray | None) -> Progress:
    everything = float(knapsack.priority.sum())
    nothing = np.zeros(knapsack.queries, dtype=np.bool_)
    state = Progress(knapsack, priority_unit(knapsack.priority), nothing, everything * (1 + ROUNDING))
    if hint is not None:
        state.offer(hint)
    return state


def _close(state: Progress, reduced: Reduction, seed: int, budget: Budget) -> None:
    """All plans where these are few; else prices, then a search, a tree, integer programs, and the tree again."""
    outright = optimum_where_few(reduced.knapsack)
    if outright is not None:
        state.offer(reduced.back(outright.queries))
        state.prove(max(reduced.base + reduced.knapsack.value(outright.queries), state.value), "all plans")
        return
    dual = best_price(reduced.knapsack, budget)
    state.prove(reduced.base + dual.bound, "minimum cuts")
    _improve(state, [reduced], dual, budget)
    if reduced.knapsack.queries <= FEW_FOR_TREE:
        _slices(state, reduced, dual, seed, budget)
    elif not state.closed and not budget.over():
        tree = grow(reduced.knapsack, reduced.forth(state.queries), state.unit, budget)
        _branch(state, reduced, tree, budget.part(SEARCH_TIME))
        if not state.closed and not budget.over():
            state.offer(local_search_step(state.knapsack, budget.part(SEARCH_TIME), seed, state.queries).queries)
        for share in (TREE_TIME, 1.0):
            _branch(state, reduced, tree, budget.part(share))
            if share < 1.0:
                _slices(state, reduced, dual, seed, budget.part(PROGRAM_TIME))
    if not state.closed:
        budget.unfinished()


def _branch(state: Progress, reduced: Reduction, tree: Tree, budget: Budget) -> None:
    """Let the tree grow, and take what it finds and proves."""
    if state.closed or budget.over():
        return
    tree.offer(reduced.forth(state.queries))
    branch(tree, budget)
    state.offer(reduced.back(tree.queries))
    state.prove(max(reduced.base + tree.bound, state.value), "branches on shared tasks")


def _slices(state: Progress, reduced: Reduction, dual: Dual, seed: int, budget: Budget) -> None:
    """Solve integer programs for slices of the gap from the bound down."""
    slices = SLICES if reduced.knapsack.queries > FEW_QUERIES else SLICES[-1:]
    for part in slices:
        if state.closed or budget.over():
            break
        floor = state.bound - part * (state.bound - state.value)
        last = part == slices[-1]
        limits = (
            budget if last else replace(budget, time_limit_s=budget.time_limit_s - (1 - SLICE_TIME) * budget.left_s)
        )
        most = reduced.knapsack.queries if last else int(MOST_OPEN * reduced.knapsack.queries)
        _slice(state, reduced, dual, floor, most, seed, limits)


def _slice(state: Progress, reduced: Reduction, dual: Dual, floor: float, most: int, seed: int, budget: Budget) -> None:
    """Look for choices better than the best known and than *floor*; what is proved of them bounds all choices.

    The integer program is left out where more than *most* groups of queries are open.
    """
    steps = [reduced]
    base = reduced.base
    for _ in range(MOST_ROUNDS):
        at_least = max(state.better, floor)
        small = reduce(steps[-1].knapsack, dual.fixed(at_least - base - ROUNDING * abs(at_least)))
        if small is None:
            state.prove(max(state.value, floor), "minimum cuts")
            return
        steps.append(small)
        base += small.base
        gone = small.knapsack.queries <= 0.95 * steps[-2].knapsack.queries
        dual = best_price(small.knapsack, budget)
        state.prove(max(base + dual.bound, state.value, floor), "minimum cuts")
        _improve(state, steps, dual, budget)
        if small.knapsack.queries == 0 or not gone or budget.over():
            break
    if base + dual.bound < max(state.better, floor) or steps[-1].knapsack.queries > most:
        return
    _solve(state, steps, base, max(state.value, floor), seed, budget)


def _solve(state: Progress, steps: list[Reduction], base: float, floor: float, seed: int, budget: Budget) -> None:
    """Give what is left open to the integer program."""
    small = steps[-1].knapsack
    state.open_queries = small.queries
    if small.queries == 0 or too_large(small, budget):
        return
    hint = state.queries
    for step in steps:
        hint = step.forth(hint)
    solved = solve(small, hint if small.fits(hint) else None, state.unit, seed, budget)
    if solved.queries is not None:
        state.offer(_back(steps, solved.queries))
    state.prove(max(base + solved.bound, state.value, floor), "integer program")


def _improve(state: Progress, steps: list[Reduction], dual: Dual, budget: Budget) -> None:
    """Look for better choices beside the closures on both sides of the capacity."""
    small = steps[-1].knapsack
    if small.queries:
        state.offer(_back(steps, best_completion(small, [dual.below, dual.above], budget)))


def _back(steps: list[Reduction], queries: BoolArray) -> BoolArray:
    for step in reversed(steps):
        queries = step.back(queries)
    return queries


def _answer(state: Progress, reduced: Reduction) -> Choice:
    """Return the choice with a sentence on the way to it."""
    bound = sound_bound("max", state.value, state.bound)
    note = f"bound by {state.by}"
    if state.open_queries:
        note += f", {state.open_queries} of {reduced.knapsack.queries} groups of queries left to the integer program"
    return Choice(state.queries, bound, state.closed, note)

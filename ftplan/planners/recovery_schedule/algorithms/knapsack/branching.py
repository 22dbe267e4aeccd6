"""Branch and bound on shared elements: each node is paid or barred elements, bounded by the best price on the capacity.

The linear relaxation of a set-union knapsack is weak where a few elements are shared by many queries: a query pays
for a part of each. To decide such an element moves the bound quickly ([Land1960], with the Lagrangian bound of
[Geoffrion1974] and strong branching, [Applegate1995]).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import LagrangianBound, best_price
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, residual
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import select_projects
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import Fixed, propagate

#: Elements whose both sides are bounded before one is chosen.
CANDIDATES = 8
#: Share of a node's queries that must be decided by its bounds to bound it again.
DECIDED_AGAIN = 0.05


@dataclass(frozen=True, eq=False)
class Subproblem:
    """What a node leaves open, and which queries and elements of the whole knapsack it is."""

    knapsack: SetUnionKnapsack
    queries: IntArray
    elements: IntArray
    fixed: Fixed  # of the whole knapsack, with what follows
    base: float

    def lifted(self, queries: BoolArray) -> BoolArray:
        """Return what a choice of the open queries is in the whole knapsack."""
        whole = self.fixed.inside.copy()
        whole[self.queries[queries]] = True
        return whole

    def lifted_fixed(self, open_: Fixed) -> Fixed:
        """Return what the node fixes, and what is fixed of its open part besides."""
        fixed = self.fixed
        inside, outside, paid, barred = (x.copy() for x in (fixed.inside, fixed.outside, fixed.paid, fixed.barred))
        inside[self.queries[open_.inside]] = True
        outside[self.queries[open_.outside]] = True
        paid[self.elements[open_.paid]] = True
        barred[self.elements[open_.barred]] = True
        return Fixed(inside, outside, paid, barred)


class OpenNode(NamedTuple):
    """A node that may hold something better; its bound, then its number, order the search."""

    minus_bound: float
    number: int
    rest: Subproblem
    dual: LagrangianBound

    @property
    def bound(self) -> float:
        """Upper bound on each choice of the node."""
        return -self.minus_bound


def restrict(knapsack: SetUnionKnapsack, fixed: Fixed) -> Subproblem | None:
    """Return what is left to decide, None where nothing fits. Nothing is joined. Cost O(size of the matrix)."""
    known = propagate(knapsack, fixed)
    if known is None:
        return None
    small, elements = residual(knapsack, known.open, known.weight, known.capacity)
    return Subproblem(small, np.flatnonzero(known.open), elements, known.fixed, knapsack.value(known.fixed.inside))


@dataclass
class Tree:
    """Open nodes, best bound first, and the incumbent. All values are multiples of ``unit``, 0 for none."""

    knapsack: SetUnionKnapsack
    unit: float
    budget: Budget
    queries: BoolArray  # the incumbent
    value: float
    nodes: list[OpenNode] = field(default_factory=list)
    made: int = 0

    @property
    def bound(self) -> float:
        """Upper bound on every choice."""
        return max([self.value, *(node.bound for node in self.nodes)])

    def fathomed(self, bound: float) -> bool:
        """Return whether no choice under this bound is better than the incumbent."""
        return bound * (1 + ROUNDING) < self.value + max(0.999 * self.unit, ROUNDING * abs(self.value))

    def offer(self, queries: BoolArray) -> None:
        """Take a better choice that fits."""
        if self.knapsack.fits(queries) and self.knapsack.value(queries) > self.value:
            self.queries, self.value = queries, self.knapsack.value(queries)

    def add(self, fixed: Fixed, price: float | None, most: float) -> None:
        """Bound what agrees with *fixed*, and keep it where it may hold something better; *most* bounds it already."""
        rest = restrict(self.knapsack, fixed)
        for last in (False, True):
            if rest is None:
                return
            dual = best_price(rest.knapsack, self.budget, price)
            self.offer(rest.lifted(dual.below))
            most = min(most, rest.base + dual.bound)
            if self.fathomed(most) or rest.knapsack.queries == 0:
                return
            better = self.value + 0.999 * self.unit - rest.base - ROUNDING * abs(self.value)
            tighter = rest.lifted_fixed(dual.fixed(better))
            decided = int((tighter.inside | tighter.outside)[rest.queries].sum())
            if last or decided < DECIDED_AGAIN * rest.knapsack.queries:
                break
            price, rest = dual.price, restrict(self.knapsack, tighter)
        assert rest is not None
        self.made += 1
        heapq.heappush(self.nodes, OpenNode(-most, self.made, replace(rest, fixed=tighter), dual))

    def expand(self, node: OpenNode) -> None:
        """Decide one element of a node both ways."""
        for fixed in _sides(node.rest.fixed, self.branching_element(node)):
            self.add(fixed, node.dual.price, node.bound)

    def branching_element(self, node: OpenNode) -> int:
        """Return the element of which both sides lose most at the node's price, among those that weigh most."""
        small, dual = node.rest.knapsack, node.dual
        torn = small.covered(dual.above) & ~small.covered(dual.below)
        weight = small.weight * small.sharing * np.where(torn, 1.0, 1e-6)
        candidates = node.rest.elements[np.argsort(-weight, kind="stable")[:CANDIDATES]].tolist()
        return int(max(candidates, key=lambda element: self.loss(node, element)))

    def loss(self, node: OpenNode, element: int) -> float:
        """Return the product of what the bounds of both sides lose, each by one cut."""
        product = 1.0
        least = 1e-6 * abs(node.bound)
        enough = node.bound - self.value
        for fixed in _sides(node.rest.fixed, element):
            rest = restrict(self.knapsack, fixed)
            most = 0.0 if rest is None else rest.base + select_projects(rest.knapsack, node.dual.price)[1].all
            product *= max(least, min(enough, node.bound - most))
        return product


def search_tree(knapsack: SetUnionKnapsack, incumbent: BoolArray, unit: float, budget: Budget) -> Tree:
    """Return a tree of one node; *incumbent* fits."""
    tree = Tree(knapsack, unit, budget, incumbent, knapsack.value(incumbent))
    tree.add(Fixed.nothing(knapsack), None, float(knapsack.priority.sum()) * (1 + ROUNDING))
    return tree


def branch(tree: Tree, budget: Budget) -> None:
    """Decide elements in the node with the largest bound, until none is left or the work ends.

    An iteration of the budget is one node. Same knapsack, incumbent and iterations give the same tree. Exponential in
    the worst case; the tree's bound holds whenever it ends.
    """
    tree.budget = budget
    left = np.inf if budget.iterations is None else budget.iterations
    while tree.nodes and not budget.over() and left > 0:
        node = heapq.heappop(tree.nodes)
        left -= 1
        if not tree.fathomed(node.bound):
            tree.expand(node)


def _sides(fixed: Fixed, element: int) -> tuple[Fixed, Fixed]:
    """Return a node without an element, and with it."""
    paid, barred = fixed.paid.copy(), fixed.barred.copy()
    paid[element] = barred[element] = True
    return replace(fixed, barred=barred), replace(fixed, paid=paid)

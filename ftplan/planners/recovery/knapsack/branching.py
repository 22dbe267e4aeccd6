"""Branch and bound on shared bundles: each node is paid or barred bundles, bounded by the best price on the capacity.

The linear relaxation of a set-union knapsack is weak where a few bundles are shared by many queries: a query pays
for a part of each. To decide such a bundle moves the bound quickly (Land & Doig, Econometrica 28, 1960, with the
Lagrangian bound of Geoffrion 1974 and the pseudo-costs' forerunner, strong branching: Applegate et al. 1995).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.instance import BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.lagrangian_bound import Dual, best_price
from ftplan.planners.recovery.knapsack.priced_closure import priced_closure
from ftplan.planners.recovery.knapsack.reduction import Fixed, settle

#: Bundles whose both sides are bounded before one is chosen.
CANDIDATES = 8
#: Nodes that one iteration buys.
NODES_PER_ITERATION = 1
#: Share of a node's queries that must be decided by its bounds to bound it again.
WORTH_AGAIN = 0.05
#: Relative error that is granted to the bounds.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Rest:
    """What a node leaves open, and which queries and bundles of the whole knapsack it is."""

    knapsack: SetUnionKnapsack
    queries: IntArray
    bundles: IntArray
    fixed: Fixed  # of the whole knapsack, with what follows
    base: float


@dataclass(order=True)
class Node:
    """An open node: bound and number order the search."""

    key: tuple[float, int]
    rest: Rest = field(compare=False)
    dual: Dual = field(compare=False)

    @property
    def bound(self) -> float:
        """Upper bound on each choice of the node."""
        return -self.key[0]


def restrict(knapsack: SetUnionKnapsack, fixed: Fixed) -> Rest | None:
    """Return what is left to decide, None where nothing fits. Nothing is joined. Cost O(size of the matrix)."""
    settled = settle(knapsack, fixed)
    if settled is None:
        return None
    entry = settled.entry
    queries = np.flatnonzero(settled.open)
    bundles, member = np.unique(knapsack.member[entry], return_inverse=True)
    counts = np.bincount(knapsack.row[entry], minlength=knapsack.queries)[queries]
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    small = SetUnionKnapsack(
        knapsack.priority[queries], settled.due[bundles], start, member.astype(np.int64), settled.left
    )
    return Rest(small, queries, bundles, settled.fixed, knapsack.value(settled.fixed.inside))


@dataclass
class Tree:
    """Open nodes, best bound first; what was found and what it is worth."""

    knapsack: SetUnionKnapsack
    unit: float
    budget: Budget
    queries: BoolArray
    value: float
    nodes: list[Node] = field(default_factory=list)
    made: int = 0

    @property
    def bound(self) -> float:
        """Upper bound on every choice."""
        return max(max((node.bound for node in self.nodes), default=self.value), self.value)

    def hopeless(self, bound: float) -> bool:
        """Return whether no choice under this bound is better than the best."""
        return bound * (1 + ROUNDING) < self.value + max(0.999 * self.unit, 1e-9 * abs(self.value))

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
            self.offer(_whole(rest, dual.below))
            most = min(most, rest.base + dual.bound)
            if self.hopeless(most) or rest.knapsack.queries == 0:
                return
            tighter = _with(rest, dual.fixed(self.value + 0.999 * self.unit - rest.base - ROUNDING * abs(self.value)))
            gone = int((tighter.inside | tighter.outside)[rest.queries].sum())
            if last or gone < WORTH_AGAIN * rest.knapsack.queries:
                break
            price, rest = dual.price, restrict(self.knapsack, tighter)
        assert rest is not None
        self.made += 1
        rest = Rest(rest.knapsack, rest.queries, rest.bundles, tighter, rest.base)
        heapq.heappush(self.nodes, Node((-most, self.made), rest, dual))

    def expand(self, node: Node) -> None:
        """Decide one bundle of a node both ways."""
        bundle = self.chosen(node)
        for fixed in _sides(node.rest.fixed, bundle):
            self.add(fixed, node.dual.price, node.bound)

    def chosen(self, node: Node) -> int:
        """Return the bundle of which both sides lose most at the node's price, among those that weigh most."""
        small, dual = node.rest.knapsack, node.dual
        torn = small.covered(dual.above) & ~small.covered(dual.below)
        weight = small.weight * small.sharing * np.where(torn, 1.0, 1e-6)
        candidates = node.rest.bundles[np.argsort(-weight, kind="stable")[:CANDIDATES]].tolist()
        losses = [self.loss(node, bundle) for bundle in candidates]
        return int(candidates[int(np.argmax(losses))])

    def loss(self, node: Node, bundle: int) -> float:
        """Return the product of what the bounds of both sides lose, each by one cut."""
        product = 1.0
        least = 1e-6 * abs(node.bound)
        enough = node.bound - self.value
        for fixed in _sides(node.rest.fixed, bundle):
            rest = restrict(self.knapsack, fixed)
            most = 0.0 if rest is None else rest.base + priced_closure(rest.knapsack, node.dual.price).bound
            product *= max(least, min(enough, node.bound - most))
        return product


def grow(knapsack: SetUnionKnapsack, best: BoolArray, unit: float, budget: Budget) -> Tree:
    """Return a tree of one node. *best* is a choice that fits; all values are multiples of *unit*, 0 for none."""
    tree = Tree(knapsack, unit, budget, best, knapsack.value(best))
    tree.add(Fixed.nothing(knapsack), None, float(knapsack.priority.sum()) * (1 + ROUNDING))
    return tree


def branch(tree: Tree, budget: Budget) -> None:
    """Decide bundles in the node with the largest bound, until none is left or the work ends.

    An iteration of the budget is one node. Same knapsack, best and iterations give the same tree. Exponential in the
    worst case; the tree's bound holds whenever it ends.
    """
    tree.budget = budget
    nodes = 0
    while tree.nodes and not budget.over():
        if budget.iterations is not None and nodes >= budget.iterations * NODES_PER_ITERATION:
            return
        node = heapq.heappop(tree.nodes)
        nodes += 1
        if not tree.hopeless(node.bound):
            tree.expand(node)


def _sides(fixed: Fixed, bundle: int) -> tuple[Fixed, Fixed]:
    """Return a node without a bundle, and with it."""
    paid, barred = fixed.paid.copy(), fixed.barred.copy()
    paid[bundle] = barred[bundle] = True
    return Fixed(fixed.inside, fixed.outside, fixed.paid, barred), Fixed(
        fixed.inside, fixed.outside, paid, fixed.barred
    )


def _whole(rest: Rest, queries: BoolArray) -> BoolArray:
    """Return what a choice of a node's open queries is in the whole knapsack."""
    whole = rest.fixed.inside.copy()
    whole[rest.queries[queries]] = True
    return whole


def _with(rest: Rest, found: Fixed) -> Fixed:
    """Return what the node fixes and what was found of its rest."""
    fixed = rest.fixed
    inside, outside, paid, barred = fixed.inside.copy(), fixed.outside.copy(), fixed.paid.copy(), fixed.barred.copy()
    inside[rest.queries[found.inside]] = True
    outside[rest.queries[found.outside]] = True
    paid[rest.bundles[found.paid]] = True
    barred[rest.bundles[found.barred]] = True
    return Fixed(inside, outside, paid, barred)

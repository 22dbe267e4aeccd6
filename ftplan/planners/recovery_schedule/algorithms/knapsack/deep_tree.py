"""Branch and bound on shared elements, compiled: each node is paid or barred elements, bounded by prices on capacity.

The linear relaxation of a set-union knapsack is weak where a few elements are shared by many queries: a query pays for
a part of each. Where many queries hang together a little it is some mixture of nearly nothing and nearly everything,
and only many decisions lower it ([Land1960], with the Lagrangian bound of [Geoffrion1974]).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack import (
    residual_flow,
    residual_nodes,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.residual_flow import ResidualFlow, ResidualFlowInstance

#: Prices of a node at most, and of the first one.
ROUNDS, FIRST_ROUNDS = 3, 30
#: Part of the gap by which a child may lie below the tree's bound and still be next: its flow is at hand.
AT_ONCE = 0.1
#: Open nodes at most, a few hundred bytes each: beyond, the tree only keeps its bound.
MOST_NODES = 500_000

Bits = npt.NDArray[np.uint8]


class DeepNode(NamedTuple):
    """A node that may hold something better; its bound, then its number, order the search."""

    minus_bound: float
    number: int
    out: Bits  # packed, (Q,)
    paid: Bits  # packed, (B,)
    price: float

    @property
    def bound(self) -> float:
        """Upper bound on each choice of the node."""
        return -self.minus_bound


@dataclass
class DeepTree:
    """Open nodes, best bound first, and the incumbent. All values are multiples of ``unit``, 0 for none."""

    knapsack: SetUnionKnapsack
    unit: float
    queries: BoolArray  # the incumbent, which fits
    price: float  # to begin with
    nodes: list[DeepNode] = field(default_factory=list)
    made: int = 0

    def __post_init__(self) -> None:
        queries, elements = self.knapsack.queries, self.knapsack.elements
        self.instance = flow_instance(self.knapsack)
        self.state = no_flow(self.instance)
        self.outs, self.paids = np.zeros((2, queries), np.bool_), np.zeros((2, elements), np.bool_)
        self.found = np.zeros((2, 2))
        self.value = 0.0
        self.offer(self.queries)

    @property
    def bound(self) -> float:
        """Upper bound on every choice; infinite before the first node."""
        return max(self.value, self.most_open)

    @property
    def most_open(self) -> float:
        """Upper bound on the choices that are better than the incumbent."""
        if not self.made:
            return np.inf
        return self.nodes[0].bound if self.nodes else -np.inf

    @property
    def target(self) -> float:
        """The least value that is better than the incumbent, a little lowered."""
        return (self.value + max(0.999 * self.unit, ROUNDING * abs(self.value))) * (1.0 - ROUNDING)

    def offer(self, queries: BoolArray) -> None:
        """Take a better choice that fits."""
        if self.knapsack.fits(queries) and self.knapsack.value(queries) >= self.value:
            self.queries, self.value = queries, self.knapsack.value(queries)
        self.state.sums[residual_flow.BEST] = self.value

    def begin(self) -> None:
        """Make the first node."""
        state = self.state
        residual_flow.set_price(self.instance, state, self.price)
        bound = residual_nodes.settle(self.instance, state, self.target, FIRST_ROUNDS)
        self._take_found()
        first = self._node(bound, state.out, state.paid, float(state.sums[residual_flow.PRICE]))
        self.nodes += [first] if bound >= self.target else []

    def expand(self, node: DeepNode) -> DeepNode | None:
        """Decide one element of a node both ways; return the child at hand if it is to be next: it is not kept yet."""
        out = np.unpackbits(node.out, count=self.knapsack.queries).view(np.bool_)
        paid = np.unpackbits(node.paid, count=self.knapsack.elements).view(np.bool_)
        outs, paids, found = self.outs, self.paids, self.found
        given = (out, paid, node.price, self.target, ROUNDS)
        residual_nodes.expand(self.instance, self.state, *given, outs, paids, found)
        self._take_found()
        first, second = (
            self._node(min(float(found[side, 0]), node.bound), outs[side], paids[side], float(found[side, 1]))
            for side in range(2)
        )
        if first.bound >= self.target:
            heapq.heappush(self.nodes, first)
        top = max(self.bound, second.bound)
        if second.bound >= max(self.target, top - AT_ONCE * (top - self.value)):
            return second
        if second.bound >= self.target:
            heapq.heappush(self.nodes, second)
        return None

    def _node(self, bound: float, out: BoolArray, paid: BoolArray, price: float) -> DeepNode:
        self.made += 1
        return DeepNode(-bound, self.made, np.packbits(out), np.packbits(paid), price)

    def _take_found(self) -> None:
        if self.state.counts[0]:
            self.state.counts[0] = 0
            self.offer(self.knapsack.whole(self.state.best.copy()))


def deepen(tree: DeepTree, budget: Budget) -> None:
    """Decide elements in the node with the largest bound, until none is left or the work ends.

    An iteration of the budget is one node. Same knapsack, incumbent and iterations give the same tree. Exponential in
    the worst case; the tree's bound holds whenever it ends.
    """
    left = np.inf if budget.iterations is None else budget.iterations
    if not tree.made:
        tree.begin()
    at_hand: DeepNode | None = None
    while (tree.nodes or at_hand) and not budget.over() and left > 0 and len(tree.nodes) < MOST_NODES:
        node = at_hand or heapq.heappop(tree.nodes)
        left -= 1
        at_hand = tree.expand(node) if node.bound >= tree.target else None
    if at_hand:
        heapq.heappush(tree.nodes, at_hand)


def flow_instance(knapsack: SetUnionKnapsack) -> ResidualFlowInstance:
    """Return a knapsack as plain arrays."""
    scale = residual_flow.AMOUNTS / 2.0 ** np.ceil(np.log2(max(float(knapsack.priority.sum()), 1e-200)))
    return ResidualFlowInstance(
        priority=knapsack.priority,
        weight=knapsack.weight,
        amount=np.ceil(knapsack.priority * scale).astype(np.int64),
        start=knapsack.start.astype(np.int32),
        member=knapsack.member.astype(np.int32),
        row=knapsack.row.astype(np.int32),
        by_start=knapsack.by_element[0].astype(np.int32),
        by_entry=np.argsort(knapsack.member, kind="stable").astype(np.int32),
        limit=float(knapsack.limit),
        scale=float(scale),
    )


def no_flow(instance: ResidualFlowInstance) -> ResidualFlow:
    """Return the node in which nothing is decided, at no price."""
    queries, elements, entries = len(instance.priority), len(instance.weight), len(instance.member)
    return ResidualFlow(
        flow=np.zeros(entries, dtype=np.int64),
        excess=instance.amount.copy(),
        residual=np.zeros(elements, dtype=np.int64),
        capacity=np.zeros(elements, dtype=np.int64),
        out=np.zeros(queries, dtype=np.bool_),
        paid=np.zeros(elements, dtype=np.bool_),
        level=np.zeros(queries + elements, dtype=np.int32),
        current=np.zeros(queries + elements, dtype=np.int32),
        queue=np.zeros(queries + elements + 2, dtype=np.int32),
        sums=np.array([0.0, instance.limit, 0.0, 0.0, 0.0]),
        counts=np.zeros(1, dtype=np.int64),
        best=np.zeros(queries, dtype=np.bool_),
        mark=np.zeros(queries, dtype=np.int32),
        rank=np.zeros(elements),
    )

"""Products of what circuits keep intact, as linear rows over 0/1 tasks: exact where all products fit.

Tasks whose replicas are of use only together are one choice of the program (:func:`used_together`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import Circuit, CircuitNode
from ftplan.planners.fidelity_circuit.tables import Block


def used_together(circuit: Circuit, tasks: int) -> IntArray:
    """Return the bundle of each task, named by a task of it, shape (tasks,).

    A task that alone fills an input stream of another task, and feeds nothing else, is of use only with that task; and
    that task keeps nothing without it. So some optimum takes both or neither. Linear in the circuit.
    """
    bundle = np.arange(tasks, dtype=np.int64)
    feeds = np.zeros(len(circuit.nodes), dtype=np.int64)
    for node in circuit.nodes:
        for slot in node.slots:
            feeds[list(slot)] += 1
    for node in reversed(circuit.nodes):  # what a node feeds is named before it
        own = _task(node)
        if own is None:
            continue
        for slot in node.slots:
            if len(slot) == 1:
                (tail,) = slot
                feeder = _task(circuit.nodes[tail])
                if feeder is not None and feeds[tail] == 1:
                    bundle[feeder] = bundle[own]
    return bundle


def _task(node: CircuitNode) -> int | None:
    """Return the task of a node that is one task and may fail."""
    if node.base > 0.0 or len(node.blocks) != 1 or node.blocks[0].most != 1:
        return None
    return int(node.blocks[0].tasks[0])


Term = tuple[int, float]  # variable and factor


@dataclass(slots=True, eq=False)
class ProductRows:
    """Variables 0..T-1 are tasks (0 or 1), -1 is the number 1, the others products between 0 and 1.

    Each row says that a product is at most a sum. At 0/1 tasks the largest products that the rows allow are the true
    ones, or more where some were not expanded.
    """

    variables: int
    left: list[int] = field(default_factory=list)
    right: list[list[Term]] = field(default_factory=list)


def rows(
    circuits: list[Circuit],
    tasks: int,
    most: int,
    budget: Budget,
    live: Sequence[IntArray] | None = None,
) -> tuple[ProductRows, list[int]]:
    """Return the rows of some circuits over the same tasks, and the variable of each circuit's output.

    *live* gives for each circuit the variables, of *tasks*, that say which tasks live; by default their numbers.

    A product of nodes is expanded at the last of them in topological order: what its tasks keep times the product of
    its slots and the rest. With independent inputs there are no products but of single nodes. Beyond *most* variables
    a product is only held to be no more than each factor. Raises :class:`OutOfTime`.
    """
    products = ProductRows(tasks)
    variables = live or [np.arange(tasks)] * len(circuits)
    pairs = zip(circuits, variables, strict=True)
    return products, [_ProductExpansion(each, products, most, budget, own).output() for each, own in pairs]


class _ProductExpansion:
    def __init__(self, circuit: Circuit, products: ProductRows, most: int, budget: Budget, live: IntArray) -> None:
        self.rows, self.most, self.budget, self.live = products, most, budget, live
        self.nodes: list[CircuitNode] = []
        number: list[int] = []
        for node in circuit.nodes:
            self.budget.check()
            slots = [{number[k]: w for k, w in slot.items()} for slot in node.slots]
            if len(slots) > 1 or (slots and sum(block.most for block in node.blocks) > 1):
                # each slot becomes a node before it, so that every other node has sums or products, not both
                firsts = range(len(self.nodes), len(self.nodes) + len(slots))
                self.nodes += [CircuitNode(1.0, [], [slot]) for slot in slots]
                slots = [{k: 1.0} for k in firsts]
            number.append(len(self.nodes))
            self.nodes.append(CircuitNode(node.base, node.blocks, slots))
        self.known: dict[tuple[int, ...], int] = {}
        self.waiting: list[tuple[int, ...]] = []

    def output(self) -> int:
        """Return the variable of the last node, and add all rows that it needs."""
        last = self._product((len(self.nodes) - 1,))
        while self.waiting:
            self.budget.check()
            self._expand(self.waiting.pop())
        return last

    def _new(self) -> int:
        self.rows.variables += 1
        return self.rows.variables - 1

    def _row(self, left: int, right: list[Term]) -> None:
        self.rows.left.append(left)
        self.rows.right.append(right)

    def _product(self, key: tuple[int, ...]) -> int:
        """Return the variable of a product of nodes."""
        key = tuple(sorted(key))
        if key not in self.known:
            self.known[key] = self._new()
            self.waiting.append(key)
        return self.known[key]

    def _expand(self, key: tuple[int, ...]) -> None:
        """Hold a product to what its last node keeps, times its slots and the rest."""
        variable = self.known[key]
        *rest, last = key
        if rest:
            for factor in sorted(set(key)):
                self._row(variable, [(self._product((factor,)), 1.0)])
            if self.rows.variables >= self.most:
                return
        node = self.nodes[last]
        tasks = [(int(self.live[t]), float(s)) for b in node.blocks for t, s in zip(b.tasks, _shares(b), strict=True)]
        fed = self._fed(node, rest)
        if len(tasks) == 1 and node.base == 0.0:
            task, kept = tasks[0]
            self._row(variable, [(task, kept)])
            if fed is not None:
                self._row(variable, [(k, kept * weight) for k, weight in fed])
        elif not tasks:
            if fed is not None:
                self._row(variable, [(k, node.base * weight) for k, weight in fed])
            elif node.base < 1.0:
                self._row(variable, [(-1, node.base)])
        else:
            self._add_operator(variable, node.base, tasks, fed)

    def _fed(self, node: CircuitNode, rest: list[int]) -> list[Term] | None:
        """Return the product of a node's slots and some other nodes as a sum; None where there are none."""
        if len(node.slots) == 1:
            return [(self._product((*rest, k)), weight) for k, weight in node.slots[0].items()]
        key = (*rest, *(k for slot in node.slots for k in slot))
        return [(self._product(key), 1.0)] if key else None

    def _add_operator(self, variable: int, base: float, tasks: list[tuple[int, float]], fed: list[Term] | None) -> None:
        """Hold a product to the sum over an operator's tasks, all fed alike."""
        if fed is None:
            self._row(variable, [*tasks, (-1, base)])
            return
        right = [(k, base * weight) for k, weight in fed] if base > 0.0 else []
        for task, kept in tasks:
            own = self._new()
            self._row(own, [(task, 1.0)])
            self._row(own, fed)
            right.append((own, kept))
        self._row(variable, right)


def _shares(block: Block) -> list[float]:
    """Return what each task of a block keeps."""
    return [float(x) for x in np.diff(block.kept)]

"""What bytes depend on: who holds which positions now, what each node may own, and how many copies are walked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.algorithms.orders.zone_order import width_of
from ftplan.planners.peer_ring.algorithms.partition import sums_around
from ftplan.planners.peer_ring.moves import held_at, moved_bytes
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class RingChange:
    """A ring in place, and which others may follow it."""

    problem: RingProblem
    capped: bool = False  # nodes must be able to take what they own (rule ``capacity``)

    @cached_property
    def current(self) -> Ring:
        """The ring in place."""
        assert self.problem.current is not None
        return self.problem.current

    @cached_property
    def walk(self) -> int:
        """Copies that lie on neighbours; with tiered copies the last one does not."""
        return width_of(self.problem)

    @cached_property
    def held(self) -> IntArray:
        """Nodes that hold each position now, (M, r + 1)."""
        return held_at(self.problem, self.current)

    @cached_property
    def holds(self) -> tuple[IntArray, IntArray]:
        """Positions that each node holds now: where they begin, (N + 1,), and all of them by node."""
        size, copies = self.held.shape
        node, place = self.held.ravel(), np.repeat(np.arange(size), copies)
        at = np.argsort(node, kind="stable")
        return np.searchsorted(node[at], np.arange(len(self.problem.nodes) + 1)), place[at]

    @cached_property
    def sums(self) -> FloatArray:
        """Load up to each position over four turns, (4 M + 1,)."""
        return sums_around(self.problem.load, 4)

    @cached_property
    def most(self) -> FloatArray:
        """Most load that each node can take, (N,); what it has now is never too much."""
        problem = self.problem
        if not self.capped:
            return np.full(len(problem.nodes), np.inf)
        room = problem.overload * problem.capacity * (1.0 + ROUNDING) - problem.foreign
        return np.maximum(room, problem.loads(self.current))

    @cached_property
    def lacking(self) -> float:
        """Bytes that any ring moves: for each position, copies beyond those that members hold now."""
        kept = self.problem.members[self.held].sum(axis=1)
        return float((np.maximum(self.walk - kept, 0) * self.problem.worth).sum())

    @cached_property
    def lacking_last(self) -> float:
        """Bytes that any ring moves for last copies on a tier: what no node of the tier holds now."""
        if not self.problem.tier.any():
            return 0.0
        return float(self.problem.worth[~self.problem.tier[self.held].any(axis=1)].sum())

    def limits(self, order: IntArray, load: float) -> FloatArray:
        """Return the most load of each slot where the largest load over the fair share is *load*, rounding apart."""
        fair = self.problem.fair[order]
        even = np.full(len(order), np.inf) if np.isinf(load) else load * fair
        span = float(self.sums[len(self.problem.load)]) * 1e-13  # what summing up in another order may change
        return np.asarray(np.minimum(even, self.most[order]) * (1.0 + ROUNDING) + span)

    def slots(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions that the node of each slot holds now: where they begin, (n + 1,), and all of them."""
        begin, atom = self.holds
        sizes = (begin[1:] - begin[:-1])[order]
        parts = [atom[begin[node] : begin[node + 1]] for node in order.tolist()]
        empty = np.zeros(0, dtype=np.int64)
        return np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([empty, *parts])

    def bytes(self, ring: Ring) -> float:
        """Return what travels to the ring: the worth of all copies on nodes that hold none now."""
        return moved_bytes(self.problem, self.current, ring)


def plain_or_compiled(kernel: Any, steps: float) -> Any:
    """Return the kernel, or for few steps the function itself."""
    return kernel if pays_to_compile(steps) else kernel.plain

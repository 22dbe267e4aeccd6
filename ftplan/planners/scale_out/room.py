"""Cores for new tasks beside the old ones, in two waves: whether given parallelisms fit, and on which nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.metrics.scaling_problem import ScalingProblem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.choices import Sizes

#: Nodes of the tasks of operators, by their numbers.
Placed = dict[int, tuple[int, ...]]


class Room:
    """What is free for the new tasks of a problem."""

    def __init__(self, problem: ScalingProblem) -> None:
        self.problem = problem
        self.cpu: FloatArray = np.array([item.cpu for item in problem.operators])
        self.now: IntArray = np.array([item.parallelism for item in problem.operators], dtype=np.int64)
        self.total = float(self.cpu @ self.now)
        limits = problem.limits
        most = [limits.free_cpu, None if limits.quota is None else limits.quota - self.total]
        #: Cores that the new tasks of the first wave may take, all together; inf for no limit.
        self.cores = min((value for value in most if value is not None), default=np.inf)

    def short(self, sizes: Sizes, more: float = 0.0) -> bool:
        """Return whether new tasks need more cores than there are with *more*, nodes aside."""
        needed = sum(self.cpu[i] * tasks for i, tasks in sizes.items())
        return bool(needed > self.cores + more + ROUNDING * max(1.0, abs(self.cores) if self.cores < np.inf else 0.0))

    def freed(self, smaller: Sizes) -> float:
        """Return the cores that are free once operators are scaled in."""
        return float(sum(self.cpu[i] * (self.now[i] - tasks) for i, tasks in smaller.items()))

    def placed(self, smaller: Sizes, others: Sizes) -> Placed | None:
        """Return nodes for all tasks, () each without a cluster; None where cores are short, or no nodes were seen.

        Large tasks first, each on a node that holds checkpoints of its operator, or that has most left; where that
        fails on the node with least left that has room. Cost O(tasks x nodes).
        """
        if self.short(smaller) or self.short(others, self.freed(smaller)):
            return None
        if not self.problem.nodes:
            return dict.fromkeys((*smaller, *others), ())
        for spread in (True, False):
            free = self.problem.free.astype(np.float64).copy()
            placed = self._put(smaller, free, spread)
            if placed is None:
                continue
            for i in smaller:
                np.add.at(free, np.array(self.problem.now[i], dtype=np.int64), self.cpu[i])
            rest = self._put(others, free, spread)
            if rest is not None:
                return {**placed, **rest}
        return None

    def _put(self, sizes: Sizes, free: FloatArray, spread: bool) -> Placed | None:
        """Return nodes for the tasks of one wave, and take their cores from *free*, (N,)."""
        placed: Placed = {}
        for i in sorted(sizes, key=lambda i: (-self.cpu[i], i)):
            nodes: list[int] = []
            held = self._held(i)
            count = np.zeros(len(free))
            for _ in range(sizes[i]):
                fits = free >= self.cpu[i] - ROUNDING * max(1.0, self.cpu[i])
                if not fits.any():
                    return None
                if spread:
                    rank = np.lexsort((-free, count, -(held / (count + 1.0)), ~fits))
                    node = int(rank[0])
                else:
                    node = int(np.argmin(np.where(fits, free, np.inf)))
                nodes.append(node)
                free[node] -= self.cpu[i]
                count[node] += 1.0
            placed[i] = tuple(nodes)
        return placed

    def _held(self, operator: int) -> FloatArray:
        """Return the bytes of an operator's state of which each node holds checkpoints, (N,)."""
        item = self.problem.operators[operator]
        return _bytes_on(zip(item.copies, item.state_bytes.tolist(), strict=False), len(self.problem.nodes))


def _bytes_on(groups: Iterable[tuple[tuple[int, ...], float]], nodes: int) -> FloatArray:
    held = np.zeros(nodes)
    for copies, size in groups:
        for node in copies:
            held[node] += size
    return held

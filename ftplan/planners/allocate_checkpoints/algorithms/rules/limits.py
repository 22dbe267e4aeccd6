"""What couples the units: load balance, number of copies and memory, as rows of one shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.rules.failover import Failover, failover_of
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules


@dataclass(frozen=True, eq=False)
class Limits:
    """``lower[r, i] <= sum of weight[r, u] over copies of u on node i <= upper[r, i]`` for each resource r.

    Shapes: weight (R, U), lower and upper (R, N); infinite where there is no limit. The tolerance of the checker
    (relative 1e-9) is within the limits already. ``failover`` limits the first copies besides, None: it does not.
    """

    names: tuple[str, ...]  # (R,) "balance" | "count" | "memory"
    weight: FloatArray
    lower: FloatArray
    upper: FloatArray
    failover: Failover | None = None

    def used(self, copies: IntArray) -> FloatArray:
        """Return how much of each resource the copies (U, c) take on each node, shape (R, N)."""
        nodes, slots = self.lower.shape[1], copies.shape[1]
        flat = copies.ravel()
        rows = [np.bincount(flat, np.repeat(weight, slots), nodes) for weight in self.weight]
        return np.array(rows, dtype=np.float64).reshape(len(self.names), nodes)

    def kept(self, copies: IntArray) -> bool:
        """Return whether the copies (U, c) keep all limits, failover with the first copy in column 0."""
        if self.failover is not None and not self.failover.kept(copies):
            return False
        used = self.used(copies)
        return bool(np.all(used <= self.upper) and np.all(used >= self.lower))


def fair_loads(problem: CheckpointProblem) -> FloatArray:
    """Return the fair share of the copies' load on each node, in load units, shape (N,)."""
    return np.asarray(problem.copies * problem.load.sum() * problem.share)


def most_copies(problem: CheckpointProblem, even: bool) -> FloatArray:
    """Return the largest number of copies on each node: in proportion to cpu, or the same everywhere, shape (N,)."""
    share: FloatArray = problem.accepts / max(int(problem.accepts.sum()), 1) if even else problem.share
    return np.asarray(np.ceil(problem.copies * int(problem.size.sum()) * share * (1 - NOISE)), dtype=np.float64)


def limits_of(problem: CheckpointProblem, rules: CheckpointRules) -> Limits:
    """Return the limits that the rules put on a problem: a row for balance or count, a row for memory."""
    nodes, rows = len(problem.nodes), []
    nothing = np.full(nodes, -np.inf)
    if not isinstance(rules.balance, str):
        fair = fair_loads(problem)
        slack = ROUNDING * fair
        low = (1 - rules.balance) * fair - slack
        high = np.where(problem.accepts, (1 + rules.balance) * fair + slack, np.inf)
        rows.append(("balance", problem.load, np.where(low > 0, low, -np.inf), high))
    elif rules.balance != "none":
        most = np.where(problem.accepts, most_copies(problem, rules.balance == "even-count"), np.inf)
        rows.append(("count", problem.size.astype(np.float64), nothing, most))
    if rules.memory:
        free = problem.memory_left + ROUNDING * np.nan_to_num(problem.memory_mb) * MB
        rows.append(("memory", problem.state, nothing, free))

    def stacked(k: int, width: int) -> FloatArray:
        return np.array([row[k] for row in rows], dtype=np.float64).reshape(len(rows), width)

    failover = None if rules.failover_limit is None else failover_of(problem, rules.failover_limit)
    names = tuple(str(row[0]) for row in rows)
    return Limits(names, stacked(1, problem.load.size), stacked(2, nodes), stacked(3, nodes), failover)

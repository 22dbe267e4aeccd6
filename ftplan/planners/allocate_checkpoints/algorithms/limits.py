"""What couples the units: load balance, number of copies and memory, as rows of one shape; and the failover rule.

Failover says what each survivor may take over after each loss. The first copy of a unit, column 0 of the copies (U,
c), takes its key groups over. R1 (R3 with zones) keeps it off the node (the zone) of the primary, so after any loss
the first copy of what was lost is alive: the others do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.availability import load_ratios, shares_after
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules


@dataclass(frozen=True, eq=False)
class Failover:
    """``sum of load[u] over units u with loss[u] = l whose first copy is on node i <= upper[l, i]``.

    Shapes: loss, load (U,), own (N,), fair and upper (L, N). A loss is a node or a zone; ``own`` is the load of a
    node's primaries, ``fair`` 0 where a node is down or has no share. ``upper`` is infinite where a node is down and
    negative where a survivor's own primaries exceed the limit. The checker's tolerance is within.
    """

    loss: IntArray
    load: FloatArray
    own: FloatArray
    fair: FloatArray
    upper: FloatArray

    def taken(self, first: IntArray) -> FloatArray:
        """Return what each survivor takes over after each loss, shape (L, N), with the first copies (U,)."""
        losses, nodes = self.fair.shape
        flat: FloatArray = np.bincount(self.loss * nodes + first, self.load, losses * nodes).astype(np.float64)
        return flat.reshape(losses, nodes)

    def satisfied_by(self, copies: IntArray) -> bool:
        """Return whether the copies (U, c) keep the rule."""
        return bool(np.all(self.taken(copies[:, 0]) <= self.upper))

    def headroom(self, copies: IntArray) -> float:
        """Return the smallest limit that the copies (U, c) keep; infinite where a node without a share has load."""
        return float(ratios(self, self.taken(copies[:, 0])).max(initial=0.0))


def failover_of(problem: CheckpointProblem, limit: float) -> Failover:
    """Return the rule for a limit: at most *limit* times the fair share on every survivor of every loss."""
    nodes = len(problem.nodes)
    names, loss_of_node = np.unique(problem.domain, return_inverse=True)
    loss_of_node = np.asarray(loss_of_node.reshape(-1), dtype=np.int64)
    own = np.zeros(nodes)
    np.add.at(own, problem.home, problem.load)
    counts = problem.accepts | (np.bincount(problem.home, minlength=nodes) > 0)
    fair = float(problem.load.sum()) * shares_after(loss_of_node, names.size, problem.cpu, counts)
    down = loss_of_node[None, :] == np.arange(names.size)[:, None]
    with np.errstate(invalid="ignore"):
        most = np.where(fair > 0, limit * fair * (1 + ROUNDING), 0.0)
    upper = np.where(down, np.inf, most - own[None, :])
    return Failover(loss_of_node[problem.home], problem.load, own, fair, upper)


def ratios(failover: Failover, taken: FloatArray) -> FloatArray:
    """Return the load of each survivor over its fair share after each loss, shape (L, N); 0 where it is down."""
    return load_ratios(failover.own, taken, failover.fair, ~np.isposinf(failover.upper))


def most_takeover(failover: Failover) -> FloatArray:
    """Return an upper bound of the load of all first copies on each node, shape (N,).

    After each loss a node takes at most what is lost and what the limit leaves, and nothing below the lightest unit.
    """
    losses = failover.fair.shape[0]
    loaded = failover.load > 0
    lost = np.bincount(failover.loss, failover.load, losses)
    lightest = np.full(losses, np.inf)
    np.minimum.at(lightest, failover.loss[loaded], failover.load[loaded])
    most = np.minimum(np.maximum(failover.upper, 0.0), lost[:, None])
    return np.asarray(np.where(failover.upper < lightest[:, None], 0.0, most).sum(axis=0))


def loss_name(problem: CheckpointProblem, loss: int) -> str:
    """Return the selector of a loss."""
    domains = np.unique(problem.domain)
    return problem.loss_names[int(np.flatnonzero(problem.domain == domains[loss])[0])]


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

    def satisfied_by(self, copies: IntArray) -> bool:
        """Return whether the copies (U, c) keep all limits, failover with the first copy in column 0."""
        if self.failover is not None and not self.failover.satisfied_by(copies):
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

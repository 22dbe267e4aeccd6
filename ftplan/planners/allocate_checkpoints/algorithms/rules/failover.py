"""The failover rule as arrays: what each survivor may take over after each loss.

The first copy of a unit, column 0 of the copies (U, c), takes its key groups over. R1 (R3 with zones) keeps it off the
node (the zone) of the primary, so after any loss the first copy of what was lost is alive: the others do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.availability import load_ratios, shares_after
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem


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

    def kept(self, copies: IntArray) -> bool:
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

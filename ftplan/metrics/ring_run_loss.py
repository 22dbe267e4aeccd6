"""The probability that a ring with one token a node loses something: that more than r neighbours are down.

Shapes: B states of zones, n nodes in the order of their tokens, C = r + 1.
"""

from __future__ import annotations

import numpy as np

from ftplan.metrics.ring import Ring
from ftplan.metrics.ring_problem import RingProblem
from ftplan.metrics.ring_zone_states import fatal_masks, own_probabilities, zone_states
from ftplan.model.topology import BoolArray, FloatArray

#: Numbers that all steps of the dynamic programming may change.
WORK = 2e8
#: Numbers that one step changes at most.
AT_ONCE = 3e5


def run_loss(problem: RingProblem, ring: Ring) -> tuple[float, float] | None:
    """Return bounds of the probability of loss of a ring with one token a node and no tiers, equal where exact.

    By :func:`runs_lost` for each state of the zones in which loss is not certain. None where r is so large that this
    is out of reach: O(n C^2) for each state.
    """
    copies = problem.replication + 1
    each = 2.0 * len(ring.node) * copies**2
    if each > WORK:
        return None
    down, zones = own_probabilities(problem, ring.nodes)
    keeps = np.bincount(ring.owner(problem.position), minlength=len(ring.token)) > 0
    rows = ring.holders(problem.replication)[keeps]
    fatal = fatal_masks(rows, problem.zone, down, zones)
    states = zone_states(problem.zone_down[zones], fatal, max(1, int(WORK / each)))
    size = max(1, int(AT_ONCE / (2 * copies**2)))
    of_zone = np.searchsorted(zones, problem.zone[ring.node])
    branched = np.isin(problem.zone[ring.node], zones)
    low = states.certain
    for begin in range(0, len(states.weight), size):
        failed = states.failed[begin : begin + size]
        p = np.repeat(down[ring.node][None, :], len(failed), axis=0)
        p[:, branched] = np.where(failed[:, of_zone[branched]], 1.0, p[:, branched])
        low += float((states.weight[begin : begin + size] * runs_lost(p, keeps, copies)).sum())
    return min(low, 1.0), min(low + states.left, 1.0)


def runs_lost(down: FloatArray, keeps: BoolArray, copies: int) -> FloatArray:
    """Return the probability that *copies* neighbours are down of which the first owns something, (B,).

    Parameters
    ----------
    down
        (B, n) failure probabilities around the circle, independent; n is at least *copies*.
    keeps
        (n,) whether a node's arc has key groups.

    Notes
    -----
    The state before a node is how many nodes just before it are down, up to r. The circle is closed by beginning in
    each state and counting what ends in the same: for any failures the state at the end does not depend on the one at
    the beginning once a node is up, so that one beginning fits, and only r does if all are down. What has been lost is
    carried on beside what has not: sums have positive terms only, so that a loss of 1e-300 is accurate.
    """
    batch, total = down.shape
    kept = np.zeros((batch, copies, copies))  # by state at the beginning and now
    kept[:, np.arange(copies), np.arange(copies)] = 1.0
    gone = np.zeros_like(kept)
    for k in range(total):
        p = down[:, k, None]
        longer, ever = p * kept[..., -1], p * gone[..., -1]  # a run of more than r
        kept, gone = _stepped(kept, p), _stepped(gone, p)
        gone[..., -1] += ever
        if keeps[k - copies + 1]:
            gone[..., -1] += longer
        else:
            kept[..., -1] += longer
    return np.asarray(np.trace(gone, axis1=1, axis2=2))


def _stepped(before: FloatArray, p: FloatArray) -> FloatArray:
    """Return the states after a node that is down with probability *p*, (B, 1), without what was in the last state."""
    after = np.empty_like(before)
    after[..., 1:] = p[..., None] * before[..., :-1]
    after[..., 0] = (1.0 - p) * before.sum(axis=2)
    return after

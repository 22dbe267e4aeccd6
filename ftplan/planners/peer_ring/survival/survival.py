"""How likely it is that a peer ring loses nothing within one repair window, and what it loses on average.

A ring with one token a node loses something where more than r neighbours are down (:func:`run_loss`): a dynamic
program around the circle. With tiered copies that r of them are, and the node that holds the last copy.

Shapes: B states of zones, n nodes in the order of their tokens, C neighbours that hold an arc, V nodes of the tier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets, copysets, expected_lost_bytes
from ftplan.planners.peer_ring.survival.set_bounds import Loss
from ftplan.planners.peer_ring.survival.set_loss import set_loss, with_samples
from ftplan.planners.peer_ring.survival.zone_states import fatal_masks, own_probabilities, zone_states

#: Numbers that all steps of the dynamic programming may change, and about those that one step changes.
MOST_CHANGES, MOST_CHANGES_AT_ONCE = 1e8, 1e5


def run_loss(problem: RingProblem, ring: Ring) -> tuple[float, float] | None:
    """Return bounds of the probability of loss of a ring with one token a node, equal where exact.

    By :func:`runs_lost` for each state of the zones, and of the nodes that hold last copies, in which loss is not
    certain. None where r is so large that this is out of reach: O(n C^2) for each state.
    """
    if problem.replication == 0:  # then the tier of a ring in place does not count
        ring = Ring(ring.token, ring.node)
    copies = problem.replication + (ring.tier is None)
    each = 2.0 * len(ring.node) * copies**2
    if each > MOST_CHANGES:
        return None
    keeps = np.bincount(ring.owner(problem.position), minlength=len(ring.token)) > 0
    last = None if ring.tier is None else (ring.tier[keeps], np.unique(ring.tier[keeps]))
    tier = np.zeros(0, dtype=np.int64) if last is None else last[1]
    down, zones = own_probabilities(problem, np.union1d(ring.nodes, tier))
    rows = Ring(ring.token, ring.node).holders(copies - 1)[keeps]
    fatal = fatal_masks(rows, problem.zone, down, zones, last)
    chances = np.concatenate([problem.zone_down[zones], down[tier]])
    states = zone_states(chances, fatal, max(1, int(MOST_CHANGES / each)))
    size = max(1, int(MOST_CHANGES_AT_ONCE / (2 * copies**2)))
    place = np.full(len(problem.zones), -1, dtype=np.int64)
    place[zones] = np.arange(len(zones))
    holder = None if ring.tier is None else np.searchsorted(tier, ring.tier).clip(max=len(tier) - 1)
    low = states.certain
    for begin in range(0, len(states.weight), size):
        failed = np.ascontiguousarray(states.failed[begin : begin + size].T)
        own, beside = failed[len(zones) :], place[problem.zone[tier]]
        gone = own | np.where(beside[:, None] >= 0, failed[beside], False)
        fatal_last = None if holder is None else (holder, gone)
        lost = runs_lost(down[ring.node], place[problem.zone[ring.node]], failed, keeps, copies, fatal_last)
        low += float((states.weight[begin : begin + size] * lost).sum())
    return min(low, 1.0), min(low + states.left, 1.0)


def runs_lost(
    down: FloatArray,
    zone: IntArray,
    failed: BoolArray,
    keeps: BoolArray,
    copies: int,
    last: tuple[IntArray, BoolArray] | None = None,
) -> FloatArray:
    """Return the probability that *copies* neighbours are down of which the first owns something, (B,).

    Parameters
    ----------
    down
        (n,) failure probabilities around the circle, independent; n is at least *copies*.
    zone
        (n,) zone of each node, -1 for those that fail alone.
    failed
        (Z, B) zones that have failed, with all their nodes.
    keeps
        (n,) whether a node's arc has key groups.
    last
        (n,) which node of the tier holds the last copy of an arc, and (V, B) which of these are down; None without.

    Notes
    -----
    The state before a node is how many nodes just before it are down, up to r. The circle is closed by beginning in
    each state and counting what ends in the same: for any failures the state at the end does not depend on the one at
    the beginning once a node is up, so that one beginning fits, and only r does if all are down. What has been lost is
    carried on beside what has not: sums have positive terms only, so that a loss of 1e-300 is accurate.
    """
    batch = failed.shape[1]
    chance = np.zeros((copies, 2, copies, batch))  # state; not lost, lost; state at the beginning
    chance[np.arange(copies), 0, np.arange(copies)] = 1.0
    for k, own in enumerate(down.tolist()):
        p = np.full(batch, own) if zone[k] < 0 else np.where(failed[zone[k]], 1.0, own)
        up = chance.sum(axis=0) * (1.0 - p)
        longer = chance[-1] * p  # a run of more than r
        for state in range(copies - 1, 0, -1):
            np.multiply(chance[state - 1], p, out=chance[state])
        chance[0] = up
        chance[-1, 1] += longer[1]
        arc = k - copies + 1
        fatal = keeps[arc] if last is None else keeps[arc] & last[1][last[0][arc]]
        chance[-1, 1] += np.where(fatal, longer[0], 0.0)
        chance[-1, 0] += np.where(fatal, 0.0, longer[0])
    return np.asarray(np.trace(chance[:, 1]))


def loss(problem: RingProblem, ring: Ring, sets: Copysets | None = None, seed: int = 0) -> Loss:
    """Return the probability that all holders of some key group are down within one repair window.

    Nodes and zones fail independently; a node is down if it or its zone fails. One token a node: dynamic programming
    around the circle ([Kumbhare2015], VII) for each state of the zones that may fail and of the nodes that hold tiered
    copies, exact up to about 20 of these, else between proven bounds or by samples. Virtual nodes: see
    :func:`ftplan.planners.peer_ring.survival.set_loss.set_loss`.
    """
    sets = sets or copysets(problem, ring)
    found = run_loss(problem, ring) if ring.simple else None
    proven = Loss.between(*found) if found is not None else None
    if proven is None or (ring.tier is not None and not proven.close):
        return set_loss(problem, sets, seed)
    return with_samples(problem, sets, proven, seed)


def survival(problem: RingProblem, ring: Ring, seed: int = 0) -> dict[str, Any] | None:
    """Return how likely it is that a ring loses nothing in one repair window; None where no probability is known.

    ``survival``
        1 less ``loss_probability``.
    ``loss_probability``
        Probability that some key group is lost, with ``loss_low`` and ``loss_high``. By ``method``: ``exact`` (all
        three are equal), ``bounded`` (proven bounds, the value is the upper one), or ``sampled`` (an estimate, and
        bounds that hold with 99 %).
    ``expected_lost_bytes``
        Bytes lost on average, exact; null where no state is known.
    """
    if not problem.probabilities_known:
        return None
    sets = copysets(problem, ring)
    found = loss(problem, ring, sets, seed)
    return {
        "survival": 1.0 - found.value,
        "loss_probability": found.value,
        "loss_low": found.low,
        "loss_high": found.high,
        "method": found.method,
        "expected_lost_bytes": expected_lost_bytes(problem, sets) if problem.state_known else None,
    }

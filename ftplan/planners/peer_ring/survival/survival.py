"""How likely it is that a peer ring loses nothing within one repair window, and what it loses on average.

A ring with one token a node loses something where more than r neighbours are down (:func:`run_loss`): a dynamic
program around the circle. With tiered copies that r of them are, and the node that holds the last copy. Any other ring
loses something where a copyset is down as a whole (:func:`set_loss`): over all sets of failed nodes it is exact for few
nodes (:func:`enumerated_loss`); else copysets are branched on, bounded, or sampled.

Shapes: B states of zones, n nodes in the order of their tokens, C neighbours that hold an arc or copies, V nodes of the
tier, S copysets, H nodes that hold something; 2^H sets of failed nodes, as numbers whose bits are nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.measures.loss_probability import union_probability
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets, copysets, expected_lost_bytes
from ftplan.planners.peer_ring.survival.set_bounds import Loss, harris, reduced, sampled_loss, union_bounds
from ftplan.planners.peer_ring.survival.zone_states import fatal_masks, own_probabilities, zone_states

#: Most nodes whose failures are all looked at.
MOST_HOLDERS = 20


def enumerated_loss(problem: RingProblem, sets: IntArray) -> float | None:
    """Return the probability that all nodes of some row of *sets*, (S, C), are down; None for more than 20 nodes.

    Zones are independent, so that the probability of a set of failed nodes is a product over them. Sums have positive
    terms only. Cost O(H 2^H).
    """
    holders = np.unique(sets)
    if len(holders) > MOST_HOLDERS:
        return None
    order = holders[np.argsort(problem.zone[holders], kind="stable")]
    place = np.zeros(len(problem.nodes), dtype=np.int64)
    place[order] = np.arange(len(order))
    fatal = _fatal(np.bitwise_or.reduce(1 << place[sets], axis=1), len(order))
    chance = np.ones(1)
    for zone in np.unique(problem.zone[order]).tolist():
        of_zone = _chances(problem.down[order[problem.zone[order] == zone]], float(problem.zone_down[zone]))
        chance = (of_zone[:, None] * chance[None, :]).reshape(-1)  # later zones have the higher bits
    return min(float(chance[fatal].sum()), 1.0)


def _chances(down: FloatArray, zone_down: float) -> FloatArray:
    """Return the probability of each set of failed nodes of one zone, (2^nodes,)."""
    chance = np.full(1, 1.0 - zone_down)
    for p in down.tolist():
        chance = np.concatenate([chance * (1.0 - p), chance * p])
    chance[-1] += zone_down
    return chance


def _fatal(copysets: IntArray, nodes: int) -> BoolArray:
    """Return which sets of failed nodes hold one of *copysets*, (2^nodes,): supersets of fatal ones are fatal."""
    fatal = np.zeros(1 << nodes, dtype=np.bool_)
    fatal[copysets] = True
    for k in range(nodes):
        with_node = fatal.reshape(-1, 2, 1 << k)
        with_node[:, 1, :] |= with_node[:, 0, :]
    return fatal


#: Most copysets that are branched on, and most zones for that.
MOST_BRANCHED_SETS, MOST_BRANCHED_ZONES = 600, 12
#: Copysets, times 2^C, that are bounded over all states of the zones; and most such states.
MOST_BOUNDED_SETS, MOST_ZONE_STATES = 1e6, 250


def set_loss(problem: RingProblem, sets: Copysets, seed: int) -> Loss:
    """Return how likely it is that some copyset is down: over all failures of up to 20 nodes, else by branching.

    Where that is not exact, the value is the upper of two bounds that are close, or else an estimate by samples.
    """
    exact = enumerated_loss(problem, sets.nodes)
    if exact is not None:
        return Loss.between(exact, exact)
    low, high = _branched(problem, sets)
    if low == high:
        return Loss.between(low, high)
    down, zones = own_probabilities(problem, sets.holders)
    masks = fatal_masks(sets.nodes, problem.zone, down, zones, None)
    most = int(
        min(MOST_ZONE_STATES, max(1.0, MOST_BOUNDED_SETS / len(sets.nodes) / 2.0 ** min(sets.nodes.shape[1], 60)))
    )
    states = zone_states(problem.zone_down[zones], masks, most)
    bounds = np.array([_bounds(sets, np.isin(problem.zone, zones[failed]), down) for failed in states.failed])
    below, above = (states.weight @ bounds.reshape(-1, 2)).tolist()
    proven = Loss.between(
        max(low, states.certain + below), min(high, states.certain + above + states.left, harris(problem, sets.nodes))
    )
    return with_samples(problem, sets, proven, seed)


def _bounds(sets: Copysets, gone: BoolArray, down: FloatArray) -> tuple[float, float]:
    """Return bounds of the probability that some copyset is down where the nodes *gone*, (N,), are with their zones."""
    p = np.where(gone, 1.0, down)
    return union_bounds(reduced(sets.nodes, p), p)


def with_samples(problem: RingProblem, sets: Copysets, proven: Loss, seed: int) -> Loss:
    """Return what is proven, narrowed by samples of nodes and zones where the bounds are far apart."""
    if proven.close:
        return proven
    proven = Loss.between(proven.low, min(proven.high, harris(problem, sets.nodes)))
    found = None if proven.close else sampled_loss(problem, sets.nodes, seed)
    return proven if found is None else proven.narrowed(found)


def _branched(problem: RingProblem, sets: Copysets) -> tuple[float, float]:
    if len(sets.nodes) > MOST_BRANCHED_SETS:
        return 0.0, 1.0
    ids = problem.nodes
    shared = problem.zone_down > 0.0
    of_zone = {ids[k]: str(problem.zone[k]) for k in sets.holders.tolist() if shared[problem.zone[k]]}
    if len(set(of_zone.values())) > MOST_BRANCHED_ZONES:
        return 0.0, 1.0
    found = union_probability(
        frozenset(frozenset(ids[k] for k in row) for row in sets.nodes.tolist()),
        dict(zip(ids, problem.down.tolist(), strict=True)),
        {str(zone): float(problem.zone_down[zone]) for zone in np.flatnonzero(shared).tolist()},
        of_zone,
    )
    return found.low, found.high


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

    *down*: (n,) failure probabilities around the circle, independent; n is at least *copies*. *zone*: (n,) zone of each
    node, -1 for those that fail alone. *failed*: (Z, B) zones that have failed, with all their nodes. *keeps*: (n,)
    whether a node's arc has key groups. *last*: (n,) which node of the tier holds the last copy of an arc, and (V, B)
    which of these are down; None without.

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
    :func:`ftplan.planners.peer_ring.survival.survival.set_loss`.
    """
    sets = sets or copysets(problem, ring)
    found = run_loss(problem, ring) if ring.simple else None
    proven = Loss.between(*found) if found is not None else None
    if proven is None or (ring.tier is not None and not proven.close):
        return set_loss(problem, sets, seed)
    return with_samples(problem, sets, proven, seed)


def survival(problem: RingProblem, ring: Ring, seed: int = 0) -> dict[str, Any] | None:
    """Return how likely it is that a ring loses nothing in one repair window; None where no probability is known.

    Probabilities of failure are of one repair window, see
    :func:`ftplan.planners.peer_ring.repair_window.within_repair_window`.

    ``window_s``
        Seconds of the window; null where they are unknown.
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
        "window_s": problem.repair_window_s,
        "survival": 1.0 - found.value,
        "loss_probability": found.value,
        "loss_low": found.low,
        "loss_high": found.high,
        "method": found.method,
        "expected_lost_bytes": expected_lost_bytes(problem, sets) if problem.state_known else None,
    }

"""The sets of nodes that hold a peer ring's key groups, what is gone when all of some are down, and which zones do it.

A copyset ([Cidon2013]) is a set of nodes that together hold all copies of some key group: data is lost exactly where
all nodes of a copyset fail. Arcs without key groups lose nothing, and count for none. A node without a zone is a zone
of its own. Shapes: S copysets, C copies (replication + 1), T tokens, N nodes, M positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class Copysets:
    """Distinct sets of holders, in order of their nodes, and what each holds of all that is on the ring."""

    nodes: IntArray  # (S, C) nodes by number, ascending in each row
    #: ``key_groups``, ``load``, ``state``: (S,) how many key groups have just these holders, their load per second and
    #: their bytes
    key_groups: IntArray
    load: FloatArray
    state: FloatArray

    @property
    def holders(self) -> IntArray:
        """Return the numbers of all nodes that hold something, ascending."""
        return np.unique(self.nodes)


def copysets(problem: RingProblem, ring: Ring) -> Copysets:
    """Return the distinct sets of nodes that hold key groups of a ring. Cost O(T log T + M)."""
    owner = ring.owner(problem.position)
    arcs, arc = np.unique(owner, return_inverse=True)
    rows = np.sort(ring.holders(problem.replication)[arcs], axis=1)
    nodes, which = np.unique(rows, axis=0, return_inverse=True)
    which, count = which.reshape(-1)[arc], len(nodes)
    groups = np.bincount(problem.atom, minlength=len(problem.position))
    return Copysets(
        nodes,
        np.bincount(which, groups, minlength=count).astype(np.int64),
        np.asarray(np.bincount(which, problem.load, minlength=count), dtype=np.float64),
        np.asarray(np.bincount(which, problem.state, minlength=count), dtype=np.float64),
    )


@dataclass(frozen=True, eq=False)
class LostState:
    """What is gone when some nodes fail together: (M,) positions, (K,) key groups, load per second and bytes."""

    positions: BoolArray
    key_groups: BoolArray
    load: float
    state: float


def lost_state(problem: RingProblem, ring: Ring, dead: BoolArray) -> LostState:
    """Return what nobody holds any more once the nodes of *dead*, (N,), fail at the same time.

    On a ring with one token a node, a run of m dead neighbours loses its first m - r arcs ([Kumbhare2015], VII).
    """
    arcs = np.asarray(dead[ring.holders(problem.replication)].all(axis=1))
    gone = arcs[ring.owner(problem.position)]
    return LostState(gone, gone[problem.atom], float(problem.load[gone].sum()), float(problem.state[gone].sum()))


def probability_of(problem: RingProblem, nodes: IntArray) -> FloatArray:
    """Return the probability that all nodes of each row, (S, C), are down within one repair window, (S,).

    A node is down if it or its zone fails, all independently: over the zones of a row, the product of q + (1 - q) Πp.
    """
    at = np.argsort(problem.zone[nodes], axis=1, kind="stable")
    held = np.take_along_axis(nodes, at, axis=1)
    zone, p = problem.zone[held], problem.down[held]
    whole, members = np.ones(len(nodes)), np.ones(len(nodes))
    for k in range(nodes.shape[1]):
        members = members * p[:, k]
        ends = np.ones(len(nodes), dtype=np.bool_)
        if k + 1 < nodes.shape[1]:
            ends = zone[:, k] != zone[:, k + 1]
        q = problem.zone_down[zone[:, k]]
        whole = np.where(ends, whole * (q + (1.0 - q) * members), whole)
        members = np.where(ends, 1.0, members)
    return np.asarray(whole)


def expected_lost_bytes(problem: RingProblem, sets: Copysets) -> float:
    """Return the bytes that one repair window loses on average: exact, since expectations add up."""
    return float((sets.state * probability_of(problem, sets.nodes)).sum())


class FatalZones(NamedTuple):
    """The fewest zones whose loss loses something, and what each such set of zones takes with it."""

    #: How many zones. One means that a single zone does it.
    size: int
    zones: IntArray  # (F, size) sets of zones by number, ascending in each row and in all
    #: ``key_groups``, ``load``, ``state``: (F,) what the loss of just these zones loses
    key_groups: IntArray
    load: FloatArray
    state: FloatArray


class SingleLosses(NamedTuple):
    """For each node of the ring, (n,): the ring once it failed, neighbours took over and made all copies again."""

    nodes: IntArray  # by number, ascending; those that hold tiered copies own nothing and are not among them
    violations: IntArray  # arcs with two holders in one zone, or with a copy less since too few nodes are left
    fatal_zones: IntArray  # the fewest zones whose loss is fatal then; 0 where the node was the only one


def fatal_zones(problem: RingProblem, sets: Copysets) -> FatalZones:
    """Return the smallest sets of zones that hold a copyset. Cost O(S C log C + S log S).

    No smaller set is fatal, so what such a set loses is what copysets in just these zones hold.
    """
    zones = np.sort(problem.zone[sets.nodes], axis=1)
    first = _first_of_each(zones)
    count = first.sum(axis=1)
    size = int(count.min())
    fewest = count == size
    rows, which = np.unique(zones[fewest][first[fewest]].reshape(-1, size), axis=0, return_inverse=True)
    which = which.reshape(-1)
    return FatalZones(
        size,
        rows,
        np.bincount(which, sets.key_groups[fewest]).astype(np.int64),
        np.asarray(np.bincount(which, sets.load[fewest]), dtype=np.float64),
        np.asarray(np.bincount(which, sets.state[fewest]), dtype=np.float64),
    )


def single_losses(problem: RingProblem, ring: Ring) -> SingleLosses:
    """Return what each single loss leaves of the tolerance of a ring.

    A dead node's tokens go to the next live nodes clockwise, which drop them ([Kumbhare2015], VII): each arc that it
    held gets the next distinct node as its new last backup, if there is one; tiered copies are where those of the token
    that takes over are. Cost O(T C log C + N C).
    """
    near = problem.replication + (ring.tier is None)  # holders clockwise
    spare = len(ring.nodes) > near
    held = Ring(ring.token, ring.node).holders(near if spare else near - 1)
    tier = () if ring.tier is None else (problem.zone[ring.tier],)
    now = _distinct(np.column_stack([problem.zone[held[:, :near]], *tier]))
    zones = np.column_stack([problem.zone[held], *tier])
    after = _distinct(zones)[:, None] - (_multiplicity(zones)[:, :near] == 1)  # without the holder in a column
    held = held[:, :near]
    after[:, 0] = _taken_over(ring, held, now, after)
    copies, count = problem.replication + 1, len(problem.nodes)
    keeps = np.bincount(ring.owner(problem.position), minlength=len(ring.token)) > 0
    violations = _violations(held, ring.node, now < copies, after < copies, count)
    return SingleLosses(ring.nodes, violations[ring.nodes], _fewest(held, keeps, now, after, count)[ring.nodes])


def _taken_over(ring: Ring, held: IntArray, now: IntArray, after: IntArray) -> IntArray:
    """Return distinct zones of each arc once its owner is dead, (T,): those of the next live token, which takes it."""
    total = len(ring.node)
    if len(ring.nodes) == 1:
        return np.zeros(total, dtype=np.int64)
    ends = np.flatnonzero(ring.node != np.roll(ring.node, -1))
    taker = (ends[np.searchsorted(ends, np.arange(total)) % len(ends)] + 1) % total
    also = held[taker] == ring.node[:, None]  # the taker's arc has lost a backup too
    return np.asarray(np.where(also.any(axis=1), (after[taker] * also).sum(axis=1), now[taker]))


def _distinct(zones: IntArray) -> IntArray:
    """Return how many distinct zones each row has, (T,)."""
    return np.asarray(_first_of_each(np.sort(zones, axis=1)).sum(axis=1))


def _violations(held: IntArray, owner: IntArray, now: BoolArray, after: BoolArray, count: int) -> IntArray:
    """Return violations after each loss: those of arcs without the node, and new ones of arcs that it was a backup of.

    The arcs that it owned become part of the next arc, which counts already.
    """
    without = int(now.sum()) - np.bincount(held.reshape(-1), np.repeat(now, held.shape[1]), minlength=count)
    backup = held != owner[:, None]
    return np.asarray(without + np.bincount(held[backup], after[backup], minlength=count)).astype(np.int64)


def _fewest(held: IntArray, keeps: BoolArray, now: IntArray, after: IntArray, count: int) -> IntArray:
    """Return the fewest distinct zones of any arc with key groups after each loss, (count,)."""
    fewest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(fewest, held[keeps].reshape(-1), after[keeps].reshape(-1))
    for zones in range(int(now[keeps].min()), int(now[keeps].max()) + 1):
        arcs = keeps & (now == zones)
        has = np.bincount(held[arcs].reshape(-1), minlength=count)
        fewest = np.where(has < int(arcs.sum()), np.minimum(fewest, zones), fewest)
    return fewest


def _first_of_each(zones: IntArray) -> BoolArray:
    """Return which entries of sorted rows differ from the one before, same shape."""
    first = np.ones(zones.shape, dtype=np.bool_)
    first[:, 1:] = zones[:, 1:] != zones[:, :-1]
    return first


def _multiplicity(zones: IntArray) -> IntArray:
    """Return how often each entry is in its row, same shape."""
    order = np.argsort(zones, axis=1, kind="stable")
    ranked = np.take_along_axis(zones, order, axis=1)
    group = np.cumsum(_first_of_each(ranked), axis=1) - 1 + (np.arange(len(zones)) * zones.shape[1])[:, None]
    many = np.bincount(group.reshape(-1), minlength=zones.size)
    counted = np.empty_like(zones)
    np.put_along_axis(counted, order, many[group], axis=1)
    return counted

"""Who asks whom for help on a ring, and who moves then ([Kumbhare2015], VI).

An overloaded node A asks its clockwise neighbour B to take half its arc. If B may not accept, B first asks its own
neighbour C to take half of B's arc, and so on, once around the ring at most; the first that may accept takes half an
arc from the one before it, that one then from the one before it, and at last B from A. If nobody may, A needs a new
node. Between the thresholds a node neither asks nor accepts.

The paper tells that load swings to and fro without saying what to do about it. Here, a node asks only after ``hold``
windows in a row, and after a move all who took part wait as long.

Shapes: N nodes; queues in seconds of a node's whole capacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import Ring, balanced, clockwise, positions_of_arcs

#: A neighbour helps; nobody can: a new node has to; those asked still wait after a move; nothing to give but all of it.
Outcome = Literal["balance", "scale-out", "wait", "alone"]


@dataclass(frozen=True, eq=False)
class Watch:
    """For how many windows in a row each node has been overloaded, and how many it still waits after a move, (N,)."""

    since: IntArray
    rest: IntArray

    @staticmethod
    def of(nodes: int) -> Watch:
        """Return the watch before the first window."""
        return Watch(np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64))


class Request(NamedTuple):
    """A node that asks for help, and what comes of it."""

    node: int
    outcome: Outcome
    #: Whom it asks, directly or through others, clockwise; the last one decides: it may accept, or it is the one that
    #: can neither accept nor pass on
    asked: tuple[int, ...]
    #: The ring after each move, that of the last one asked first; empty where nothing moves
    rings: tuple[Ring, ...] = ()

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """Who gives half its arc to whom, in the order of ``rings``."""
        chain = (self.node, *self.asked)
        return tuple(zip(chain[-2::-1], chain[:0:-1], strict=True)) if self.rings else ()


def overloaded(queue_s: FloatArray, utilisation: FloatArray, thresholds: RingThresholds) -> BoolArray:
    """Return which nodes have too long a queue and too high a utilisation, both."""
    return np.asarray((queue_s >= thresholds.queue_high_s) & (utilisation >= thresholds.cpu_high))


def may_accept(queue_s: FloatArray, utilisation: FloatArray, thresholds: RingThresholds) -> BoolArray:
    """Return which nodes have a short queue and a low utilisation, both."""
    return np.asarray((queue_s <= thresholds.queue_low_s) & (utilisation <= thresholds.cpu_low))


def fluid_queue(
    owner: IntArray, backlog: FloatArray, arriving: FloatArray, able: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what a window asks of each node, (N,), and what is left of it at each position, (M,), for a fluid queue.

    A node works evenly on all that waits and arrives at its positions; what waits moves with its position.

    *owner*, *backlog*, *arriving*: (M,) node that owns a position, work that waits there, and work that arrives there
    in the window. *able*: (N,) work that a node can do in the window.
    """
    work = backlog + arriving
    asked = np.bincount(owner, work, minlength=len(able))
    left = np.divide(np.maximum(asked - able, 0.0), asked, out=np.zeros(len(able)), where=asked > 0.0)
    return np.asarray(asked), np.asarray(work * left[owner])


def requested(ring: Ring, position: FloatArray, node: int, accepts: BoolArray, free: BoolArray) -> Request:
    """Return what comes of a node's request for help on a ring of one token a node.

    *position*: (M,) ascending; tokens move to one of them. *accepts*, *free*: (N,) who may accept load now, and who
    does not wait after a move. Who waits neither accepts nor passes on; nor can one pass on whose arc holds a single
    position.
    """
    count = np.zeros(len(accepts), dtype=np.int64)
    count[ring.node] = positions_of_arcs(ring, position)
    if count[node] < 2:
        return Request(node, "alone", ())
    others = clockwise(ring, node)
    decide = accepts[others] | ~free[others] | (count[others] < 2)
    last = int(np.argmax(decide)) if decide.any() else len(others) - 1
    asked = tuple(others[: last + 1].tolist())
    if not asked or (free[asked[-1]] and not accepts[asked[-1]]):
        return Request(node, "scale-out", asked)
    if not free[asked[-1]]:
        return Request(node, "wait", asked)
    rings = list[Ring]()
    for giver in (node, *asked)[-2::-1]:
        moved = balanced(ring, position, giver)
        assert moved is not None  # each of them has two positions or more
        rings.append(ring := moved)
    return Request(node, "balance", asked, tuple(rings))


def negotiated(
    ring: Ring,
    position: FloatArray,
    queue_s: FloatArray,
    utilisation: FloatArray,
    thresholds: RingThresholds,
    watch: Watch,
) -> tuple[list[Request], Ring, Watch]:
    """Return all requests of one window, the ring after them, and the watch for the next one.

    The most utilised asks first, ties by number; a node takes part in one move a window. Cost O(n log n) a request.
    """
    high, accepts = overloaded(queue_s, utilisation, thresholds), may_accept(queue_s, utilisation, thresholds)
    since = np.where(high, watch.since + 1, 0)
    free = watch.rest == 0
    moved = np.zeros(len(free), dtype=np.bool_)
    asking = ring.node[(since >= thresholds.hold)[ring.node] & free[ring.node]]
    requests = list[Request]()
    for node in asking[np.lexsort((asking, -utilisation[asking]))].tolist():
        if moved[node]:
            continue
        requests.append(request := requested(ring, position, node, accepts, free & ~moved))
        if request.rings:
            ring = request.rings[-1]
            moved[[node, *request.asked]] = True
    rest = np.where(moved, thresholds.hold, np.maximum(watch.rest - 1, 0))
    return requests, ring, Watch(np.where(moved, 0, since), rest)

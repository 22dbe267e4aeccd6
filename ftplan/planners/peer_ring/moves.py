"""What a change of the ring moves: ranges whose owner or copies change, and what that costs in four ledgers.

The paper counts the take-over only, which needs no transfer since the new owner holds a copy. What it leaves out is in
the ledgers too: what has to travel to an owner that holds none, and to new backups until each arc has r + 1 copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import Event, RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring


class RingMove(NamedTuple):
    """A range of positions whose owner changes, or whose owner stays and whose copies change; nodes by number."""

    event: Event
    #: ``source``, ``target``: owner before and after; the same where only copies change
    source: int
    target: int
    #: ``first``, ``last``: first and last position of the range, by number; first > last where it goes over 0
    first: int
    last: int
    takeover_bytes: float  # what travels before the new owner can go on from a copy that it holds: 0 by the method
    transfer_bytes: float  # what travels before the new owner can go on since it holds no copy
    rereplicate_bytes: float  # what travels to backups that hold no copy yet
    replayed_records: float  # records that the new owner processes again, of mean age of the checkpoint
    lost: bool = False  # nobody who held the range is left: its state is gone


class CopyMove(NamedTuple):
    """Copies of a range that travel to a node that held none; ``source`` is the owner, or the copy that is left."""

    event: Event
    source: int
    target: int
    first: int
    last: int
    bytes: float


def held_at(problem: RingProblem, ring: Ring, at: FloatArray | None = None) -> IntArray:
    """Return the nodes that hold each position, (M, r + 1), or those of *at*: its owner, then its backups.

    Fewer columns where a failure leaves fewer nodes than copies: then every node holds everything. The ring in place
    itself, the very object, has as many backups as it keeps, which need not be r.
    """
    kept = problem.copies_in_place if ring is problem.current else None
    copies = min(problem.replication if kept is None else kept, ring.most_copies)
    return ring.holders(copies)[ring.owner(problem.position if at is None else at)]


def new_copies(before: IntArray, after: IntArray, alive: BoolArray) -> BoolArray:
    """Return which of the holders afterwards, (M, r + 1), held no copy before that is still there, same shape."""
    there = np.where(alive[before], before, -1)
    return np.asarray(~(after[:, :, None] == there[:, None, :]).any(axis=2))


def moved_bytes(problem: RingProblem, before: Ring, after: Ring, dead: BoolArray | None = None) -> float:
    """Return all that travels, transfers and copies, what is lost left out; as ``--max-bytes`` counts it.

    Bytes, or key groups where no state is known. Cost O(M + T r^2), the sums over positions included.
    """
    alive = ~_dead(problem, dead)
    first, old, new = _pieces(problem, before, after)
    kept = alive[old].any(axis=1)
    count = new_copies(old, new, alive).sum(axis=1)
    return float((count * _sums(problem.worth, first))[kept].sum())


def worth_moved(problem: RingProblem, steps: Iterable[RingStep]) -> float:
    """Return what all steps move, transfers and copies, as :attr:`RingProblem.worth` counts it.

    What puts the first tokens on an empty ring moves nothing.
    """
    before, total = problem.current, 0.0
    for step in steps:
        if before is not None:
            total += moved_bytes(problem, before, step.ring)
        before = step.ring
    return total


def with_all_copies(problem: RingProblem, answer: RingAnswer) -> RingAnswer:
    """Return an answer that moves no token as one that makes or drops copies, where other many are in place."""
    if problem.copies_in_place is None or problem.keep or answer.steps:
        return answer
    ring = Ring(answer.ring.token, answer.ring.node, answer.ring.tier)
    return replace(answer, steps=(RingStep("balance" if problem.rebalance else "re-plan", ring),), ring=ring)


def replayed_share_s(problem: RingProblem, event: Event) -> float:
    """Return the seconds of input that a new owner processes again, at the mean age of the last checkpoint.

    N = rate (u + t_det + 2 L_n) after a failure, without detection for a balance; u is the age of the checkpoint. Where
    the checkpoint is the heartbeat, u + t_det is whole intervals and grace for every u.
    """
    setting = problem.setting
    since = setting.age_s + 2.0 * setting.latency_bound_s
    return since + setting.mean_detection_s if event == "failure" else since


def ring_moves(
    problem: RingProblem, before: Ring, after: Ring, event: Event, dead: BoolArray | None = None
) -> tuple[list[RingMove], list[CopyMove]]:
    """Return what a change of the ring moves, ranges in order of their first position, and the copies that travel.

    *dead*: (N,) nodes that are gone, with all that they held; those that leave on notice (scale-in) still send. None
    for none.

    A range is maximal with the same owner before and after, and the same holders before and after. Cost O(M + T r^2).
    """
    gone = _dead(problem, dead)
    start, old, new = _pieces(problem, before, after)
    fresh = new_copies(old, new, ~gone)
    lost = np.asarray(gone[old].all(axis=1))
    concerned = np.asarray(fresh.any(axis=1) | (old[:, 0] != new[:, 0]))
    states, rates = _sums(problem.state, start), _sums(problem.rate, start)
    moves, copies = list[RingMove](), list[CopyMove]()
    replayed_s = replayed_share_s(problem, event)
    for one, other in _runs(np.column_stack([old, new]), concerned):
        at = _span(one, other, len(start))
        first, last = int(start[one]), int((np.append(start[1:], len(problem.position))[other]) - 1)
        state = 0.0 if lost[one] else float(states[at].sum())
        source, target = int(old[one, 0]), int(new[one, 0])
        must_travel = bool(fresh[one, 0]) and source != target
        backups = [int(new[one, k]) for k in range(1, new.shape[1]) if fresh[one, k]]
        moved = source != target
        moves.append(
            RingMove(
                event,
                source,
                target,
                first,
                last,
                0.0,
                state if must_travel else 0.0,
                state * len(backups),
                float(rates[at].sum()) * replayed_s if moved and not lost[one] else 0.0,
                bool(lost[one]),
            )
        )
        giver = next((int(node) for node in old[one] if not gone[node]), target)
        targets = ([target] if must_travel else []) + backups
        copies += [CopyMove(event, giver, node, first, last, state) for node in targets if not lost[one]]
    return moves, copies


def _pieces(problem: RingProblem, before: Ring, after: Ring) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first position, (S,), of each piece that no token of either ring cuts, and who holds it, (S, r + 1).

    Holders are those before and those after. Tokens are far fewer than positions.
    """
    cuts = np.concatenate([[0], *(np.searchsorted(problem.position, ring.token) for ring in (before, after))])
    first = np.unique(cuts[cuts < len(problem.position)])
    at = problem.position[first]
    return first, held_at(problem, before, at), held_at(problem, after, at)


def _sums(worth: FloatArray, first: IntArray) -> FloatArray:
    return np.asarray(np.add.reduceat(worth, first)) if len(first) else np.zeros(0)


def _dead(problem: RingProblem, dead: BoolArray | None) -> BoolArray:
    return np.zeros(len(problem.nodes), dtype=np.bool_) if dead is None else dead


def _span(first: int, last: int, total: int) -> IntArray:
    return np.arange(first, last + 1 if last >= first else last + total + 1) % total


def _runs(keys: IntArray, concerned: BoolArray) -> Sequence[tuple[int, int]]:
    """Return first and last position of each circular run of concerned positions with equal keys, in order."""
    total = len(concerned)
    if total == 0 or not concerned.any():
        return []
    begins = concerned & ((keys != np.roll(keys, 1, axis=0)).any(axis=1) | ~np.roll(concerned, 1))
    starts = np.flatnonzero(begins)
    if starts.size == 0:  # one run is the whole circle
        return [(0, total - 1)]
    ends = concerned & ((keys != np.roll(keys, -1, axis=0)).any(axis=1) | ~np.roll(concerned, -1))
    stops = np.flatnonzero(ends)
    if stops[0] < starts[0]:
        stops = np.roll(stops, -1)
    return list(zip(starts.tolist(), stops.tolist(), strict=True))

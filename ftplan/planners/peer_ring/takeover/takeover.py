"""What a failure does to a ring: who takes over what, when, what follows, and what is lost ([Kumbhare2015], VII).

Shapes: N nodes, M positions, K key groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.metrics import overloaded, utilisations
from ftplan.planners.peer_ring.moves import CopyMove, RingMove, ring_moves
from ftplan.planners.peer_ring.negotiation import Request, requested
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring, without
from ftplan.planners.peer_ring.survival.copysets import LostState, lost_state
from ftplan.planners.peer_ring.takeover.recovery import recovery
from ftplan.planners.peer_ring.tier import apart, weights


@dataclass(frozen=True, eq=False)
class TakeOver:
    """What follows from a failure."""

    after: Ring | None  # the ring once all is taken over; None where no node of it is left
    #: ``moves``, ``copies``: ranges that change their owner or copies, and copies that travel until each arc has r + 1
    #: again
    moves: Sequence[RingMove]
    copies: Sequence[CopyMove]
    #: ``takeovers``, ``lost``: as a plan states them, see :func:`take_over`
    takeovers: list[dict[str, Any]]
    lost: list[dict[str, Any]]


def take_over(problem: RingProblem, ring: Ring, dead: BoolArray | None = None) -> TakeOver:
    """Return what the failure of some nodes, (N,) or those of the question, does to a ring. Cost O(M r + T r).

    In each run of dead neighbours, the next live node clockwise takes over all arcs; with many tokens a node, the next
    live holder of each. ``takeovers`` has an entry for each node that takes over arcs or gets copies:

    ``node``, ``run``, ``arcs``, ``key_groups``
        The node; dead nodes whose tokens it takes over, clockwise; how many arcs, and key groups that are not lost.
    ``load_taken``, ``load``, ``utilisation``
        What its load grows by, what it is then, and with other work over its capacity (null: it has no capacity).
    ``overloaded``, ``follows``, ``asks``
        Whether that is an overload; then ``balance`` where neighbours help, those it asks, the last of which has room,
        or else ``scale-out``; ``nothing`` where all its load is at one position; null where it is not overloaded. With
        many tokens a node, neighbours do not negotiate.
    ``transfer_bytes``, ``replayed_records``, ``ready_s``, ``caught_up_s``
        State that it does not hold yet, and records that it processes again; from the failure until that is done, at
        the mean age of checkpoints, and until it has caught up with its input (null: never).
    ``restore_bytes``, ``restored_s``
        Copies that it gets, so that each arc has r + 1 again, and until when; bytes are null if unknown, the time
        also where so few nodes are left that there are never so many.

    ``lost`` has the key groups that are gone: ``operator``, ``key_group``, the ``node`` that owned it, ``load``,
    ``state_bytes``. Arcs that are lost begin anew, empty, where they are taken over. Where all nodes are dead, nobody
    takes over.
    """
    gone = problem.fails if dead is None else dead
    after = ring_after(problem, ring, gone)
    nobodys = lost_state(problem, ring, gone)
    missing = _lost(problem, ring, nobodys)
    if after is None:
        return TakeOver(None, (), (), [], missing)
    moves, copies = ring_moves(problem, ring, after, "failure", gone)
    sums = _sums(problem, ring, after, nobodys, moves, copies)
    return TakeOver(after, moves, copies, _takeovers(problem, after, _runs(ring, gone), copies, sums), missing)


def ring_after(problem: RingProblem, ring: Ring, dead: BoolArray) -> Ring | None:
    """Return the ring once all is taken over, None where no node of it is left.

    Last copies of dead nodes of the tier go to others of it, outside the zones of the arc's other holders if there are
    such, the one with the least bytes for its cpu first; where none is left, to the next node clockwise.
    """
    after = without(ring, dead)
    if len(after.token) == 0:
        return None
    tier = np.flatnonzero(problem.tier & ~dead)
    if after.tier is None or not dead[after.tier].any():
        return after
    if not tier.size:
        return Ring(after.token, after.node)
    state, weight = problem.arcs(after, problem.state), weights(problem, tier)
    free = apart(problem, Ring(after.token, after.node), tier)
    held = np.array([state[after.tier == node].sum() for node in tier.tolist()])
    chosen = after.tier.copy()
    for token in np.flatnonzero(dead[after.tier]).tolist():
        at = np.lexsort(((held + state[token]) / weight, ~free[token]))[0]
        chosen[token] = tier[at]
        held[at] += state[token]
    return Ring(after.token, after.node, chosen)


def _lost(problem: RingProblem, ring: Ring, gone: LostState) -> list[dict[str, Any]]:
    owner = ring.node[ring.owner(problem.position)][problem.atom]
    return [
        {
            "operator": problem.operators[group],
            "key_group": int(problem.key_group[group]),
            "node": problem.nodes[owner[group]],
            "load": float(problem.group_load[group]),
            "state_bytes": float(problem.group_state[group]) if problem.state_known else None,
        }
        for group in np.flatnonzero(gone.key_groups).tolist()
    ]


class _TakeoverSums(NamedTuple):
    """What each node takes over and gets, (N,); ``own_rate`` is what it has without that, lost arcs included."""

    load: FloatArray
    rate: FloatArray
    own_rate: FloatArray
    transfer: FloatArray
    copies: FloatArray
    key_groups: IntArray


def _takeovers(
    problem: RingProblem,
    after: Ring,
    runs: Mapping[int, Sequence[int]],
    copies: Sequence[CopyMove],
    sums: _TakeoverSums,
) -> list[dict[str, Any]]:
    load, use, setting = problem.loads(after), utilisations(problem, after), problem.setting
    transfer_s = sums.transfer / setting.bandwidth
    times = recovery(setting, sums.rate, sums.own_rate, setting.replay_rate, transfer_s=transfer_s)
    full = set(overloaded(problem, after))
    enough = len(after.nodes) + (after.tier is not None) > problem.replication
    whole = problem.state_known and enough
    rows = []
    for node in sorted({*runs, *(copy.target for copy in copies)}):
        tokens = runs.get(node, [])
        request = _request(problem, after, use, node) if node in full and tokens else None
        got = float(sums.copies[node] + sums.transfer[node])
        rows.append(
            {
                "node": problem.nodes[node],
                "run": [problem.nodes[other] for other in dict.fromkeys(tokens)],
                "arcs": len(tokens),
                "key_groups": int(sums.key_groups[node]),
                "load_taken": float(sums.load[node]),
                "load": float(load[node]),
                "utilisation": finite(float(use[node])),
                "overloaded": node in full,
                "follows": None if request is None else _FOLLOWS[request.outcome],
                "asks": [problem.nodes[other] for other in request.asked] if request is not None else [],
                "transfer_bytes": float(sums.transfer[node]) if problem.state_known else None,
                "replayed_records": float(times.replayed_records[node]),
                "ready_s": finite(float(times.ready_s[node])) if tokens else None,
                "caught_up_s": finite(float(times.caught_up_s[node])) if tokens else None,
                "restore_bytes": float(sums.copies[node]) if problem.state_known else None,
                "restored_s": finite(setting.detection_s + got / setting.bandwidth) if whole else None,
            }
        )
    return rows


_FOLLOWS = {"balance": "balance", "scale-out": "scale-out", "alone": "nothing"}


def _runs(ring: Ring, dead: BoolArray) -> dict[int, list[int]]:
    """Return the dead node of each token that a live node takes over, by that node, clockwise from the farthest."""
    total = len(ring.token)
    runs = dict[int, list[int]]()
    for token in np.flatnonzero(~dead[ring.node]).tolist():
        run, step = list[int](), 1
        while dead[ring.node[(token - step) % total]]:
            run.append(int(ring.node[(token - step) % total]))
            step += 1
        if run:
            runs.setdefault(int(ring.node[token]), []).extend(reversed(run))
    return runs


def _sums(
    problem: RingProblem,
    ring: Ring,
    after: Ring,
    gone: LostState,
    moves: Sequence[RingMove],
    copies: Sequence[CopyMove],
) -> _TakeoverSums:
    nodes = len(problem.nodes)
    owner, heir = (one.node[one.owner(problem.position)] for one in (ring, after))
    moved = owner != heir
    kept = moved & ~gone.positions
    groups = kept[problem.atom]
    begun_anew = np.bincount(heir[gone.positions], problem.rate[gone.positions], minlength=nodes)
    transfer, got = np.zeros(nodes), np.zeros(nodes)
    for move in moves:
        transfer[move.target] += move.transfer_bytes
    for copy in copies:
        got[copy.target] += copy.bytes
    return _TakeoverSums(
        np.asarray(np.bincount(heir[moved], problem.load[moved], minlength=nodes)),
        np.asarray(np.bincount(heir[kept], problem.rate[kept], minlength=nodes)),
        np.asarray(np.bincount(owner, problem.rate, minlength=nodes) + begun_anew),
        transfer,
        got - transfer,
        np.asarray(np.bincount(heir[problem.atom[groups]], minlength=nodes)),
    )


def _request(problem: RingProblem, after: Ring, use: FloatArray, node: int) -> Request:
    """Return what comes of a node's request for help by the planned load; what others ask for at once is left out."""
    if not after.simple:
        return Request(node, "scale-out", ())
    accepts = use <= problem.thresholds.cpu_low
    return requested(after, problem.position, node, accepts, np.ones(len(use), dtype=np.bool_))

"""A ring as the plan file holds it: tokens, steps, and what they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.planners.peer_ring.moves import CopyMove, RingMove
from ftplan.planners.peer_ring.problem import RingProblem, Step
from ftplan.planners.peer_ring.ring import Ring, written_token
from ftplan.planners.peer_ring.steps import Moved, moved_by, steps_listed


def body(problem: RingProblem, ring: Ring, steps: Sequence[Step]) -> dict[str, Any]:
    """Return what the body of a plan holds before anything fails."""
    moved = list(moved_by(problem, steps))
    return {
        "ring": tokens_of(problem, ring),
        "steps": steps_listed(problem, steps),
        "moves": moves_of(problem, moved),
        "copies": copies_of(problem, moved),
    }


def tokens_of(problem: RingProblem, ring: Ring) -> list[dict[str, Any]]:
    """Return the tokens in ascending order, each with what its arc holds and where the copies lie."""
    copies = min(problem.replication, ring.most_copies)
    held = ring.holders(copies)
    arcs = {name: problem.arcs(ring, getattr(problem, name)).tolist() for name in ("load", "state")}
    groups = np.bincount(ring.owner(problem.position)[problem.atom], minlength=len(ring.token)).tolist()
    return [
        {
            "node": problem.nodes[node],
            "zone": problem.zone_name(node),
            "token": written_token(token),
            "load": arcs["load"][number],
            "key_groups": groups[number],
            "state_bytes": arcs["state"][number] if problem.state_known else None,
            "backups": [problem.nodes[other] for other in held[number, 1:].tolist()],
        }
        for number, (token, node) in enumerate(zip(ring.token.tolist(), ring.node.tolist(), strict=True))
    ]


def moves_of(problem: RingProblem, moved: Sequence[Moved]) -> list[dict[str, Any]]:
    """Return the ranges whose owner or copies change, step by step."""
    return [_move(problem, item.step, move) for item in moved for move in item.moves]


def copies_of(problem: RingProblem, moved: Sequence[Moved]) -> list[dict[str, Any]]:
    """Return the copies that travel, step by step."""
    return [_copy(problem, item.step, copy) for item in moved for copy in item.copies]


def _move(problem: RingProblem, step: int, move: RingMove) -> dict[str, Any]:
    known = problem.state_known
    return {
        "event": move.event,
        "step": step,
        "from": problem.nodes[move.source],
        "to": problem.nodes[move.target],
        "range": range_of(problem, move.first, move.last),
        "takeover_bytes": move.takeover_bytes,
        "transfer_bytes": move.transfer_bytes if known else None,
        "rereplicate_bytes": move.rereplicate_bytes if known else None,
        "replayed_records": move.replayed_records,
        "lost": move.lost,
    }


def _copy(problem: RingProblem, step: int, copy: CopyMove) -> dict[str, Any]:
    return {
        "event": copy.event,
        "step": step,
        "from": problem.nodes[copy.source],
        "to": problem.nodes[copy.target],
        "range": range_of(problem, copy.first, copy.last),
        "bytes": copy.bytes if problem.state_known else None,
    }


def range_of(problem: RingProblem, first: int, last: int) -> list[float]:
    """Return the range of positions from one to another by number: [first, that after the last); 1 is the end."""
    after = last + 1
    return [
        written_token(problem.position[first]),
        1.0 if after == len(problem.position) else written_token(problem.position[after]),
    ]

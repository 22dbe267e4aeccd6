"""What a plan of kind peer-ring holds: written by :func:`whole_body`, described by :class:`PeerRingBody`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, RingRange
from ftplan.planners.peer_ring.moves import CopyMove, RingMove
from ftplan.planners.peer_ring.problem import RingProblem, RingStep
from ftplan.planners.peer_ring.repair_window import tolerance_in_window
from ftplan.planners.peer_ring.ring import Ring, written_token
from ftplan.planners.peer_ring.steps import StepMoves, moved_by, steps_listed
from ftplan.planners.peer_ring.takeover.estimates import estimates
from ftplan.planners.peer_ring.takeover.takeover import TakeOver


def whole_body(problem: RingProblem, ring: Ring, steps: Sequence[RingStep], failure: TakeOver | None) -> dict[str, Any]:
    """Return the whole body of a plan: the ring, how it becomes so, and what follows from it."""
    moved = list(moved_by(problem, steps))
    if failure is not None:
        moved.append(StepMoves(len(steps), failure.moves, failure.copies))
    known: dict[str, Any] = {
        "ring": tokens_of(problem, ring),
        "steps": steps_listed(problem, steps),
        "moves": [_move(problem, item.step, move) for item in moved for move in item.moves],
        "copies": [_copy(problem, item.step, copy) for item in moved for copy in item.copies],
        "tolerance": tolerance_in_window(problem, ring),
        "estimates": estimates(problem, ring),
    }
    if failure is not None:
        known["takeovers"] = failure.takeovers
        known["after_failure"] = [] if failure.after is None else tokens_of(problem, failure.after)
        known["lost"] = failure.lost
    return known


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


def _move(problem: RingProblem, step: int, move: RingMove) -> dict[str, Any]:
    known = problem.state_known
    return {
        "event": move.event,
        "step": step,
        "from": problem.nodes[move.source],
        "to": problem.nodes[move.target],
        "range": _range(problem, move.first, move.last),
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
        "range": _range(problem, copy.first, copy.last),
        "bytes": copy.bytes if problem.state_known else None,
    }


def _range(problem: RingProblem, first: int, last: int) -> list[float]:
    """Return the range of positions from one to another by number: [first, that after the last); 1 is the end."""
    after = last + 1
    return [
        written_token(problem.position[first]),
        1.0 if after == len(problem.position) else written_token(problem.position[after]),
    ]


class TokenModel(FileModel):
    """A token of a node: it owns the key groups from it up to the next token."""

    node: Id = Field(description="Node id")
    zone: Id | None = Field(None, description="Zone of the node; null without one")
    token: float = Field(ge=0.0, lt=1.0, description="In [0, 1); rounded down, so that it is never above its position")
    load: NonNegative | None = Field(None, description="Load per second of the arc, up to the next token")
    key_groups: Index | None = Field(None, description="Key groups of the arc")
    state_bytes: NonNegative | None = Field(None, description="State of the arc; null if unknown")
    backups: list[Id] | None = Field(None, description="Nodes that hold copies of the arc, in order")


class TokenChangeModel(FileModel):
    """A token that a step puts on the ring, moves or takes away."""

    node: Id = Field(description="Node id")
    source: float | None = Field(None, alias="from", ge=0.0, lt=1.0, description="Token before; null for a new one")
    to: float | None = Field(None, ge=0.0, lt=1.0, description="Token afterwards; null for one that is gone")
    tier: Id | None = Field(None, description="Node that holds the last copy of its arc then, with tiered copies")


class RingStepModel(FileModel):
    """One change of the ring; moves and copies of the same number follow from it."""

    step: Index = Field(description="From 0, in the order in which steps are taken")
    event: Literal["re-plan", "balance", "scale-out", "scale-in"] = Field(description="Why")
    tokens: list[TokenChangeModel] = Field(description="What changes, by node; all other tokens stay")


class RingMoveModel(FileModel):
    """A range of the ring whose owner or copies change."""

    event: Literal["re-plan", "balance", "scale-out", "scale-in", "failure"] = Field(description="Why")
    step: Index | None = Field(None, description="From 0; moves of one step belong together")
    source: Id = Field(alias="from", description="Owner before")
    to: Id = Field(description="Owner afterwards; the same where only copies change")
    range: RingRange = Field(description="From (inclusive) and to (exclusive) on the ring; wraps at 1")
    takeover_bytes: NonNegative | None = Field(
        None, description="What travels before the new owner goes on from a copy that it holds: 0 by the method"
    )
    transfer_bytes: NonNegative | None = Field(
        None, description="What travels before the new owner can go on, since it holds no copy"
    )
    rereplicate_bytes: NonNegative | None = Field(
        None, description="What travels afterwards, so that each key group has all its copies again"
    )
    replayed_records: NonNegative | None = Field(None, description="Records that the new owner processes again")
    lost: bool | None = Field(None, description="No node that held the range is left")


class CopyMoveModel(FileModel):
    """Copies of a range that travel to a node that holds none."""

    event: str = Field(description="As of the move")
    step: Index | None = Field(None, description="As of the move")
    source: Id = Field(alias="from", description="Node that sends them")
    to: Id = Field(description="Node that gets them")
    range: RingRange = Field(description="As of moves")
    bytes: NonNegative | None = Field(None, description="State to send; null if unknown")


class PeerRingBody(FileModel):
    """What a plan of kind peer-ring holds; one made by hand needs only nodes and tokens."""

    ring: list[TokenModel] = Field(description="Tokens in ascending order")
    steps: list[RingStepModel] | None = Field(
        None, description="How the ring in place becomes this one; without them, in one step"
    )
    moves: list[RingMoveModel] | None = Field(None, description="From the ring in place, step by step")
    copies: list[CopyMoveModel] | None = Field(None, description="What travels for the moves")
    tolerance: dict[str, Any] | None = Field(None, description="Which failures lose what")
    takeovers: list[dict[str, Any]] | None = Field(
        None, description="Of the failure that was asked for: who takes over which run, when, and what follows"
    )
    after_failure: list[TokenModel] | None = Field(None, description="The ring after the failure, all taken over")
    lost: list[dict[str, Any]] | None = Field(None, description="Key groups that the failure loses")
    estimates: dict[str, Any] | None = Field(None, description="Memory, traffic and times, by node where they differ")


BODY = PeerRingBody

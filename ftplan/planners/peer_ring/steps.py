"""The steps by which a ring changes: from rings to a plan file and back, and what they move."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.planners.peer_ring.moves import CopyMove, RingMove, ring_moves
from ftplan.planners.peer_ring.problem import Event, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring, read_tokens, written_token

#: A token of a ring, its node, and the node of the last copy of its arc (-1 without tiered copies).
_Token = tuple[float, int, int]


class StepMoves(NamedTuple):
    """What a step moves, by its number."""

    step: int
    moves: Sequence[RingMove]
    copies: Sequence[CopyMove]


def event_of(problem: RingProblem) -> Event:
    """Return why a ring changes in one step."""
    if problem.added.any():
        return "scale-out"
    if problem.removed.any():
        return "scale-in"
    return "balance" if problem.rebalance else "re-plan"


def steps_listed(problem: RingProblem, steps: Sequence[RingStep]) -> list[dict[str, Any]]:
    """Return the steps as a plan lists them, from the ring in place; without one the ring itself says all.

    Cost O(steps x tokens).
    """
    if problem.current is None:
        return []
    rings: list[Ring] = [problem.current, *(step.ring for step in steps)]
    return [
        {"step": number, "event": step.event, "tokens": _changes(problem, before, step.ring)}
        for number, (before, step) in enumerate(zip(rings, steps, strict=False))
    ]


def _changes(problem: RingProblem, before: Ring, after: Ring) -> list[dict[str, Any]]:
    """Return the tokens that differ, by node; what one token becomes stands in one entry."""
    old, new = _tokens(before), _tokens(after)
    gone, put = _by_node(set(old) - set(new)), _by_node(set(new) - set(old))
    listed = []
    for node in sorted({*gone, *put}):
        here, there = gone.get(node, []), put.get(node, [])
        pairs: list[tuple[_Token | None, _Token | None]] = [(None, token) for token in there]
        if len(here) == len(there):
            pairs = list(zip(here, there, strict=True))
        elif here:
            pairs = [*((token, None) for token in here), *pairs]
        listed += [_change(problem, node, *pair) for pair in pairs]
    return listed


def _change(problem: RingProblem, node: int, before: _Token | None, after: _Token | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "node": problem.nodes[node],
        "from": None if before is None else written_token(before[0]),
        "to": None if after is None else written_token(after[0]),
    }
    if after is not None and after[2] >= 0:
        entry["tier"] = problem.nodes[after[2]]
    return entry


def _tokens(ring: Ring) -> list[_Token]:
    tier = [-1] * len(ring.token) if ring.tier is None else ring.tier.tolist()
    return list(zip(ring.token.tolist(), ring.node.tolist(), tier, strict=True))


def _by_node(tokens: set[_Token]) -> dict[int, list[_Token]]:
    found: dict[int, list[_Token]] = defaultdict(list)
    for token in sorted(tokens):
        found[token[1]].append(token)
    return found


def steps_of(stated: Sequence[Mapping[str, Any]] | None, problem: RingProblem, ring: Ring) -> tuple[RingStep, ...]:
    """Return the steps that a plan lists, with the ring after each; without a list, one to its *ring* in the end.

    Raises FtplanError if a step names a node that the cluster lacks, or takes away a token that is not there.
    """
    if stated is None or problem.current is None:
        same = problem.current is not None and same_ring(problem.current, ring)
        return () if same and problem.copies_in_place is None else (RingStep(event_of(problem), ring),)
    number = {name: k for k, name in enumerate(problem.nodes)}
    tokens = {token: (node, tier) for token, node, tier in _tokens(problem.current)}
    steps = list[RingStep]()
    for place, step in enumerate(stated):
        entries = [(_placed(item, place, number, problem), item) for item in step["tokens"]]
        for (before, _, node, _), item in entries:
            if before is not None and tokens.pop(before, (-1, -1))[0] != node:
                raise FtplanError(f"steps[{place}]: {item['node']} has no token {item['from']:.12g} then")
        for (_, after, node, tier), item in entries:
            if after is not None and after in tokens:
                raise FtplanError(f"steps[{place}]: two tokens at {item['to']:.12g}")
            if after is not None:
                tokens[after] = (node, tier)
        if not tokens:
            raise FtplanError(f"steps[{place}]: no token is left")
        steps.append(RingStep(step["event"], _ring(tokens)))
    return tuple(steps)


def _placed(
    item: Mapping[str, Any], place: int, number: Mapping[str, int], problem: RingProblem
) -> tuple[float | None, float | None, int, int]:
    """Return token before, token afterwards, node and tier node of an entry."""
    for name in (item["node"], item.get("tier")):
        if name is not None and name not in number:
            raise FtplanError(f"steps[{place}]: the cluster has no node {name!r}")
    ends = [item.get("from"), item.get("to")]
    known = [None if end is None else float(_read(end, problem)) for end in ends]
    return known[0], known[1], number[item["node"]], -1 if item.get("tier") is None else number[item["tier"]]


def _read(token: float, problem: RingProblem) -> float:
    """Return a token as the plan means it: at a position, or that of the ring in place."""
    at = float(read_tokens(np.array([token]), problem.position)[0])
    return at if problem.current is None else float(read_tokens(np.array([at]), problem.current.token)[0])


def _ring(tokens: Mapping[float, tuple[int, int]]) -> Ring:
    order = sorted(tokens)
    tier = np.array([tokens[token][1] for token in order], dtype=np.int64)
    nodes = np.array([tokens[token][0] for token in order], dtype=np.int64)
    return Ring(np.array(order), nodes, tier if (tier >= 0).all() else None)


def same_ring(one: Ring, other: Ring) -> bool:
    """Return whether two rings have the same tokens, nodes and last copies, as plans write them."""
    return _written(one) == _written(other)


def _written(ring: Ring) -> list[_Token]:
    return [(written_token(token), node, tier) for token, node, tier in _tokens(ring)]


def moved_by(problem: RingProblem, steps: Sequence[RingStep]) -> Iterator[StepMoves]:
    """Yield what each step moves, from the ring in place; what puts the first tokens on an empty ring moves nothing."""
    before = problem.current
    for number, step in enumerate(steps):
        if before is not None:
            yield StepMoves(number, *ring_moves(problem, before, step.ring, step.event))
        before = step.ring

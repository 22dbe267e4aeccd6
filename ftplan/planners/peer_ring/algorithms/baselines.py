"""Many tokens a node, at hashed places: what Dynamo and its successors do by default; and plain random tokens.

What both would give is compared with what is planned (:func:`baselines`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.bounds import any_bound
from ftplan.planners.peer_ring.algorithms.outcome import ring_result, unchanged_ring, with_requested_last_copies
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.moves import moved_bytes
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.repair_window import within_repair_window
from ftplan.planners.peer_ring.ring import Ring, in_order, read_tokens, without
from ftplan.planners.peer_ring.survival.copysets import copysets
from ftplan.planners.peer_ring.survival.survival import survival
from ftplan.planners.result import Result

#: Tokens are hashed to so many places.
HASH_PLACES = 10**9
#: Most tokens of all nodes: a plan names each of them.
MOST_TOKENS = 200_000
#: Most comparisons, about, of a walk clockwise from each token to as many distinct nodes as there are copies.
MOST_COMPARISONS = 20_000_000


def virtual_nodes(problem: RingProblem, search: SearchOptions) -> Result[RingAnswer]:
    """Give each node ``problem.tokens`` tokens at hashed places, in proportion to its cpu ([DeCandia2007], 4.2).

    Loads and zones play no part. Tokens of nodes that stay are left where they are; a node that joins gets its own and
    takes only what follows them. Where a node leaves, the next token clockwise moves to each of its places, as after a
    failure: its node holds copies. Dynamo would leave the place empty; since an owner here comes *before* what it owns,
    that would give it to a node without copies. Guarantee: none; the bound holds for any assignment of positions to
    nodes. Cost O(T log T + M) for T tokens.
    """
    budget = Budget.of(search)
    if problem.keep:
        return unchanged_ring(problem)
    result = ring_result(problem, _changed(problem, search.seed), any_bound(problem), budget, _fewer(problem))
    if result.answer is None or result.answer.steps:
        return result
    return replace(result, reason="no change: no node joins or leaves, and tokens stay")


def hashed_ring(problem: RingProblem, seed: int) -> Ring:
    """Return the ring of all members, each with its tokens."""
    return _joined(problem, None, problem.member.tolist(), seed)


def _changed(problem: RingProblem, seed: int) -> RingAnswer:
    if problem.current is None:
        ring = tiered(problem, hashed_ring(problem, seed))
        return RingAnswer((RingStep("re-plan", ring),), ring)
    ring, steps = with_requested_last_copies(problem, problem.current)
    numbers = np.arange(len(problem.nodes))
    there = np.isin(numbers, ring.node)
    for node in np.flatnonzero(problem.members & ~there).tolist():
        steps.append(RingStep("scale-out", ring := tiered(problem, _joined(problem, ring, [node], seed))))
    for node in np.flatnonzero(there & ~problem.members).tolist():
        steps.append(RingStep("scale-in", ring := tiered(problem, without(ring, numbers == node))))
    return RingAnswer(tuple(steps), ring)


def _joined(problem: RingProblem, ring: Ring | None, nodes: list[int], seed: int) -> Ring:
    """Return a ring with the tokens of more nodes; where another has a token already, the next place is taken."""
    counts = {node: _tokens_of(problem, node) for node in nodes}
    taken = set() if ring is None else set(ring.token.tolist())
    new = list[tuple[float, int]]()
    for node, count in counts.items():
        new += [(token, node) for token in _places(problem, node, count, seed, taken)]
    tokens, owners = np.array([token for token, _ in new]), np.array([node for _, node in new], dtype=np.int64)
    tier = None
    if ring is not None:
        tier = None if ring.tier is None else np.append(ring.tier, ring.tier[ring.owner(tokens)])
        tokens, owners = np.append(ring.token, tokens), np.append(ring.node, owners)
    return in_order(tokens, owners, tier)


def _tokens_of(problem: RingProblem, node: int) -> int:
    """Return how many tokens a node has: in proportion to its cpu, at least 1."""
    mean = float(problem.cpu[problem.members].mean())
    return max(1, round(_tokens(problem) * float(problem.cpu[node]) / mean))


def _tokens(problem: RingProblem) -> int:
    """Return how many tokens a node of mean cpu has: with many copies fewer, since backups are distinct nodes."""
    most = min(MOST_TOKENS, MOST_COMPARISONS // (problem.replication + 1) ** 2)
    return min(problem.tokens, max(1, most // len(problem.member)))


def _fewer(problem: RingProblem) -> Iterator[Warn]:
    """Yield that nodes have fewer tokens than asked for."""
    if _tokens(problem) < problem.tokens:
        nodes = len(problem.member)
        text = f"{problem.tokens:,} tokens for each of {nodes:,} nodes are too many: {_tokens(problem):,} are planned"
        yield Warn("FEWER_TOKENS", text)


def _places(problem: RingProblem, node: int, count: int, seed: int, taken: set[float]) -> list[float]:
    """Return so many tokens of a node that are not taken, and add them to these: numbers 0, 1, ... are hashed."""
    found, number = list[float](), 0
    while len(found) < count:
        ends = range(number, number := number + count - len(found))
        hashes = np.array([hashed(seed, problem.nodes[node], k) for k in ends])
        for token in read_tokens(hashes, problem.position).tolist():
            if token not in taken:
                taken.add(token)
                found.append(token)
    return found


def hashed(seed: int, node: str, number: int) -> float:
    """Return the place in [0, 1) that a seed, a node and a number alone decide."""
    digest = blake2b(f"{seed} {number} {node}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") % HASH_PLACES) / HASH_PLACES


#: Rings of plain random tokens whose mean is said.
RANDOM_RINGS = 20
#: Tokens of virtual nodes whose probability of loss is said.
MOST_TOKENS_JUDGED = 20_000


def baselines(problem: RingProblem, seed: int) -> dict[str, Any]:
    """Return the largest load over fair share by the usual practice: ``random`` and ``virtual_nodes``.

    ``random`` is the mean and the worst of RANDOM_RINGS rings with one random token for each node, ``virtual_nodes``
    is one ring of ``--tokens`` for each; all with tokens anywhere, so that a node may own nothing. Cost
    O(RANDOM_RINGS M log n).
    """
    return {"random": of_random_tokens(problem, seed), "virtual_nodes": of_virtual_nodes(problem, seed)}


def of_random_tokens(problem: RingProblem, seed: int) -> dict[str, float | int]:
    """Return the largest load of rings with one random token for each member: mean and worst of RANDOM_RINGS."""
    loads = [problem.largest_load(random_ring(problem, np.random.default_rng([seed, k]))) for k in range(RANDOM_RINGS)]
    return {"rings": RANDOM_RINGS, "largest_load": float(np.mean(loads)), "worst_largest_load": max(loads)}


def random_ring(problem: RingProblem, random: np.random.Generator) -> Ring:
    """Return a ring with one random token for each member."""
    token = random.random(len(problem.member))
    while len(np.unique(token)) < len(token):
        token = random.random(len(token))
    return in_order(token, problem.member, None)


def of_virtual_nodes(problem: RingProblem, seed: int) -> dict[str, Any]:
    """Return what a ring with many tokens for each member is worth, made from scratch.

    ``bytes`` travel where such a ring of the nodes in place changes to the members; None where nobody joins or leaves.
    The probability of loss of more than MOST_TOKENS_JUDGED tokens would take longer than the plan: None.
    """
    ring = tiered(problem, hashed_ring(problem, seed))
    zones = problem.zone_cost(ring)
    few = len(ring.token) <= MOST_TOKENS_JUDGED
    chance = (survival(within_repair_window(problem, ring), ring, seed) if few else None) or {}
    return {
        "bytes": _changed_bytes(problem, seed),
        "tokens": len(ring.token),
        "largest_load": problem.largest_load(ring),
        "zone_losses": zones.losses if problem.zoned else None,
        "zone_violations": zones.violations if problem.zoned else None,
        "copysets": len(copysets(problem, ring).nodes),
        "loss_probability": chance.get("loss_probability"),
    }


def _changed_bytes(problem: RingProblem, seed: int) -> float | None:
    """Return what travels where a ring of many tokens of the nodes in place changes its nodes as is asked for."""
    current = problem.current
    if current is None or not (problem.added.any() or problem.removed.any()) or problem.tier.any():
        return None
    there = np.isin(np.arange(len(problem.nodes)), current.node)
    before = hashed_ring(replace(problem, members=there), seed)
    if before.most_copies < problem.replication:
        return None
    asked = replace(problem, current=before, copies_in_place=None)
    return moved_bytes(asked, before, _changed(asked, seed).ring)

"""What plain random tokens and virtual nodes would give, compared with what is planned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import copysets
from ftplan.planners.peer_ring.survival.survival import survival

#: Rings of plain random tokens whose mean is said.
RANDOM_RINGS = 20
#: Tokens of virtual nodes whose probability of loss is said.
MOST_TOKENS = 20_000


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
    at = np.argsort(token)
    return Ring(token[at], problem.member[at])


def of_virtual_nodes(problem: RingProblem, seed: int) -> dict[str, Any]:
    """Return what a ring with many tokens for each member is worth, made from scratch.

    The probability of loss of more than MOST_TOKENS tokens would take longer than the plan: None.
    """
    from ftplan.planners.peer_ring.algorithms.tiers import tiered
    from ftplan.planners.peer_ring.algorithms.virtual_nodes import hashed_ring

    ring = tiered(problem, hashed_ring(problem, seed))
    few = len(ring.token) <= MOST_TOKENS
    chance = (survival(problem, ring, seed) if few else None) or {}
    return {
        "tokens": len(ring.token),
        "largest_load": problem.largest_load(ring),
        "zone_violations": problem.violations(ring),
        "copysets": len(copysets(problem, ring).nodes),
        "loss_probability": chance.get("loss_probability"),
    }

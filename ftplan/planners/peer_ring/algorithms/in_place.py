"""The ring in place as planners go on from it: tokens at positions, and last copies where they are asked for.

Where only a failure is asked for, nothing is chosen (:func:`unchanged_ring`): the bounds say what others could be.
"""

from __future__ import annotations

import numpy as np

from ftplan.planners.peer_ring.algorithms.bounds import any_bound, least_violations, load_bound
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.changes import positions_of_arcs
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.result import Result


def unchanged_ring(problem: RingProblem) -> Result[RingAnswer]:
    """Return the ring in place, with the bounds of rings of its nodes, so that it is seen how far it is from these.

    Those of rings with one token a node where it is such a ring, else of any assignment. Cost as that of the bounds.
    """
    ring = problem.current
    assert ring is not None
    bound = any_bound(problem)
    if ring.simple and positions_of_arcs(ring, problem.position).all():  # where a node owns nothing, less load is owned
        bound = load_bound(problem)
    violations = least_violations(problem) if ring.simple else None
    return Result("feasible", RingAnswer((), ring, violations, 0.0), (), bound)


def has_requested_last_copies(problem: RingProblem, ring: Ring) -> bool:
    """Return whether last copies are on nodes of the tier where there is one, and on neighbours where there is none."""
    if ring.tier is None or not problem.tier.any():
        return ring.tier is None and not problem.tier.any()
    return bool(problem.tier[ring.tier].all())


def with_requested_last_copies(problem: RingProblem, ring: Ring) -> tuple[Ring, list[RingStep]]:
    """Return a ring whose last copies are where they are asked for, and the step to it if any.

    They stay as they are where all are on nodes of the tier.
    """
    if has_requested_last_copies(problem, ring):
        return ring, []
    ring = tiered(problem, Ring(ring.token, ring.node))
    return ring, [RingStep("re-plan", ring)]


def at_positions(problem: RingProblem, ring: Ring) -> tuple[Ring, list[RingStep]]:
    """Return a ring of one token a node with each token at a position of its own, and the step to it if any.

    A token and one at the first position at or above it own the same. Where nodes own nothing, so that this would put
    two tokens at one position, those before go down to the next position that is free. There are enough for all.
    """
    total = len(problem.position)
    place = np.searchsorted(problem.position, ring.token, side="left").tolist()
    nodes, moved = len(place), True
    while moved:
        moved = False
        for k in range(nodes - 1, -1, -1):
            most = place[k + 1] - 1 if k + 1 < nodes else place[0] + total - 1
            if place[k] > most:
                place[k], moved = most, True
    token = problem.position[np.array(place) % total]
    if np.array_equal(token, ring.token):
        return ring, []
    at = np.argsort(token)
    ring = Ring(token[at], ring.node[at], None if ring.tier is None else ring.tier[at])
    return ring, [RingStep("re-plan", ring)]

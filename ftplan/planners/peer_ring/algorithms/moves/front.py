"""What less load costs in bytes: a few rings that follow the one in place, none of which another is better than."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.cuts.partition import partition, ring_of
from ftplan.planners.peer_ring.algorithms.moves.cuts import least_bytes
from ftplan.planners.peer_ring.algorithms.moves.request import Question
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem

#: Largest loads for which the fewest bytes are asked.
TARGETS = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0)
#: Starts that are looked at for each: good cuts, not proven.
TRIES = 2


def front(problem: RingProblem, answer: RingAnswer, budget: Budget | None = None) -> list[dict[str, float]]:
    """Return largest loads with the bytes that travel, ascending by load, with the planned ring's order of nodes.

    Each is the figure of a ring that can be had with ``target_load``; the planned ring is one of them. Empty without a
    ring in place, or where the planned one has several tokens a node. Good, not proven. Cost: a few passes of
    :func:`least_bytes` each.
    """
    if problem.current is None or not answer.ring.simple or not np.array_equal(answer.ring.nodes, problem.member):
        return []
    budget = budget or Budget(np.inf)
    question = Question(problem, capped=bool(problem.removed.any()))
    order = answer.ring.node
    found = [(problem.largest_load(answer.ring), question.bytes(answer.ring))]
    least = partition(problem, order).largest
    for load in (least, *(target for target in TARGETS if target > least), np.inf):
        cuts = least_bytes(question, order, load, budget, question.lacking, tries=TRIES).first
        if cuts is not None:
            ring = ring_of(problem, order, cuts)
            found.append((problem.largest_load(ring), question.bytes(ring)))
    rows = list[dict[str, float]]()
    for load, moved in sorted(found):
        if not rows or moved < rows[-1]["bytes"] * (1.0 - ROUNDING):
            rows.append({"largest_load": load, "bytes": moved})
    return rows

"""All circular orders of few nodes."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.peer_ring.algorithms.moves.request import Question

#: Most orders that are looked at, and most steps: orders times nodes times positions.
MOST_ORDERS = 5_040
MOST_STEPS = 300_000_000


def alike(question: Question) -> IntArray:
    """Return a class for each node, (N,): nodes of a class have the same cpu and room, and hold nothing yet.

    They have the same zone too, or each has one of its own. Any other node is a class of its own.
    """
    problem, held = question.problem, np.diff(question.holds[0])
    alone = np.bincount(problem.zone[problem.members], minlength=len(problem.zones))[problem.zone] <= 1
    keys = np.column_stack(
        [np.where(alone, -1, problem.zone), problem.cpu, question.most, np.arange(len(problem.nodes)) + 1.0]
    )
    keys[held == 0, 3] = 0.0
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def how_many(question: Question) -> int | None:
    """Return how many orders there are, None where these are too many to look at all."""
    member = question.problem.member
    if len(member) > 30:
        return None
    count = factorial(len(member) - 1)
    for size in np.unique(alike(question)[member[1:]], return_counts=True)[1].tolist():
        count //= factorial(size)
    steps = count * len(member) * len(question.problem.position)
    return count if count <= MOST_ORDERS and steps <= MOST_STEPS else None


def every_order(question: Question) -> Iterator[IntArray]:
    """Yield circular orders of the members, one for all that differ only in nodes that are alike."""
    first, *others = question.problem.member.tolist()
    kind = alike(question)
    for arranged in _arranged([], others, kind):
        yield np.array([first, *arranged], dtype=np.int64)


def _arranged(begun: list[int], left: list[int], kind: IntArray) -> Iterator[list[int]]:
    if not left:
        yield begun
    seen = set[int]()
    for node in left:
        if int(kind[node]) not in seen:
            seen.add(int(kind[node]))
            yield from _arranged([*begun, node], [other for other in left if other != node], kind)

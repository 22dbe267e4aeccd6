"""Which node gets which arc, where the cuts are given: an assignment, since an arc's holders follow from its slot."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.algorithms.moves.request import Question

#: Most slots whose assignment is solved: time grows with their cube.
MOST_SLOTS = 1500


def relabelled(question: Question, order: IntArray, first: IntArray, classes: IntArray) -> IntArray:
    """Return the order of fewest bytes for cuts as they are, where nodes change places within their class only.

    The node of a slot holds the arcs of the ``walk`` slots up to its own, so that what travels to it depends on the
    cuts and on nothing else: one assignment problem a class, exact. Cost O(n^3) at worst.
    """
    from scipy.optimize import linear_sum_assignment  # half a second to load

    saved = _saved(question, order, first)
    answer = order.copy()
    for one in np.unique(classes[order]).tolist():
        slots = np.flatnonzero(classes[order] == one)
        if len(slots) > MOST_SLOTS:
            continue
        nodes = np.sort(order[slots])
        row, column = linear_sum_assignment(saved[np.ix_(slots, nodes)], maximize=True)
        answer[slots[row]] = nodes[column]
    return answer


def _saved(question: Question, order: IntArray, first: IntArray) -> FloatArray:
    """Return the worth of what each node holds already of the arcs that a slot's node holds, (slots, N)."""
    problem, slots = question.problem, len(order)
    size = len(problem.position)
    lengths = (np.roll(first, -1) - first) % size
    lengths[lengths == 0] = size if slots == 1 else 0
    owner = np.empty(size, dtype=np.int64)
    owner[(first[0] + np.arange(size)) % size] = np.repeat(np.arange(slots), lengths)
    arc = np.zeros((slots, len(problem.nodes)))
    for copy in range(question.held.shape[1]):
        np.add.at(arc, (owner, question.held[:, copy]), problem.worth)
    return np.asarray(sum(np.roll(arc, back, axis=0) for back in range(question.walk)))

"""The ring in place where only a failure is asked for: nothing is chosen, and what others could be is said beside."""

from __future__ import annotations

from ftplan.planners.peer_ring.algorithms.bounds import any_bound, least_violations, load_bound
from ftplan.planners.peer_ring.changes import positions_of_arcs
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem
from ftplan.planners.result import Result


def kept(problem: RingProblem) -> Result[RingAnswer]:
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

"""Random tokens, and neighbours that take half an arc of nodes that are overloaded: the paper's ring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.bounds import least_violations, load_bound
from ftplan.planners.peer_ring.algorithms.in_place import at_positions, unchanged_ring, with_requested_last_copies
from ftplan.planners.peer_ring.algorithms.negotiation import negotiate_by_round, negotiate_by_window
from ftplan.planners.peer_ring.algorithms.outcome import ring_result, too_few_positions
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.changes import positions_of_arcs, scaled_out, without
from ftplan.planners.peer_ring.metrics import utilisations
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.result import Result


def paper(problem: RingProblem, search: SearchOptions) -> Result[RingAnswer]:
    """Plan a ring as [Kumbhare2015] runs it: sections V-A (tokens), VI (balance, nodes that join and leave).

    Without a ring in place, tokens are random, each where a key group begins. Then overloaded nodes negotiate with
    their neighbours, by the planned load; with ``rebalance`` window by window of the statistics, with the queues that
    these make. A node that joins is put midway in the arc of the node that has most load over its capacity; where a
    node leaves, its clockwise neighbour takes its place. Guarantee: none, but a proven bound.

    The paper stops nowhere. Here negotiation ends where nobody asks or nobody can give, and the plan ends at the first
    of its rings with the least largest load, to one percent where a ring is in place (or that meets ``target_load``):
    load that comes and goes in circles is left out, and a ring in place is never worse than before.

    Cost O(M) a window or round, O(n log n) a request.
    """
    budget = Budget.of(search)
    if problem.keep:
        return unchanged_ring(problem)
    why = too_few_positions(problem)
    if why is not None:
        return Result("infeasible", None, (), reason=why.reason, infeasible=why)
    if problem.current is None or not problem.current.simple:
        return _from_scratch(problem, search.seed, budget)
    ring, steps = with_requested_last_copies(problem, problem.current)
    steps += _members_changed(problem, ring)
    ring = steps[-1].ring if steps else ring
    if any(step.event != "re-plan" for step in steps):
        return ring_result(
            problem, RingAnswer(tuple(steps), ring, least_violations(problem)), load_bound(problem), budget
        )
    measured = problem.rebalance and problem.windows is not None
    course = (negotiate_by_window if measured else negotiate_by_round)(problem, ring, steps, budget)
    answer = RingAnswer((*steps, *course.steps), course.ring, least_violations(problem), out_of_room=course.out_of_room)
    result = ring_result(problem, answer, load_bound(problem), budget, course.warnings)
    if result.answer is None or result.answer.steps:
        return result
    return replace(result, reason=f"no change: {course.why}")


def random_ring(problem: RingProblem, seed: int) -> Ring:
    """Return members in random order at random positions, one each."""
    random = np.random.default_rng(seed)
    place = np.sort(random.choice(len(problem.position), len(problem.member), replace=False))
    return Ring(problem.position[place], random.permutation(problem.member))


def _from_scratch(problem: RingProblem, seed: int, budget: Budget) -> Result[RingAnswer]:
    """Return random tokens after negotiation, in one step: no ring in between is ever put in place."""
    if problem.rebalance:
        raise FtplanError("--rebalance: the ring in place has several tokens a node, and neighbours move one each")
    start = tiered(problem, random_ring(problem, seed))
    course = negotiate_by_round(problem, start, (), budget)
    answer = RingAnswer(
        (RingStep("re-plan", course.ring),), course.ring, least_violations(problem), out_of_room=course.out_of_room
    )
    return ring_result(problem, answer, load_bound(problem), budget, course.warnings)


def _members_changed(problem: RingProblem, ring: Ring) -> list[RingStep]:
    """Return the steps by which nodes join, then leave; the other way round where there is no position for both."""
    there = np.isin(np.arange(len(problem.nodes)), ring.node)
    joining = np.flatnonzero(problem.members & ~there)
    steps = list[RingStep]()
    if len(ring.node) + len(joining) > len(problem.position):
        steps += _leaving(problem, ring)
        ring = steps[-1].ring if steps else ring
    ring, placed = at_positions(problem, ring)
    steps += placed
    for new in joining.tolist():
        steps.append(RingStep("scale-out", ring := tiered(problem, _midway(problem, ring, new))))
    return steps + _leaving(problem, ring)


def _leaving(problem: RingProblem, ring: Ring) -> list[RingStep]:
    """Return the steps by which nodes leave that are no members; of neighbours, the last one clockwise first."""
    numbers, steps = np.arange(len(problem.nodes)), list[RingStep]()
    leaving = np.isin(numbers, ring.node) & ~problem.members
    while leaving.any():
        after = np.roll(ring.node, -1)
        node = int(ring.node[leaving[ring.node] & ~leaving[after]].min())
        steps.append(RingStep("scale-in", ring := tiered(problem, without(ring, numbers == node))))
        leaving[node] = False
    return steps


def _midway(problem: RingProblem, ring: Ring, new: int) -> Ring:
    """Return the ring that a node has joined where most is to relieve: an arc that can be divided."""
    full = utilisations(problem, ring)[ring.node]
    full[positions_of_arcs(ring, problem.position) < 2] = -1.0
    fullest = ring.node[full == full.max()].min()
    after = scaled_out(ring, problem.position, int(fullest), new)
    assert after is not None  # there are more positions than nodes, so that some arc has two
    return after

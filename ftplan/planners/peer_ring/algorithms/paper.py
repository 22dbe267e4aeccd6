"""Random tokens, and neighbours that take half an arc of nodes that are overloaded: the paper's ring.

Neighbours negotiate round by round with the planned load, or window by window of the statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.bounds import least_violations, load_bound
from ftplan.planners.peer_ring.algorithms.outcome import (
    at_positions,
    ring_result,
    too_few_positions,
    unchanged_ring,
    with_requested_last_copies,
)
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.metrics import share_of, utilisations
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.negotiation import Request, Watch, fluid_queue, negotiated
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring, positions_of_arcs, scaled_out, without
from ftplan.planners.result import Result

#: Rounds by the planned load, at most, and moves of a node after which the last round begins: load can go around the
#: ring for ever. What comes late helps little, and with a ring in place all has to be carried out.
MOST_ROUNDS, MOST_MOVES_PER_NODE, MOST_MOVES_PER_NODE_IN_PLACE = 500, 20, 4
#: Moves on a ring in place after which the last round or window begins: each is listed with all that it sends.
MOST_MOVES_IN_PLACE = 2_000
#: A ring in place has to become more even by so much, relative, for moves to be worth it.
LEAST_GAIN = 0.01
#: Nodes that a warning names.
MOST_NAMED_NODES = 5


@dataclass(frozen=True)
class NegotiatedRing:
    """What negotiations lead to: the ring in the end, the steps to it, and who found nobody to help.

    Without a ring in place there are no steps. ``why`` says why nothing is planned to move, where that is so.
    """

    ring: Ring
    steps: tuple[RingStep, ...]
    out_of_room: tuple[int, ...]
    why: str
    warnings: tuple[Warn, ...]


def negotiate_by_round(problem: RingProblem, ring: Ring, before: Sequence[RingStep], budget: Budget) -> NegotiatedRing:
    """Negotiate round by round until nobody asks or nobody can give, with the load that is planned.

    In the long run queues follow from utilisation: they count as long where that is high and as short where it is low,
    and nobody waits after a move. Cost O(M) a round, of which there are at most :data:`MOST_ROUNDS`.
    """
    taken = _StepsTaken(problem, ring, before)
    for _ in range(0 if taken.met else budget.passes(MOST_ROUNDS)):
        requests, ring = _round(problem, ring)
        moved = _steps(requests)
        if not moved or not taken.goes_on(moved, budget) or taken.enough(taken.most):
            break
    else:
        taken.ended = not taken.met
    requests, _ = _round(problem, taken.ring)
    return taken.course(requests)


def negotiate_by_window(problem: RingProblem, ring: Ring, before: Sequence[RingStep], budget: Budget) -> NegotiatedRing:
    """Negotiate in each window of the statistics, with the queues that its load makes; cost O(M) a window.

    Queues begin as they were measured, else empty, and work waits at the positions that it is for.
    """
    assert problem.windows is not None
    taken = _StepsTaken(problem, ring, before)
    watch, backlog = Watch.of(len(problem.nodes)), _waiting(problem, ring)
    able = np.maximum(problem.capacity - problem.foreign, 0.0) * problem.window_s
    stuck, full, seen = list[Request](), 0, 0
    for load in () if taken.met else problem.windows:
        owner = ring.node[ring.owner(problem.position)]
        asked, backlog = fluid_queue(owner, backlog, load * problem.window_s, able)
        use = share_of(asked / problem.window_s + problem.foreign, problem.capacity)
        queue = share_of(
            np.asarray(np.bincount(owner, backlog, minlength=len(able)), dtype=np.float64), problem.capacity
        )
        requests, ring, watch = negotiated(ring, problem.position, queue, use, problem.thresholds, watch)
        stuck += requests
        full, seen = full + any(request.outcome == "scale-out" for request in requests), seen + 1
        if not taken.goes_on(_steps(requests), budget) or taken.enough(MOST_MOVES_IN_PLACE):
            break
    return taken.course(stuck, _in_vain(full, seen))


class _StepsTaken:
    """The steps so far, and after how many of them the ring was best."""

    def __init__(self, problem: RingProblem, ring: Ring, before: Sequence[RingStep]) -> None:
        self.problem, self.before = problem, tuple(before)
        self.in_place = problem.current is not None
        self.most = (
            min(len(ring.node) * MOST_MOVES_PER_NODE_IN_PLACE, MOST_MOVES_IN_PLACE)
            if self.in_place
            else len(ring.node) * MOST_MOVES_PER_NODE
        )
        self.all, self.best, self.moves, self.ring = list[RingStep](), 0, 0, ring
        self.value = problem.largest_load(ring)
        self.ended = self.too_many_bytes = False

    @property
    def met(self) -> bool:
        """Whether the largest load is what is good enough."""
        return self.problem.target_load is not None and not over(self.value, self.problem.target_load)

    def enough(self, most: int) -> bool:
        """Return whether there were so many moves that no other round follows, and remember it."""
        self.ended = self.moves >= most
        return self.ended

    def goes_on(self, steps: Sequence[RingStep], budget: Budget) -> bool:
        """Take the steps of a round, and return whether another one may follow."""
        problem = self.problem
        if steps:
            most, after = problem.max_bytes, (*self.before, *self.all, *steps)
            self.too_many_bytes = self.in_place and most is not None and over(worth_moved(problem, after), most)
            if self.too_many_bytes:
                return False
            self.moves += len(steps)
            self.all += steps if self.in_place else ()
            value = problem.largest_load(steps[-1].ring)
            if value < self.value * (1.0 - (LEAST_GAIN if self.in_place else ROUNDING)):
                self.value, self.best, self.ring = value, len(self.all), steps[-1].ring
        return not self.met and not budget.over()

    def course(self, requests: Sequence[Request], more: Iterable[Warn] = ()) -> NegotiatedRing:
        """Return the course up to the best ring."""
        stuck = tuple(sorted({request.node for request in requests if request.outcome == "scale-out"}))
        said = (*more, *self._ends(), *_alone(self.problem, requests))
        return NegotiatedRing(self.ring, tuple(self.all[: self.best]), stuck, self._why(requests, stuck), said)

    def _why(self, requests: Sequence[Request], stuck: Sequence[int]) -> str:
        """Return why no load moves, if none does."""
        if self.too_many_bytes:
            return "no move of half an arc within --max-bytes makes the ring more even"
        if self.moves:
            return "no move of half an arc makes the ring more even"
        if self.met:
            return "the largest load is within --target-load"
        if not requests:
            return "no node is overloaded"
        return "no node can take load" if stuck else "what overloads a node lies at one position"

    def _ends(self) -> Iterator[Warn]:
        """Yield what neighbours would go on to do."""
        more = len(self.all) - self.best
        if self.too_many_bytes:
            text = "neighbours would move more load, but then more bytes than --max-bytes would travel"
            yield Warn("MOVES_LEFT_OUT", text)
        elif self.ended:
            text = f"neighbours still moved load after {self.moves:,} moves: the ring is the most even one until then"
            yield Warn("NEGOTIATION_ENDED", text)
        elif more:
            more_even = f"more even by {LEAST_GAIN:.0%}"
            text = f"neighbours would go on with {more:,} moves of half an arc: no ring after them is {more_even}"
            yield Warn("MOVES_LEFT_OUT", text)


def _round(problem: RingProblem, ring: Ring) -> tuple[list[Request], Ring]:
    """Return the requests of one round by the planned load, and the ring after them."""
    limits = replace(problem.thresholds, hold=1)
    use = utilisations(problem, ring)
    low, high = use <= limits.cpu_low, use >= limits.cpu_high
    queue = np.where(high, np.inf, np.where(low, 0.0, (limits.queue_low_s + limits.queue_high_s) / 2.0))
    requests, ring, _ = negotiated(ring, problem.position, queue, use, limits, Watch.of(len(use)))
    return requests, ring


def _steps(requests: Sequence[Request]) -> list[RingStep]:
    return [RingStep("balance", ring) for request in requests for ring in request.rings]


def _waiting(problem: RingProblem, ring: Ring) -> FloatArray:
    """Return the work that waits at each position at first, (M,): of each node in proportion to load."""
    if problem.queue_s is None:
        return np.zeros(len(problem.position))
    owner = ring.node[ring.owner(problem.position)]
    load = problem.load + (1e-300 if problem.load.any() else 1.0)
    share = load / np.bincount(owner, load, minlength=len(problem.nodes))[owner]
    return np.asarray((problem.queue_s * problem.capacity)[owner] * share)


def _in_vain(windows: int, seen: int) -> Iterator[Warn]:
    if windows:
        yield Warn(
            "WINDOWS_FULL", f"in {windows:,} of {seen:,} windows an overloaded node found none that can take load"
        )


def _alone(problem: RingProblem, requests: Sequence[Request]) -> Iterator[Warn]:
    nodes = sorted({request.node for request in requests if request.outcome == "alone"})
    if nodes:
        names = ", ".join(problem.nodes[node] for node in nodes[:MOST_NAMED_NODES])
        more = f" and {len(nodes) - MOST_NAMED_NODES:,} more" if len(nodes) > MOST_NAMED_NODES else ""
        text = f"overloaded by key groups at one position, of which nothing can be given away: {names}{more}"
        yield Warn("ONE_POSITION", text)


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

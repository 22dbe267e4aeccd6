"""The course of negotiations on a ring: round by round with the planned load, or window by window of the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.metrics import utilisations
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.negotiation import Request, Watch, fluid_queue, negotiated
from ftplan.planners.peer_ring.problem import RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring

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
        use = _over(asked / problem.window_s + problem.foreign, problem.capacity)
        queue = _over(np.asarray(np.bincount(owner, backlog, minlength=len(able)), dtype=np.float64), problem.capacity)
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


def _over(amount: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return amounts over capacity, (N,): infinite where there is something and no capacity."""
    none = np.where(amount > 0.0, np.inf, 0.0)
    return np.divide(amount, capacity, out=none, where=capacity > 0.0)


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

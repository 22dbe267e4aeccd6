"""The ring that follows the one in place: planned anew, with nodes that join or leave, or balanced.

:func:`front` says what less load costs in bytes: a few rings that follow it, none of which another is better than.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from ftplan.compiled import called_often, pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.violation import over
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.peer_ring.algorithms.bounds import LeastLoad
from ftplan.planners.peer_ring.algorithms.moves.arc_bound import arc_bound
from ftplan.planners.peer_ring.algorithms.moves.candidate_orders import (
    candidate_orders,
    count_orders,
    every_order,
    members_in_place,
)
from ftplan.planners.peer_ring.algorithms.moves.cuts import CutEffort, RingChange, least_bytes
from ftplan.planners.peer_ring.algorithms.moves.levels import (
    LevelLimits,
    RatedOrder,
    RatedRing,
    best_of,
    explain_infeasible,
    fewest_bytes,
    orders_of,
)
from ftplan.planners.peer_ring.algorithms.orders.windows import cost_of_order
from ftplan.planners.peer_ring.algorithms.outcome import has_requested_last_copies, too_many_bytes
from ftplan.planners.peer_ring.algorithms.partition import partition, ring_of
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.problem import Event, RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.result import Result

#: Largest loads for which the fewest bytes are asked.
FRONT_LOADS = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0)
#: Starts that are looked at for each: good cuts, not proven.
FRONT_EFFORT = CutEffort(tries=2)


def front(problem: RingProblem, answer: RingAnswer, budget: Budget | None = None) -> list[dict[str, float]]:
    """Return largest loads with the bytes that travel, ascending by load, with the planned ring's order of nodes.

    Each is the figure of a ring that can be had with ``target_load``; the planned ring is one of them. Empty without a
    ring in place, or where the planned one has several tokens a node. Good, not proven. Cost: a few passes of
    :func:`least_bytes` each.
    """
    if problem.current is None or not answer.ring.simple or not np.array_equal(answer.ring.nodes, problem.member):
        return []
    budget = budget or Budget(np.inf)
    change = RingChange(problem, capped=problem.holds_capacity)
    order = answer.ring.node
    found = [(problem.largest_load(answer.ring), change.bytes(answer.ring))]
    least = partition(problem, order).largest
    for load in (least, *(target for target in FRONT_LOADS if target > least), np.inf):
        cuts = least_bytes(change, order, load, budget, change.lacking, effort=FRONT_EFFORT).first
        if cuts is not None:
            ring = ring_of(problem, order, cuts)
            found.append((problem.largest_load(ring), change.bytes(ring)))
    rows = list[dict[str, float]]()
    for load, moved in sorted(found):
        if not rows or moved < rows[-1]["bytes"] * (1.0 - ROUNDING):
            rows.append({"largest_load": load, "bytes": moved})
    return rows


#: Share of the time left for orders that may be good; the rest is for their cuts.
ORDERS_SHARE = 0.4
#: Share of the time left for cuts; the rest is for what is proven.
CUTS_SHARE = 0.7
#: Share of the time left for the bound; the rest is for what is said of the ring.
BOUND_SHARE = 0.9
#: How often fewer bytes are allowed for copies on neighbours, so that there are some left for those of the tier.
MOST_TIER_ROUNDS = 8


def from_current(problem: RingProblem, best: LeastLoad, budget: Budget) -> Result[RingAnswer]:
    """Return the best ring after the one in place: cost by zones, then largest load, then bytes that travel.

    All circular orders of few nodes are looked at, each with its cuts solved exactly. Of more nodes the orders are
    those that keep the circle of the nodes that stay, those that join put where the fewest bytes travel, and the order
    of least load; the bound is then one of any order. With ``rebalance`` the order is given.

    *best*: what is best without a look at the ring in place.
    """
    change = RingChange(problem, capped=problem.holds_capacity)
    nodes, every = len(problem.member), 1 if problem.rebalance else count_orders(change)
    complete = every is not None
    with ExitStack() as stack:
        tried = 2.0 * nodes**2 if every is None else every
        if pays_to_compile(2.0 * tried * nodes * len(problem.position)):
            stack.enter_context(called_often())
        with _part(budget, ORDERS_SHARE) as looking:
            orders = orders_of(change, _orders(change, best, complete, looking))
        most = np.inf if problem.max_bytes is None else problem.max_bytes
        least = partition(problem, orders[0].order).largest if problem.rebalance else best.bound
        wanted = LevelLimits(problem.target_load or 0.0, most, least, complete)
        with _part(budget, CUTS_SHARE) as cutting:
            chosen = _chosen(change, orders, wanted, cutting)
        if chosen is None:
            why = explain_infeasible(change, orders, budget)
            return Result("infeasible", None, (), reason=why.reason, infeasible=why, warnings=budget.warnings())
    split = problem.tier.any() and problem.max_bytes is not None  # how bytes are shared with a tier is not proven
    complete = complete and not (split or looking.cut or cutting.cut)
    answer, bound = _answer(change, chosen, best, wanted, complete, budget)
    needed = change.bytes(answer.ring)
    if over(needed, wanted.max_bytes):  # by the tiered copies, of which no choice of cuts gets rid
        why = too_many_bytes(problem, needed)
        return Result("infeasible", None, (), reason=why.reason, infeasible=why, warnings=budget.warnings())
    proven = (
        cost_of_order(problem, answer.ring.node)
        <= (
            problem.least_losses if answer.losses_bound is None else answer.losses_bound,
            answer.violations_bound or 0,
        )
        and problem.largest_load(answer.ring) <= bound * (1.0 + ROUNDING)
        and needed <= (answer.bytes_bound or 0.0) * (1.0 + ROUNDING)
    )
    return Result("optimal" if proven else "feasible", answer, (), bound, warnings=budget.warnings())


@contextmanager
def _part(budget: Budget, share: float) -> Iterator[Budget]:
    """Give a share of the time left to a part of the work, and remember where the clock cut it."""
    part = budget.part(share)
    yield part
    budget.cut |= part.cut


def _orders(change: RingChange, best: LeastLoad, complete: bool, budget: Budget) -> Iterable[np.ndarray]:
    if change.problem.rebalance:
        return [members_in_place(change.problem)]
    if complete:
        return every_order(change)
    return candidate_orders(change, best, budget)


def _chosen(change: RingChange, orders: list[RatedOrder], wanted: LevelLimits, budget: Budget) -> RatedRing | None:
    """Return the best ring, with what tiered copies cost within the bytes allowed."""
    problem, allowed = change.problem, wanted
    chosen = best_of(change, orders, allowed, budget)
    if not problem.tier.any() or np.isinf(wanted.max_bytes):
        return chosen
    least, ring = fewest_bytes(change, orders, budget)
    for _ in range(MOST_TIER_ROUNDS):
        if chosen is None or _within(change, chosen.ring, wanted):
            return chosen
        if allowed.max_bytes <= least:
            break
        excess = change.bytes(tiered(problem, chosen.ring)) - wanted.max_bytes
        allowed = allowed._replace(max_bytes=max(least, min(allowed.max_bytes, chosen.bytes) - excess))
        chosen = best_of(change, orders, allowed, budget)
    if ring is None or not _within(change, ring, wanted):
        return None
    load, zones = problem.largest_load(ring), cost_of_order(problem, ring.node)
    first = np.searchsorted(problem.position, ring.token)
    return RatedRing(ring.node, first, ring, zones, load, least, wanted.least_load, change.lacking)


def _within(change: RingChange, ring: Ring, wanted: LevelLimits) -> bool:
    """Return whether what travels, copies on a tier included, may travel."""
    excess = change.bytes(tiered(change.problem, ring)) - wanted.max_bytes
    return excess <= ROUNDING * max(wanted.max_bytes, 1.0)


def _answer(
    change: RingChange, chosen: RatedRing, best: LeastLoad, wanted: LevelLimits, complete: bool, budget: Budget
) -> tuple[RingAnswer, float]:
    """Return the answer with the bounds of its levels, and the bound of the largest load.

    What is proven of load and bytes holds for rings with as few violations among neighbours as the chosen one. The ring
    in place may stay with more of them, where it has fewer with its tiered copies: bounds are not above what it has.
    """
    problem, current = change.problem, change.current
    ring = tiered(problem, chosen.ring)
    if _no_better(change, ring, wanted):
        ring = current
    steps = () if ring is current else (RingStep(_event(problem), ring),)
    last = change.lacking_last
    if complete:
        bytes_bound = min(chosen.bytes_bound + last, change.bytes(ring))
        bound = min(chosen.load_bound, problem.largest_load(ring))
        return RingAnswer(steps, ring, chosen.zones.violations, bytes_bound, losses_bound=chosen.zones.losses), bound
    allowed = max(problem.largest_load(ring), wanted.target)
    log = Incumbents[Ring]("min", "bytes that travel")
    log.prove(change.lacking + last, "copies beyond those held")
    log.offer(ring, change.bytes(ring), "orders")
    if log.value > log.bound:
        with _part(budget, BOUND_SHARE) as part:
            log.prove(arc_bound(change, allowed, part) + last, "arcs by themselves")
    return RingAnswer(steps, ring, best.violations_bound, log.bound), best.bound


def _event(problem: RingProblem) -> Event:
    joins, leaves = bool(problem.added.any()), bool(problem.removed.any())
    if joins != leaves:
        return "scale-out" if joins else "scale-in"
    return "balance" if problem.rebalance else "re-plan"


def _no_better(change: RingChange, ring: Ring, wanted: LevelLimits) -> bool:
    """Return whether the ring in place is one of the members, one token each on positions, and at least as good.

    It has to keep the copies that are asked for, and the last ones where they are asked for.
    """
    problem, current = change.problem, change.current
    if problem.copies_in_place is not None or not has_requested_last_copies(problem, current):
        return False
    if not current.simple or not np.array_equal(current.nodes, problem.member):
        return False
    if len(np.unique(current.owner(problem.position))) < len(current.node):
        return False

    now, then = problem.zone_cost(current), problem.zone_cost(ring)
    if now != then:
        return now < then
    loads = problem.largest_load(current), problem.largest_load(ring)
    load, other = loads if change.bytes(ring) == 0.0 else (max(one, wanted.target) for one in loads)
    return load <= other * (1.0 + ROUNDING)

"""Few rounds, quickly; from these fewer ones, and shorter ones.

Improvement is iterated greedy colouring ([Culberson1996]) and tabu search on partial schedules ([Blochliger2008]).
"""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds, least_rounds
from ftplan.planners.drain_schedule.algorithms.first_fit import (
    by_saturation,
    first_fit,
    in_order,
    one_by_one,
    zone_by_zone,
)
from ftplan.planners.drain_schedule.algorithms.outcome import PartRounds, solved
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.result import Result

#: Orders of rounds that are tried without gain before iterated greedy stops.
MOST_IDLE_ORDERS = 30
#: Moves of one search for fewer rounds, and rounds up to whose number times nodes a move looks at all.
MOST_TABU_MOVES = 4000


def reordered(sets: AllowedSets, rounds: list[int], rng: np.random.Generator, least: int, budget: Budget) -> list[int]:
    """Fill rounds by first fit again and again, round by round: [Culberson1996], iterated greedy.

    Never more rounds than before: the nodes of each k rounds fit into k again. Rounds come in reverse order, by size,
    or at random. Stops at *least* rounds, or after some orders without gain.
    """
    best, idle = rounds, 0
    for k in range(budget.passes(10 * MOST_IDLE_ORDERS)):
        if len(best) <= least or idle >= MOST_IDLE_ORDERS or budget.over():
            break
        order = list(rounds)
        if k % 3 == 0:
            order.reverse()
        elif k % 3 == 1:
            order.sort(key=lambda mask: (-mask.bit_count(), mask & -mask))
        else:
            order = [order[int(i)] for i in rng.permutation(len(order))]
        rounds = first_fit(sets, (node for mask in order for node in members(mask)))
        idle = 0 if len(rounds) < len(best) else idle + 1
        if len(rounds) <= len(best):
            best = rounds
    return best


def fewer(sets: AllowedSets, rounds: list[int], rng: np.random.Generator, least: int, budget: Budget) -> list[int]:
    """Dissolve one round after another by tabu search, until that fails or *least* rounds are left."""
    while len(rounds) > least and not budget.over():
        smaller = _dissolved(sets, rounds, rng, budget)
        if smaller is None:
            break
        rounds = smaller
    return rounds


def _dissolved(sets: AllowedSets, rounds: list[int], rng: np.random.Generator, budget: Budget) -> list[int] | None:
    """Spread the nodes of the smallest round over the others; None where that fails.

    A waiting node joins the round from which it drives fewest nodes out, which then wait: [Blochliger2008], PartialCol;
    these may not come back to that round for a while.
    """
    order = sorted(rounds, key=lambda mask: (mask.bit_count(), mask & -mask))
    waiting, filled = set(members(order[0])), order[1:]
    until: dict[tuple[int, int], int] = {}
    fewest = len(waiting)
    for step in range(budget.passes(MOST_TABU_MOVES)):
        if not waiting:
            return filled
        if step % 64 == 0 and budget.over():
            return None
        options = []
        for node in waiting:
            for r, mask in enumerate(filled):
                out = driven_out(sets, mask, node)
                tabu = until.get((node, r), -1) >= step
                if not tabu or len(waiting) - 1 + out.bit_count() < fewest:
                    options.append((out.bit_count(), node, r, out))
        if not options:
            continue
        least = min(option[0] for option in options)
        ties = [option for option in options if option[0] == least]
        _, node, r, out = ties[int(rng.integers(len(ties)))]
        mask = filled[r] & ~out
        while not sets.extends(mask, node):  # output fidelity or room: drive out more, at random
            kept = list(members(mask))
            drop = 1 << kept[int(rng.integers(len(kept)))]
            mask, out = mask & ~drop, out | drop
        filled[r] = mask | 1 << node
        waiting.remove(node)
        for other in members(out):
            waiting.add(other)
            until[other, r] = step + 2 + len(waiting) + int(rng.integers(8))
        fewest = min(fewest, len(waiting))
    return None


def driven_out(sets: AllowedSets, mask: int, node: int) -> int:
    """Return nodes of an allowed set that must leave for another to join, as conflicts, zones and numbers say."""
    out = mask & sets.adjacent[node]
    mask &= ~out
    if sets.per_zone < sets.count:
        here = mask & sets.zone_mask[int(sets.zone[node])]
        while here.bit_count() >= sets.per_zone:
            out, mask, here = out | here & -here, mask & ~(here & -here), here & (here - 1)
    while mask.bit_count() >= sets.most:
        out, mask = out | mask & -mask, mask & (mask - 1)
    return out


def shorter(sets: AllowedSets, rounds: list[int]) -> list[int]:
    """Move the slowest nodes of a round to others that take as long anyway, while that shortens the whole.

    As many rounds or fewer; the same nodes.
    """
    seconds = sets.restart_s
    changed = True
    while changed:
        changed = False
        rounds = sorted(rounds, key=lambda mask: (-_slowest(sets, mask), mask & -mask))
        for r in range(len(rounds) - 1, 0, -1):
            longest = _slowest(sets, rounds[r])
            top = [k for k in members(rounds[r]) if seconds[k] >= longest - NOISE]
            others = rounds[:r]
            for node in top:
                place = next((q for q, mask in enumerate(others) if sets.extends(mask, node)), None)
                if place is None:
                    break
                others[place] |= 1 << node
            else:
                left = rounds[r] & ~sum(1 << k for k in top)
                rounds = [*others, *([left] if left else []), *rounds[r + 1 :]]
                changed = True
                break
    return in_order(rounds)


def total_s(sets: AllowedSets, rounds: list[int]) -> float:
    """Return the seconds that all rounds take one after another."""
    return sum(_slowest(sets, mask) for mask in rounds)


def _slowest(sets: AllowedSets, mask: int) -> float:
    return float(sets.restart_s[list(members(mask))].max(initial=0.0))


#: Orders from which first fit begins, beside those of saturation and of zones.
RANDOM_STARTS = 3


def greedy(problem: DrainProblem, options: DrainOptions) -> Result[Drain]:
    """Restart nodes in few rounds: first fit by conflicts, then reordered and dissolved while that helps.

    Guarantee: all limits kept, never more rounds than one by one or zone by zone, and a proven bound from cliques,
    zones, numbers and lost output. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``). Cost
    O(nodes^2) a start, plus a look at output fidelity or a packing a try where these are limited.

    Source: DSATUR [Brelaz1979] in an independence system instead of a graph.
    """
    return solved(problem, options, _greedy)


def _greedy(sets: AllowedSets, budget: Budget) -> PartRounds:
    least = least_rounds(sets)
    return few_rounds(sets, least, sets.seed, budget), least.rounds


def few_rounds(sets: AllowedSets, least: LeastRounds, seed: int, budget: Budget) -> list[int]:
    """Return the fewest rounds of several starts, improved; of as few the shortest, then the first."""
    rng = np.random.default_rng(seed)
    rounds = min(one_by_one(sets), zone_by_zone(sets), key=len)
    for start in range(RANDOM_STARTS):
        if len(rounds) <= least.rounds or (start and budget.over()):
            break
        rounds = min(rounds, by_saturation(sets, rng if start else None), key=len)
    rounds = reordered(sets, rounds, rng, least.rounds, budget)
    rounds = fewer(sets, rounds, rng, least.rounds, budget)
    return shortest(sets, rounds)


def shortest(sets: AllowedSets, rounds: list[int]) -> list[int]:
    """Return rounds made shorter in all where nodes take different times; as many or fewer."""
    if len(set(sets.restart_s.tolist())) <= 1:
        return rounds
    better = shorter(sets, rounds)
    return better if (len(better), total_s(sets, better)) < (len(rounds), total_s(sets, rounds)) else rounds

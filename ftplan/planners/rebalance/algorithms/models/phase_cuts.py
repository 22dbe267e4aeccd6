"""Moves that no order of phases can carry out, proven by trying all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.effects import loads_in_phases
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS
from ftplan.planners.rebalance.migration_phases import hot_first, phase_figures
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Moves that are tried in all phases.
MOST_MOVES = 7


def impossible_moves(
    problem: RebalanceProblem, moves: Sequence[Migration], budget: Budget
) -> tuple[frozenset[Migration], ...]:
    """Return sets of moves that cannot be phased if nothing else comes to their nodes or leaves them.

    Moves that share a node hang together; others can only keep them waiting. A set is proven to be impossible by all
    orders of all phases: the earliest time at which each part of it can be done, 3^M phases for M moves. Larger sets
    than :data:`MOST_MOVES` are left aside.
    """
    sets = []
    for some in _connected(problem, moves):
        if budget.over():
            break
        if len(some) <= MOST_MOVES and not _can_be_phased(problem, some):
            sets.append(frozenset(some))
    return tuple(sets)


def _connected(problem: RebalanceProblem, moves: Sequence[Migration]) -> list[list[Migration]]:
    """Return moves in sets that share no node."""
    root = list(range(len(problem.nodes)))

    def top(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    for move in moves:
        root[top(int(problem.home[move.group]))] = top(move.target)
    sets: dict[int, list[Migration]] = {}
    for move in moves:
        sets.setdefault(top(move.target), []).append(move)
    return list(sets.values())


def _can_be_phased(problem: RebalanceProblem, moves: Sequence[Migration]) -> bool:
    """Return whether some order of phases carries out all moves within the limits of phases and the notice."""
    limits = problem.limits
    last = hot_first(problem, [move for move in moves if move.protocol in AFTER_LOSS])
    before = hot_first(problem, [move for move in moves if move.protocol not in AFTER_LOSS])
    if last and _over(phase_figures(problem, [last])[0].longest_pause_s, limits.max_pause_s):
        return False
    most = problem.transient + ROUNDING * np.maximum(1.0, np.abs(problem.transient))
    every = (1 << len(before)) - 1
    earliest = [math.inf] * (every + 1)
    earliest[0] = 0.0
    for done in range(every):
        rest = every ^ done
        part = rest if earliest[done] < math.inf else 0
        while part:
            duration = _duration(problem, before, done, part, most, earliest[done])
            earliest[done | part] = min(earliest[done | part], earliest[done] + duration)
            part = (part - 1) & rest
    return earliest[every] < math.inf


def _duration(
    problem: RebalanceProblem, moves: Sequence[Migration], done: int, part: int, most: FloatArray, begin_s: float
) -> float:
    """Return how long a phase takes, infinite where it is not allowed; sets of moves are the bits of a number."""
    limits = problem.limits
    first, phase = ([move for k, move in enumerate(moves) if number >> k & 1] for number in (done, part))
    # What was done before may have begun in any order: only what it leaves behind counts here.
    load = problem.start_load.copy()
    for move in first:
        load[problem.home[move.group]] -= problem.load[move.group]
        load[move.target] += problem.load[move.group]
    ((during, after),) = loads_in_phases(problem, [phase])
    shift = load - problem.start_load
    if (during + shift > most).any() or (after + shift > most).any():
        return math.inf
    figures = phase_figures(problem, [phase])[0]
    if len(phase) > 1 and _over(figures.bytes, limits.phase_bytes):
        return math.inf
    if limits.within_s is None:
        return math.inf if _over(figures.longest_pause_s, limits.max_pause_s) else figures.duration_s
    # Under notice a phase may serve in any order: what each move takes alone is the least that it can take.
    alone = [phase_figures(problem, [[move]])[0] for move in phase]
    for move, least in zip(phase, alone, strict=True):
        leaves = bool(problem.removed[problem.home[move.group]])
        if _over(least.longest_pause_s, limits.max_pause_s) or (
            leaves and _over(begin_s + least.end_s[0], limits.within_s)
        ):
            return math.inf
    return max(least.duration_s for least in alone)


def _over(value: float, limit: float | None) -> bool:
    return limit is not None and value > limit * (1.0 + ROUNDING)

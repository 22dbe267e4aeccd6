"""From moves to phases that are safe: which moves begin together, and in which order phases follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.algorithms.phases.backlog import Backlog, OpenPhase, PhaseSize, SortedPhase
from ftplan.planners.rebalance.algorithms.phases.simultaneous import Simultaneous, law, simultaneous
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, CPAL
from ftplan.planners.rebalance.migration_phases import hot_first, move_table, phase_figures
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Moves up to which phases are filled in several orders, and moves times phases up to which in both directions.
MAX_MOVES_IN_SEVERAL_ORDERS, MAX_PHASE_CHECKS = 200, 2_000_000
#: Phases that take no more than this longer, relatively, count as the shortest too.
SHORTER = 0.01


class Phasing(NamedTuple):
    """Moves by phase, those that are recovered in a last one; or the moves that no phase could take.

    ``slowed`` are moves that do without ``cpal``, which would load two nodes at once, though it is cheaper; they stand
    in the phases by the protocol that they have now. ``limit`` and ``needed`` name the rule that keeps the ``stuck``
    moves from being made, and the value with which it would not (None where no value would). ``excess_s`` is the
    longest pause of moves that have to begin together, where that exceeds the size of a phase.
    """

    phases: tuple[tuple[Migration, ...], ...]
    stuck: tuple[Migration, ...] = ()
    slowed: tuple[Migration, ...] = ()
    limit: str | None = None
    needed: float | None = None
    excess_s: float = 0.0

    @property
    def moves(self) -> tuple[Migration, ...]:
        """All moves, phase by phase."""
        return tuple(move for phase in self.phases for move in phase)


def phased(problem: RebalanceProblem, moves: Iterable[Migration], size: PhaseSize | None = None) -> Phasing:
    """Return moves in few phases, in each of which no node is above ``problem.transient``.

    A phase takes moves while pauses, bytes and number stay within *size*, and while each node has room for all that
    arrive before anything leaves: then any order of its moves is safe. Only where not even one move can be made so, as
    in a cycle of full nodes, a phase is made of moves that are safe because they begin together. Moves after a loss
    stand in one last phase, whatever its size. Phases serve hot first.

    Without *size* no pause is longer than the limit, or without one than the longest that a move takes alone; and no
    phase has more bytes than its limit.

    Guarantee: moves that keep ``problem.transient`` in the end always find their phases unless a limit was given, or
    only ``cpal`` is allowed. The number of phases is the least where it is 1 or 2; else several orders are tried in
    both directions, more of them for up to :data:`MAX_MOVES_IN_SEVERAL_ORDERS` moves, and without *size* the shortest
    of as many phases are taken. Cost O(moves) a phase, plus O(moves x nodes) where moves have to begin together.

    Source: phases of moves [Hoffmann2019], hot first [Gu2022].
    """
    made = tuple(moves)
    last = tuple(move for move in hot_first(problem, made) if move.protocol in AFTER_LOSS)
    first = [move for move in made if move.protocol not in AFTER_LOSS]
    own, size = size is None, size or usual_size(problem, made)
    best = fill_phases(Backlog(problem, first), size)
    if (len(best.phases) > 2 or best.stuck or best.slowed) and len(best.phases) * len(first) <= MAX_PHASE_CHECKS:
        best = _best(problem, [best, *_others(problem, first, size)], own)
    if best.stuck and size != least_size(problem, made):  # smaller phases fill nodes in another order
        best = _best(problem, [best, phased(problem, first, least_size(problem, made))], own)
    return best._replace(phases=(*best.phases, last)) if last and not best.stuck else best


def least_size(problem: RebalanceProblem, moves: Sequence[Migration]) -> PhaseSize:
    """Return the largest size of a phase with the least possible longest pause: that of a move alone."""
    return PhaseSize(float(move_table(problem, moves).latency_s.max(initial=0.0)), law(problem).bytes)


def usual_size(problem: RebalanceProblem, moves: Sequence[Migration]) -> PhaseSize:
    """Return the size that the limits of the problem give a phase; without one on pauses :func:`least_size`."""
    return least_size(problem, moves) if problem.limits.max_pause_s is None else law(problem)


def fill_phases(backlog: Backlog, size: PhaseSize, key: FloatArray | None = None) -> Phasing:
    """Return all that is left of a backlog in phases that take what fits, hot first or the least *key*, (M,), first.

    A backlog that is filled backward has to do without moves that begin together.
    """
    phases: list[tuple[Migration, ...]] = []
    slowed: list[Migration] = []
    longest_wait, excess = backlog.longest_wait(size.pause_s), 0.0
    kind = OpenPhase if key is None else SortedPhase
    while len(backlog.left):
        phase = kind(backlog, longest_wait, size)
        phase.fill(backlog.left if key is None else backlog.left[np.argsort(key[backlog.left], kind="stable")])
        chosen = sorted(phase.chosen)
        if not chosen:
            together = Simultaneous([]) if backlog.backward else simultaneous(backlog, size)
            if not together.chosen:
                stuck = tuple(backlog.moves[k] for k in backlog.left)
                return Phasing(tuple(phases), stuck, tuple(slowed), together.limit, together.needed)
            chosen = together.chosen
            pause, _ = backlog.figures(chosen)
            excess = max(excess, pause if pause > size.pause_s * (1.0 + ROUNDING) else 0.0)
            if together.slowed:
                slowed += together.slowed
                longest_wait = backlog.longest_wait(size.pause_s)
        phases.append(backlog.make(chosen))
    return Phasing(tuple(phases[:: -1 if backlog.backward else 1]), slowed=tuple(slowed), excess_s=excess)


def _others(problem: RebalanceProblem, moves: Sequence[Migration], size: PhaseSize) -> Iterator[Phasing]:
    """Yield other phases: filled from the last one, and for few moves in other orders too.

    These take first what can wait least, or what makes room on the nodes that lack most of it.
    """
    for backward in (False, True):
        backlog = Backlog(problem, moves, backward)
        lacking = (
            np.bincount(backlog.gets, backlog.table.load, minlength=len(backlog.load)) + backlog.load - backlog.most
        )
        keys = (None, backlog.longest_wait(size.pause_s), -lacking[backlog.loses])
        for key in keys[0 if backward else 1 : None if len(moves) <= MAX_MOVES_IN_SEVERAL_ORDERS else 1]:
            phasing = fill_phases(Backlog(problem, moves, backward), size, key)
            if not (backward and phasing.stuck):
                yield phasing


def _best(problem: RebalanceProblem, phasings: Sequence[Phasing], shortest: bool) -> Phasing:
    """Return the best of phasings: the first of equals, or of those that are among the *shortest*."""
    ranks = [_rank(problem, phasing) for phasing in phasings]
    equals = [phasing for phasing, rank in zip(phasings, ranks, strict=True) if rank == min(ranks)]
    if not shortest or len(equals) == 1:
        return equals[0]
    lengths = [math.fsum(item.duration_s for item in phase_figures(problem, one.phases)) for one in equals]
    return next(one for one, length in zip(equals, lengths, strict=True) if length <= min(lengths) * (1.0 + SHORTER))


def _rank(problem: RebalanceProblem, phasing: Phasing) -> tuple[int, float, float, int]:
    """Return how bad phases are: moves that are stuck, what slower moves cost, pauses above the size, number."""
    slower = math.fsum(problem.cost(move) - problem.cost(move._replace(protocol=CPAL)) for move in phasing.slowed)
    return len(phasing.stuck), slower, phasing.excess_s, len(phasing.phases)

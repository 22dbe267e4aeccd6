"""From moves to phases that are safe: which moves begin together, and in which order phases follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ftplan.metrics.migration_costs import AFTER_LOSS
from ftplan.metrics.migration_phases import hot_first, move_table
from ftplan.metrics.rebalance_problem import Migration, RebalanceProblem
from ftplan.planners.rebalance.backlog import Backlog, OpenPhase, PhaseSize
from ftplan.planners.rebalance.simultaneous import simultaneous


class Phasing(NamedTuple):
    """Moves by phase, those that are recovered in a last one; or the moves that no phase could take.

    ``slowed`` are moves that do without ``cpal``, which would load two nodes at once, though it is cheaper; they stand
    in the phases by the protocol that they have now. ``limit`` and ``needed`` name the rule that keeps the ``stuck``
    moves from being made, and the value with which it would not (None where no value would).
    """

    phases: tuple[tuple[Migration, ...], ...]
    stuck: tuple[Migration, ...] = ()
    slowed: tuple[Migration, ...] = ()
    limit: str | None = None
    needed: float | None = None

    @property
    def moves(self) -> tuple[Migration, ...]:
        """All moves, phase by phase."""
        return tuple(move for phase in self.phases for move in phase)


def phased(problem: RebalanceProblem, moves: Iterable[Migration], size: PhaseSize | None = None) -> Phasing:
    """Return moves in few phases, in each of which no node is above ``problem.transient``.

    A phase takes moves, hot first, while pauses, bytes and number stay within *size*, and while each node has room for
    all that arrive before anything leaves: then any order of its moves is safe. Only where not even one move can be
    made so, as in a cycle of full nodes, a phase is made of moves that are safe because they begin together. Moves
    after a loss stand in one last phase, whatever its size.

    Without *size* no pause is longer than the limit, or without one than the longest that a move takes alone; and no
    phase has more bytes than its limit.

    Guarantee: moves that keep ``problem.transient`` in the end always find their phases unless a limit was given, or
    only ``cpal`` is allowed. The number of phases is not proven to be least. Cost O(moves) a phase, plus
    O(moves x nodes) where moves have to begin together.

    Source: phases of moves [Hoffmann2019], hot first [Gu2022].
    """
    made = tuple(moves)
    last = tuple(move for move in hot_first(problem, made) if move.protocol in AFTER_LOSS)
    backlog = Backlog(problem, [move for move in made if move.protocol not in AFTER_LOSS])
    phasing = fill_phases(backlog, size or usual_size(problem, made))
    return phasing._replace(phases=(*phasing.phases, last)) if last and not phasing.stuck else phasing


def usual_size(problem: RebalanceProblem, moves: Sequence[Migration]) -> PhaseSize:
    """Return the largest size of a phase with the least possible longest pause, or as the problem's limits say."""
    limits = problem.limits
    most = math.inf if limits.phase_bytes is None else limits.phase_bytes
    if limits.max_pause_s is not None:
        return PhaseSize(limits.max_pause_s, most)
    return PhaseSize(float(move_table(problem, moves).latency_s.max(initial=0.0)), most)


def fill_phases(backlog: Backlog, size: PhaseSize) -> Phasing:
    """Return all that is left of a backlog in phases, see :func:`phased`."""
    phases: list[tuple[Migration, ...]] = []
    slowed: list[Migration] = []
    longest_wait = backlog.longest_wait(size.pause_s)
    while len(backlog.left):
        phase = OpenPhase(backlog, longest_wait, size)
        phase.fill(backlog.left)
        chosen = phase.chosen
        if not chosen:
            together = simultaneous(backlog, size)
            if not together.chosen:
                stuck = tuple(backlog.moves[k] for k in backlog.left)
                return Phasing(tuple(phases), stuck, tuple(slowed), together.limit, together.needed)
            chosen = together.chosen
            if together.slowed:
                slowed += together.slowed
                longest_wait = backlog.longest_wait(size.pause_s)
        phases.append(backlog.make(chosen))
    return Phasing(tuple(phases), slowed=tuple(slowed))

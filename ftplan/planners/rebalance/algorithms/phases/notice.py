"""What leaves nodes that will be gone after a notice, in time, and what is recovered from checkpoints instead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.algorithms.phases.backlog import Backlog, PhaseSize
from ftplan.planners.rebalance.algorithms.phases.departures import Departures, most_saved
from ftplan.planners.rebalance.algorithms.phases.phasing import Phasing, fill_phases, least_size, phased
from ftplan.planners.rebalance.algorithms.phases.simultaneous import law, simultaneous
from ftplan.planners.rebalance.effects import loads_in_phases
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.migration_phases import hot_first, phase_figures
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Longest pauses that are tried beside those that are allowed, in longest pauses of the usual phases.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
#: What a second of pause is worth where moves and recoveries cost the same by the criterion.
TIE = 1e-9


class Notice(NamedTuple):
    """Phases that keep the notice as far as they can.

    ``late`` are the moves that do not make it, as the planner chose them; in a phase of its own stands what they have
    become. ``lost`` are those of them that have no copy left to recover from: then there is no plan.
    """

    phasing: Phasing
    late: tuple[Migration, ...] = ()
    lost: tuple[Migration, ...] = ()


def under_notice(problem: RebalanceProblem, moves: Iterable[Migration]) -> Notice:
    """Return phases in which what is worth most leaves the removed nodes before the notice ends.

    A move is worth what it would cost more to recover its group on the same node; it may go by another protocol if that
    gets it out in time. The usual phases are taken if they keep the notice. Otherwise what has to leave goes first, and
    other moves before it only where they make room, or, if that takes too long, at once with it; of several sizes of
    phases those count that save most, then those with the shortest pause. What does not leave in time is recovered from
    the copy on the node that it was to go to, or from one that is sent there, in a phase of its own, which comes as
    soon after the last departure as there is room.

    Not proven to save most: see :func:`most_saved`. Cost O(moves) a phase and a size.
    """
    notice = _kept(problem, tuple(moves))
    phases = _recovered_soon(problem, notice.phasing.phases)
    return notice._replace(phasing=notice.phasing._replace(phases=phases))


def _kept(problem: RebalanceProblem, made: tuple[Migration, ...]) -> Notice:
    """Return phases under notice in which what is recovered comes last."""
    usual = phased(problem, made)
    if not usual.stuck and in_time(problem, usual.phases):
        return Notice(usual)
    smallest, allowed = least_size(problem, made), law(problem)
    pauses = {min(allowed.pause_s, factor * smallest.pause_s) for factor in PAUSES} | {allowed.pause_s}
    sizes = [PhaseSize(pause, allowed.bytes) for pause in sorted(pauses)]
    notices = [_leave(problem, made, size) for size in sizes]
    best = min(notices, key=lambda notice: _rank(problem, notice))
    if best.late:
        notices = [best, *(_leave(problem, made, size, at_once=True) for size in sizes)]
    return min(notices, key=lambda notice: _rank(problem, notice))


def _recovered_soon(
    problem: RebalanceProblem, phases: tuple[tuple[Migration, ...], ...]
) -> tuple[tuple[Migration, ...], ...]:
    """Return phases with the last of them, if it recovers, as early as no departure follows and no node is too full.

    A phase that was safe in every order of its moves stays so. Cost O(phases^2 x nodes).
    """
    if not phases or not any(move.protocol in AFTER_LOSS for move in phases[-1]):
        return phases
    *others, last = phases
    departing = [number for number, phase in enumerate(others) if any(_leaves(problem, move) for move in phase)]
    was = _safe(problem, phases)
    for at in range(departing[-1] + 1 if departing else 0, len(others)):
        sooner = (*others[:at], last, *others[at:])
        now = _safe(problem, sooner)
        now = (*now[:at], *now[at + 1 :], now[at])  # in the order of the phases as they were
        if all(new >= old for new, old in zip(now, was, strict=True)):
            return sooner
    return phases


def _safe(problem: RebalanceProblem, phases: Sequence[Sequence[Migration]]) -> tuple[int, ...]:
    """Return for each phase 2 where no node is too full in any order of its moves, 1 if they begin together, else 0."""
    most = problem.transient + ROUNDING * np.maximum(problem.transient, TINY)
    before, safe = problem.start_load, []
    for phase, (during, after) in zip(phases, loads_in_phases(problem, phases), strict=True):
        arrived = before.copy()
        for move in phase:
            arrived[move.target] += problem.load[move.group]
        safe.append(2 if (arrived <= most).all() else int((during <= most).all()))
        before = after
    return tuple(safe)


def notice_needed(problem: RebalanceProblem, moves: Iterable[Migration]) -> float:
    """Return a notice in seconds with which every group that has no copy leaves in time, if those go first."""
    must = [m for m in moves if not _leaves(problem, m) or after_loss(problem, m) is None]
    unlimited = replace(problem, limits=replace(problem.limits, within_s=math.inf))
    phases = _leave(unlimited, must, law(problem)).phasing.phases
    return max(_ends(problem, phases, 0.0), default=0.0)


def after_loss(problem: RebalanceProblem, move: Migration) -> Migration | None:
    """Return how a group comes to its target after the loss of its node; None where no copy of it is left."""
    most = law(problem).pause_s
    rows = [PROTOCOLS.index(name) for name in problem.possible(move.group, move.target) if name in AFTER_LOSS]
    able = [row for row in rows if problem.costs.latency_s[row, move.group] <= most]
    if not able:
        return None
    best = min(able, key=lambda row: (float(problem.priced(PROTOCOLS[row])[move.group]), row))
    return move._replace(protocol=PROTOCOLS[best])


def _leaves(problem: RebalanceProblem, move: Migration) -> bool:
    """Return whether a move has to end before the notice does."""
    return bool(problem.removed[problem.home[move.group]]) and move.protocol not in AFTER_LOSS


def _ends(problem: RebalanceProblem, phases: Sequence[Sequence[Migration]], begin_s: float) -> list[float]:
    """Return when each move that leaves a removed node ends, if the first of some phases begins at *begin_s*."""
    return [
        begin_s + end
        for phase, figures in zip(phases, phase_figures(problem, phases), strict=True)
        for move, end in zip(phase, figures.end_s.tolist(), strict=True)
        if _leaves(problem, move)
    ]


def in_time(problem: RebalanceProblem, phases: Sequence[Sequence[Migration]], begin_s: float = 0.0) -> bool:
    """Return whether all that leaves a removed node does so before the notice ends, if phases begin at *begin_s*."""
    most = _within(problem) * (1.0 + ROUNDING)
    return all(end <= most for end in _ends(problem, phases, begin_s))


def _within(problem: RebalanceProblem) -> float:
    return math.inf if problem.limits.within_s is None else problem.limits.within_s


def _rank(problem: RebalanceProblem, notice: Notice) -> tuple[int, int, float, float, int]:
    """Return how bad phases under notice are."""
    phases = notice.phasing.phases
    pause = max((figures.longest_pause_s for figures in phase_figures(problem, phases)), default=0.0)
    cost = math.fsum(problem.cost(move) for move in notice.phasing.moves)
    return len(notice.phasing.stuck), len(notice.lost), cost, pause, len(phases)


def _worth(problem: RebalanceProblem, move: Migration, other: Migration | None) -> float:
    """Return what a move saves against a recovery, an infinity where there is none; 0 or less if nothing."""
    if other is None:
        return math.inf
    saved = problem.cost(other) - problem.cost(move)
    pause = _row(problem.costs.latency_s, other) - _row(problem.costs.latency_s, move)
    return saved + TIE * (1.0 + max(0.0, pause)) if saved >= 0.0 else saved


def _ways(problem: RebalanceProblem, move: Migration) -> list[Migration]:
    """Return a move, and then those by other protocols that may do instead, the cheapest first."""
    limits = problem.limits
    transferred = math.inf if limits.max_bytes is None else _row(problem.costs.bytes, move)
    others = [
        move._replace(protocol=name)
        for name in problem.possible(move.group, move.target)
        if name not in AFTER_LOSS and name != move.protocol
    ]
    pause = law(problem).pause_s
    able = [m for m in others if _row(problem.costs.latency_s, m) <= pause]
    able = [m for m in able if _row(problem.costs.bytes, m) <= transferred]
    return [move, *sorted(able, key=lambda m: (problem.cost(m), PROTOCOLS.index(m.protocol)))]


def _row(table: FloatArray, move: Migration) -> float:
    return float(table[PROTOCOLS.index(move.protocol), move.group])


def _leave(problem: RebalanceProblem, moves: Sequence[Migration], size: PhaseSize, at_once: bool = False) -> Notice:
    """Return phases of a size in which what has to leave goes first, *at_once* with what makes room for it."""
    leaving = {move.group: move for move in moves if _leaves(problem, move)}
    recovered = {group: after_loss(problem, move) for group, move in leaving.items()}
    staying = [move for move in moves if move.protocol not in AFTER_LOSS and move.group not in leaving]
    backlog = Backlog(problem, [*staying, *(way for move in leaving.values() for way in _ways(problem, move))])
    worth = np.zeros(len(backlog.moves))
    for k, move in enumerate(backlog.moves):
        if move.group in leaving:
            worth[k] = _worth(problem, move, recovered[move.group])
    phases: list[tuple[Migration, ...]] = []
    slowed: tuple[Migration, ...] = ()
    begin = 0.0
    while begin <= _within(problem):
        going = [k for k in backlog.left.tolist() if worth[k] > 0.0]
        if not going:
            break
        departures = Departures(backlog, size, worth, _within(problem) - begin)
        chosen = most_saved(departures, going)
        if (at_once or not chosen) and departures.without_room(going):
            backlog.drop([k for k in going if backlog.moves[k] != leaving[backlog.moves[k].group]])
            together = simultaneous(backlog, size)
            chosen, slowed = together.chosen, slowed + together.slowed
        phase = tuple(backlog.moves[k] for k in chosen)
        if not phase or not in_time(problem, [phase], begin):
            break
        phases.append(backlog.make(chosen))
        gone = {move.group for move in phase}
        backlog.drop([k for k in backlog.left.tolist() if backlog.moves[k].group in gone])
        begin += phase_figures(problem, [phase])[0].duration_s
    late = {backlog.moves[k].group for k in backlog.left.tolist()} & leaving.keys()
    backlog.drop([k for k in backlog.left.tolist() if backlog.moves[k].group in late])
    rest = fill_phases(backlog, size)
    last = [recovered[group] or leaving[group] for group in late] + [m for m in moves if m.protocol in AFTER_LOSS]
    phases += [*rest.phases, *([hot_first(problem, last)] if last else [])]
    lost = sorted(group for group in late if recovered[group] is None)
    lates, losts = (tuple(leaving[group] for group in some) for some in (sorted(late), lost))
    return Notice(rest._replace(phases=tuple(phases), slowed=slowed + rest.slowed), lates, losts)

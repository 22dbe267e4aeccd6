"""From the moves that a planner chose to its result: phases, copies made anew, and what the bound proves.

Copies are made anew where moves or the loss of a node left a key group fewer checkpoints than it had.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Infeasible, Status, Warn
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.phases.notice import Notice, notice_needed, under_notice
from ftplan.planners.rebalance.algorithms.phases.phasing import Phasing, phased
from ftplan.planners.rebalance.effects import places_after, surviving_copies
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.problem import Migration, NewCopy, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import memory_used, name_of, rules
from ftplan.planners.result import Result

#: Key groups and nodes that a sentence names.
MAX_NAMED = 5


class NewCopies(NamedTuple):
    """Copies made anew, and the key groups, by number, that keep fewer than before."""

    made: tuple[NewCopy, ...]
    fewer: tuple[int, ...]


def new_copies(problem: RebalanceProblem, moves: Iterable[Migration]) -> NewCopies:
    """Return copies so that each group has as many as before, as far as nodes can keep them.

    A copy goes to a node that keeps copies, has memory for it and shares no domain with the group or its other copies:
    the one whose copies have the least load in all, ties by node. Groups of the largest state choose first. Where state
    is remote no copy is needed. Cost O(groups + new copies x nodes).
    """
    if problem.remote:
        return NewCopies((), ())
    made_moves = tuple(moves)
    of = {move.group: move for move in made_moves}
    place = places_after(problem, made_moves)
    held = [list(surviving_copies(problem, group, of.get(group))) for group in range(len(place))]
    lacking = [group for group, nodes in enumerate(held) if len(nodes) < len(problem.copies[group])]
    carried = np.zeros(len(problem.nodes))
    for group, nodes in enumerate(held):
        carried[nodes] += problem.load[group]
    room = problem.memory * (1.0 + ROUNDING) - memory_used(problem, place, held)
    made, fewer = [], []
    for group in sorted(lacking, key=lambda group: (-problem.state[group], -problem.load[group], group)):
        for _ in range(len(problem.copies[group]) - len(held[group])):
            near = problem.domain[[place[group], *held[group]]]
            able = problem.keeps & (problem.state[group] <= room) & ~np.isin(problem.domain, near)
            if not able.any():
                fewer.append(group)
                break
            node = int(np.argmin(np.where(able, carried, np.inf)))
            made.append(NewCopy(group, int(place[group]), node))
            held[group].append(node)
            room[node] -= problem.state[group]
            carried[node] += problem.load[group]
    return NewCopies(tuple(sorted(made)), tuple(sorted(fewer)))


def copies_lost(problem: RebalanceProblem, fewer: tuple[int, ...]) -> tuple[Warn, ...]:
    """Return the warning that key groups keep fewer copies than before, which names the first."""
    if not fewer:
        return ()
    text = f"no node can keep a new copy, so that {len(fewer)} key groups have fewer than before"
    return (Warn("COPY_LOST", f"{text}: {_named(problem, fewer)}"),)


def outcome(
    problem: RebalanceProblem,
    moves: Iterable[Migration],
    bound: float | None,
    budget: Budget,
    warnings: tuple[Warn, ...] = (),
) -> Result[Rebalance]:
    """Return moves in phases, with the copies that are made anew; optimal where they are worth no more than *bound*.

    Infeasible where these moves cannot be phased, or a group without a copy cannot leave before the notice ends. A
    bound is one for the moves alone: a warning ``BOUND_WITHOUT_PHASES`` says where phases or the notice made moves cost
    more. Cost: see :func:`phased` and :func:`under_notice`.
    """
    chosen = tuple(moves)
    bound = None if bound is None else max(bound, 0.0)  # nothing costs less
    said = (*problem.warnings, *warnings)
    notice = Notice(phased(problem, chosen)) if problem.limits.within_s is None else under_notice(problem, chosen)
    why = not_phased(problem, chosen, notice)
    if why is not None:
        return Result("infeasible", None, rules(problem), bound, why.reason, why, (*said, *budget.warnings()))
    phasing = notice.phasing
    copies = new_copies(problem, phasing.moves)
    value, without = problem.value(phasing.moves), problem.value(chosen)
    status: Status = "optimal" if bound is not None and value <= bound + _slack(value, bound) else "feasible"
    said += _dearer(phasing, notice, value - without) if value > without + _slack(value, without) else ()
    answer = Rebalance(phasing.phases, copies.made)
    return Result(
        status,
        answer,
        rules(problem),
        bound,
        warnings=(*said, *copies_lost(problem, copies.fewer), *budget.warnings()),
    )


def not_phased(problem: RebalanceProblem, moves: Sequence[Migration], notice: Notice) -> Infeasible | None:
    """Return why moves cannot be phased, and the smallest change with which these moves can; None where they can."""
    limits, phasing = problem.limits, notice.phasing
    if notice.lost:
        needed = rounded_up(notice_needed(problem, moves))
        who = _named(problem, [move.group for move in notice.lost])
        text = f"no checkpoint to recover from, and cannot leave in {limits.within_s:g} s: {who}"
        return Infeasible(text, "within", limits.within_s, needed, f"--within {needed:g}s")
    if phasing.limit == "phase-capacity":
        nodes = sorted({int(move.target) for move in phasing.stuck})
        where = ", ".join(problem.nodes[node] for node in nodes[:MAX_NAMED])
        who = _named(problem, [move.group for move in phasing.stuck])
        text = f"no order has room on {where} while cpal loads both nodes: {who}"
        return Infeasible(text, "phase-capacity", ",".join(problem.protocols), None, "--protocol auto")
    most = math.inf if limits.max_bytes is None else limits.max_bytes
    figures = phase_figures(problem, phasing.phases)
    transferred = sum(phase.bytes for phase in figures)
    if transferred > most * (1.0 + ROUNDING):
        needed = float(math.ceil(transferred))
        text = f"with what is recovered, since it does not leave in time, {transferred:.0f} bytes are transferred"
        return Infeasible(text, "max-bytes", limits.max_bytes, needed, f"--max-bytes {needed:.0f}")
    pause = max((phase.longest_pause_s for phase in figures), default=0.0)
    if phasing.stuck or (limits.max_pause_s is not None and pause > limits.max_pause_s * (1.0 + ROUNDING)):
        return _too_small(problem, moves, phasing.stuck)
    return None


def _too_small(problem: RebalanceProblem, moves: Sequence[Migration], stuck: Sequence[Migration]) -> Infeasible:
    """Return which limits of a phase are too small for moves that have to begin together."""
    limits = problem.limits
    unlimited = replace(problem, limits=replace(limits, max_pause_s=None, phase_bytes=None))
    free = phased(unlimited, moves) if limits.within_s is None else under_notice(unlimited, moves).phasing
    phases, figures = free.phases, phase_figures(problem, free.phases)
    pause = max((phase.longest_pause_s for phase in figures), default=0.0)
    most = max((f.bytes for phase, f in zip(phases, figures, strict=True) if len(phase) > 1), default=0.0)
    fixes: list[tuple[str, float | None, float | None, str]] = []
    if limits.max_pause_s is not None and pause > limits.max_pause_s:
        fixes.append(("max-pause", limits.max_pause_s, rounded_up(pause), f"--max-pause {rounded_up(pause):g}s"))
    if limits.phase_bytes is not None and most > limits.phase_bytes:
        fixes.append(("phase-bytes", limits.phase_bytes, math.ceil(most), f"--phase-bytes {math.ceil(most)}"))
    if not fixes:  # the order of phases stood in the way, not a limit alone
        fixes.append(("max-pause", limits.max_pause_s, None, "leave out --max-pause and --phase-bytes"))
    rule, current, needed, _ = fixes[0]
    names = _named(problem, [move.group for move in stuck or moves])
    text = f"moves that have to begin together exceed the limit of a phase: {names}"
    return Infeasible(text, rule, current, needed, " and ".join(fix for *_, fix in fixes))


def rounded_up(value: float) -> float:
    """Return a value rounded up to six digits."""
    if value <= 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 5)
    return float(f"{math.ceil(value / step - ROUNDING) * step:.6g}")


def _dearer(phasing: Phasing, notice: Notice, cost: float) -> tuple[Warn, ...]:
    """Return the warning that phases or the notice cost something that the bound leaves out."""
    why = [f"moves that do without cpal: {len(phasing.slowed)}"] if phasing.slowed else []
    why += [f"groups that do not leave in time: {len(notice.late)}"] if notice.late else []
    why = why or ["moves by other protocols, to leave in time"]
    text = f"{', '.join(why)}; this costs {cost:.6g} more, and the bound is one for moves without phases"
    return (Warn("BOUND_WITHOUT_PHASES", text),)


def _named(problem: RebalanceProblem, groups: Sequence[int]) -> str:
    names = [name_of(problem, group) for group in groups[:MAX_NAMED]]
    return ", ".join(names) + (f" and {len(groups) - MAX_NAMED} more" if len(groups) > MAX_NAMED else "")


def _slack(first: float, second: float) -> float:
    return ROUNDING * max(abs(first), abs(second), LEAST_SCALE)

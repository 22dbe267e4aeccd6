"""Why a key group moves by the protocol that it moves by, in a few words.

Of a group that is recovered, :func:`unsaved` says when it would have left at the soonest: after its node is gone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, LAZY
from ftplan.planners.rebalance.migration_phases import NOWHERE, move_table, phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem

ON_TARGET = "checkpoint on target"
NOT_THERE = "no checkpoint on target"
UNUSED = "checkpoint on target, cheaper without it"
NEXT_ONE = "full checkpoints: the next one goes to the target"
REMOTE = "remote state"
LOST = "after loss of its node"
NO_ROOM = "a cheaper way takes longer, or loads both nodes"


class Unsaved(NamedTuple):
    """A group that is recovered, and when it would have left its node at the soonest, by ``protocol``.

    ``alone_s`` is when, if nothing else moved; ``end_s``, if it were served after all that does leave. Where no move
    was possible both are infinite, and the protocol is None.
    """

    move: Migration
    protocol: str | None
    alone_s: float
    end_s: float


def unsaved(problem: RebalanceProblem, rebalance: Rebalance) -> tuple[Unsaved, ...]:
    """Return what is recovered, in the order of the plan; limits but the links of nodes are left aside.

    Cost O(moves + what is recovered).
    """
    leaving = [
        number
        for number, phase in enumerate(rebalance.phases)
        if any(problem.removed[problem.home[move.group]] and move.protocol not in AFTER_LOSS for move in phase)
    ]
    before = rebalance.phases[: leaving[-1] + 1] if leaving else ((),)
    last = phase_figures(problem, before)[-1]
    table = move_table(problem, before[-1])
    inward, outward = np.zeros(len(problem.nodes)), np.zeros(len(problem.nodes))
    ends, sent = last.wait_s + table.link_s, table.outlet != NOWHERE
    np.maximum.at(inward, table.target, ends)
    np.maximum.at(outward, table.outlet[sent], ends[sent])
    lost = [move for move in rebalance.moves if move.protocol in AFTER_LOSS]
    return tuple(_unsaved(problem, move, last.begin_s, inward, outward) for move in lost)


def _unsaved(
    problem: RebalanceProblem, move: Migration, begin_s: float, inward: FloatArray, outward: FloatArray
) -> Unsaved:
    """Return when a group leaves if it may use each link once that is free, (N,) each, from *begin_s*."""
    soonest = Unsaved(move, None, math.inf, math.inf)
    for name in problem.possible(move.group, move.target):
        if name in AFTER_LOSS:
            continue
        table = move_table(problem, [move._replace(protocol=name)])
        alone, outlet = float(table.completion_s[0]), int(table.outlet[0])
        wait = max(float(inward[move.target]), 0.0 if outlet == NOWHERE else float(outward[outlet]))
        late = wait * float(table.delay[0]) if wait > 0.0 and table.link_s[0] > 0.0 else 0.0
        if begin_s + alone + late < soonest.end_s:
            soonest = Unsaved(move, name, alone, begin_s + alone + late)
    return soonest


def reasons(problem: RebalanceProblem, answer: Rebalance, protocol: str = "auto") -> dict[Migration, str]:
    """Return why each move is by its protocol, and when a group that is recovered would have left at the soonest."""
    why = {move: reason(problem, move, protocol) for move in answer.moves}
    for group in unsaved(problem, answer):
        why[group.move] += _too_late(group, problem.limits.within_s)
    return why


def _too_late(group: Unsaved, within_s: float | None) -> str:
    if within_s is None or group.protocol is None:
        return ""
    if group.alone_s > within_s:
        return f": by {group.protocol} it would take {group.alone_s:.4g} s to leave"
    if group.end_s > within_s:
        return f": by {group.protocol}, after the others, it would have left at {group.end_s:.4g} s"
    return f": to leave by {group.protocol} costs more, or other limits stop it"


def reason(problem: RebalanceProblem, move: Migration, protocol: str = "auto") -> str:
    """Return why a move is by its protocol: what lies on its target, or that ``--protocol`` says so.

    Where another protocol would cost less, the phases have no room for it, or a notice no time.
    """
    at_hand = move.target in problem.copies[move.group]
    if move.protocol in AFTER_LOSS:
        where = REMOTE if problem.remote else ON_TARGET if at_hand else NOT_THERE
        return f"{LOST}, {where}"
    if protocol != "auto":
        return f"--protocol {protocol}"
    if problem.remote:
        return REMOTE
    ways = [way for way in problem.possible(move.group, move.target) if way not in AFTER_LOSS]
    cheapest = min((float(problem.priced(way)[move.group]) for way in ways), default=math.inf)
    dearer = float(problem.priced(move.protocol)[move.group]) > cheapest * (1.0 + ROUNDING)
    there = ON_TARGET if at_hand else NOT_THERE
    if dearer:
        return f"{there}; {NO_ROOM}"
    if at_hand and move.protocol not in ASSISTED:
        return UNUSED
    return NEXT_ONE if move.protocol == LAZY else there

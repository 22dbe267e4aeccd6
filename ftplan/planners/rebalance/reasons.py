"""Why a key group moves by the protocol that it moves by, in a few words."""

from __future__ import annotations

import math

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, LAZY
from ftplan.planners.rebalance.notice import Unsaved, unsaved
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem

ON_TARGET = "checkpoint on target"
NOT_THERE = "no checkpoint on target"
UNUSED = "checkpoint on target, cheaper without it"
NEXT_ONE = "full checkpoints: the next one goes to the target"
REMOTE = "remote state"
LOST = "after loss of its node"
NO_ROOM = "a cheaper way takes longer, or loads both nodes"


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

"""Why a key group moves by the protocol that it moves by, in a few words."""

from __future__ import annotations

from ftplan.metrics.migration_costs import AFTER_LOSS, ASSISTED, LAZY
from ftplan.metrics.rebalance_problem import Migration, RebalanceProblem

ON_TARGET = "checkpoint on target"
NOT_THERE = "no checkpoint on target"
CHEAPER = "checkpoint on target, cheaper without it"
NEXT_ONE = "full checkpoints: the next one goes to the target"
REMOTE = "remote state"
LOST = "after loss of its node"


def reason(problem: RebalanceProblem, move: Migration, protocol: str = "auto") -> str:
    """Return why a move is by its protocol: what lies on its target, or that ``--protocol`` says so."""
    at_hand = move.target in problem.copies[move.group]
    if move.protocol in AFTER_LOSS:
        where = REMOTE if problem.remote else ON_TARGET if at_hand else NOT_THERE
        return f"{LOST}, {where}"
    if protocol != "auto":
        return f"--protocol {protocol}"
    if problem.remote:
        return REMOTE
    if move.protocol in ASSISTED:
        return ON_TARGET
    if at_hand:
        return CHEAPER
    return NEXT_ONE if move.protocol == LAZY else NOT_THERE

"""The moves that undo a rebalance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.effects import places_after, surviving_copies
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, CPAL, PROTOCOLS
from ftplan.planners.rebalance.migration_phases import hot_first
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem

Phases = tuple[tuple[Migration, ...], ...]


def rollback(problem: RebalanceProblem, rebalance: Rebalance) -> Phases:
    """Return the moves that undo a rebalance, the last phase first; after each phase, one less is left to undo.

    Each group goes home by the cheapest protocol that is possible then: its old host mostly keeps a fresh copy. Where
    only ``cpal`` would overload a node, which then serves groups that go as well as those that come, it is avoided.
    A group that came back after the loss of its node stays, and so does one whose old node lacks the room because of
    that. No node is above ``problem.transient`` meanwhile. Cost O(moves + phases x nodes).
    """
    load = problem.loads(places_after(problem, rebalance.moves))
    undone = []
    for phase in reversed(rebalance.phases):
        back = _back(problem, phase, load)
        if back:
            undone.append(hot_first(problem, back))
            going = {move.group for move in back}
            load = load + _arriving(problem, back) - _arriving(problem, [m for m in phase if m.group in going])
    return tuple(undone)


def _back(problem: RebalanceProblem, phase: Sequence[Migration], load: FloatArray) -> list[Migration]:
    """Return the moves that undo a phase, from the load of nodes, (N,), after it."""
    most = problem.transient * (1.0 + ROUNDING) + NOISE
    back = [_home(problem, move, cpal=True) for move in phase if move.protocol not in AFTER_LOSS]
    source = {move.group: move.target for move in phase}
    while back:
        leaving = {move.group for move in back if move.protocol != CPAL}  # what cpal brings serves on meanwhile
        during = load + _arriving(problem, back) - _arriving(problem, [m for m in phase if m.group in leaving])
        over = during > most
        if not over.any():
            break
        slow = {move.group for move in back if move.protocol == CPAL and over[source[move.group]]}
        if slow:
            again = [move for move in phase if move.group in slow]
            back = [move for move in back if move.group not in slow]
            back += [_home(problem, move, cpal=False) for move in again]
        else:
            kept = [move for move in back if not over[move.target]]
            if len(kept) == len(back):  # what is too full is so whatever goes back
                break
            back = kept
    return back


def _home(problem: RebalanceProblem, move: Migration, cpal: bool) -> Migration:
    """Return the cheapest move back, one that its planner may use if there is any."""
    home = int(problem.home[move.group])
    at_hand = problem.remote or home in surviving_copies(problem, move.group, move)

    def rank(row: int) -> tuple[bool, float, int]:
        protocol = PROTOCOLS[row]
        able = (at_hand or protocol not in ASSISTED) and (cpal or protocol != CPAL)
        cost = float(problem.priced(protocol)[move.group]) if able else math.inf
        return protocol not in problem.protocols or not math.isfinite(cost), cost, row

    best = min((row for row, name in enumerate(PROTOCOLS) if name not in AFTER_LOSS), key=rank)
    return Migration(move.group, home, PROTOCOLS[best])


def _arriving(problem: RebalanceProblem, moves: Sequence[Migration]) -> FloatArray:
    targets = np.array([move.target for move in moves], dtype=np.int64)
    groups = np.array([move.group for move in moves], dtype=np.int64)
    return np.asarray(np.bincount(targets, problem.load[groups], minlength=len(problem.nodes)), dtype=np.float64)

"""Moves that are safe only because they begin together, as in a cycle of full nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.rebalance.algorithms.phases.backlog import Backlog, PhaseSize
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, CPAL, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Moves from which the search for moves that begin together starts; from more where it finds none.
STARTS = 64


class Simultaneous(NamedTuple):
    """Moves that begin together, by number in a backlog; [] where there are none, for the rule ``limit``.

    ``slowed`` are those that do without ``cpal`` for it. ``needed`` is the value of the limit with which they could.
    """

    chosen: list[int]
    slowed: tuple[Migration, ...] = ()
    limit: str | None = None
    needed: float | None = None


def simultaneous(backlog: Backlog, size: PhaseSize) -> Simultaneous:
    """Return moves that keep every node within its limit if they begin together, as few as that takes.

    From each move in turn, hot first, as many leave its target as it takes, and so on; sets that go together are
    joined while that is within *size*. Where none is, the set of the shortest pause is taken, unless that breaks a
    limit of the problem. Where only ``cpal`` is in the way, those moves do without for which that costs least.
    Cost O(moves x nodes).
    """
    joined: list[int] = []
    refused: list[tuple[float, float, list[int]]] = []
    leaves = np.array([move.protocol != CPAL for move in backlog.moves])
    for tries, start in enumerate(backlog.left.tolist()):
        if tries >= STARTS and (joined or refused):
            break
        closed = None if start in joined else _closed(backlog, start, joined, leaves)
        if closed is None:
            continue
        some = sorted(closed)
        pause, transferred = backlog.figures(some)
        if size.holds(pause, transferred, len(some)):
            joined = some
        else:
            refused.append((pause, transferred, some))
    if joined:
        return Simultaneous(joined)
    return _least(backlog, refused) if refused else _without_cpal(backlog)


def law(problem: RebalanceProblem) -> PhaseSize:
    """Return the size of a phase that the limits of the problem allow."""
    limits = problem.limits
    return PhaseSize(
        math.inf if limits.max_pause_s is None else limits.max_pause_s,
        math.inf if limits.phase_bytes is None else limits.phase_bytes,
    )


def _least(backlog: Backlog, refused: list[tuple[float, float, list[int]]]) -> Simultaneous:
    allowed = law(backlog.problem)
    kept = [item for item in refused if allowed.holds(*item[:2], len(item[2]))]
    if kept:
        return Simultaneous(min(kept)[2])
    pause, transferred, some = min(refused)
    if PhaseSize(allowed.pause_s).holds(pause, transferred, len(some)):
        return Simultaneous([], limit="phase-bytes", needed=transferred)
    return Simultaneous([], limit="max-pause", needed=pause)


def _closed(backlog: Backlog, start: int, joined: Sequence[int], leaves: BoolArray) -> list[int] | None:
    """Return *joined*, *start* and what has to leave nodes at once with them; None where too little can leave.

    *leaves*, (M,), are the moves that free their old node at their begin.
    """
    t, most = backlog.table, backlog.most
    members = [*joined, start]
    load = _during(backlog, members, leaves)
    to_check = [int(t.target[start])]
    while to_check:
        node = to_check.pop()
        over = load[node] - most[node]
        if over <= 0.0:
            continue
        able = [k for k in backlog.left[t.home[backlog.left] == node].tolist() if leaves[k] and k not in members]
        if not able:
            return None
        full = load[t.target[able]] + t.load[able] > most[t.target[able]]
        ranks = zip(t.load[able] < over, full, np.abs(t.load[able] - over), able, strict=True)
        k = min(ranks)[-1]
        members.append(k)
        load[node] -= t.load[k]
        load[t.target[k]] += t.load[k]
        to_check += [node, int(t.target[k])]
    needed = len(joined) + 1
    for k in members[: needed - 1 : -1]:  # the last first, where no node is too full without them
        home = int(t.home[k])
        if load[home] + t.load[k] <= most[home]:
            members.remove(k)
            load[t.target[k]] -= t.load[k]
            load[home] += t.load[k]
    return members


def _during(backlog: Backlog, members: list[int], leaves: BoolArray) -> FloatArray:
    """Return the load of nodes, (N,), after the begin of moves, some of which free their old nodes."""
    t, nodes = backlog.table, len(backlog.load)
    gone = [k for k in members if leaves[k]]
    arrived = np.bincount(t.target[members], t.load[members], minlength=nodes)
    return backlog.load + arrived - np.bincount(t.home[gone], t.load[gone], minlength=nodes)


def _without_cpal(backlog: Backlog) -> Simultaneous:
    """Return moves that can begin together once some do without ``cpal``, and change these in the backlog."""
    others = {k: _other(backlog, backlog.moves[k]) for k in backlog.left.tolist() if backlog.moves[k].protocol == CPAL}
    leaves = np.array([move.protocol != CPAL or others.get(k) is not None for k, move in enumerate(backlog.moves)])
    best: tuple[float, int, list[int], dict[int, Migration]] | None = None
    refused: list[tuple[float, float, list[int]]] = []
    for tries, start in enumerate(backlog.left.tolist()):
        if tries >= STARTS and best is not None:
            break
        closed = _closed(backlog, start, (), leaves)
        if closed is None:
            continue
        some = sorted(closed)
        changed, cost = _changed(backlog, some, others)
        pause, transferred = backlog.figures(some, changed)
        if not law(backlog.problem).holds(pause, transferred, len(some)):
            refused.append((pause, transferred, some))
        elif best is None or (cost, len(some)) < best[:2]:
            best = (cost, len(some), some, changed)
    if best is None:
        return _least(backlog, refused) if refused else Simultaneous([], limit="phase-capacity")
    backlog.change(best[3])
    return Simultaneous(best[2], tuple(best[3].values()))


def _other(backlog: Backlog, move: Migration) -> Migration | None:
    """Return the move by the cheapest protocol that frees its old node at once; None where there is none."""
    problem, most = backlog.problem, law(backlog.problem).pause_s
    rows = (PROTOCOLS.index(name) for name in problem.possible(move.group, move.target))
    able = [
        (float(problem.priced(PROTOCOLS[row])[move.group]), row)
        for row in rows
        if PROTOCOLS[row] not in AFTER_LOSS | {CPAL} and problem.costs.latency_s[row, move.group] <= most
    ]
    return move._replace(protocol=PROTOCOLS[min(able)[1]]) if able else None


def _changed(
    backlog: Backlog, members: list[int], others: dict[int, Migration | None]
) -> tuple[dict[int, Migration], float]:
    """Return the moves that have to do without ``cpal``, as they are then, and what that costs.

    Those stay with it first that would cost most.
    """
    t, problem = backlog.table, backlog.problem
    load = _during(backlog, members, np.ones(len(backlog.moves), dtype=np.bool_))
    dearer = {}
    for k in members:
        if k in others:
            other = others[k]
            dearer[k] = math.inf if other is None else problem.cost(other) - problem.cost(backlog.moves[k])
    changed = {}
    for k in sorted(dearer, key=lambda k: (-dearer[k], k)):
        other, home = others[k], int(t.home[k])
        if other is not None and load[home] + t.load[k] > backlog.most[home]:
            changed[k] = other
        else:
            load[home] += t.load[k]
    return changed, math.fsum(dearer[k] for k in changed)

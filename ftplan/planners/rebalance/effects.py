"""What moves leave behind: where key groups and copies are afterwards, and what nodes carry meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, CPAL
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem


def places_after(problem: RebalanceProblem, moves: Iterable[Migration]) -> IntArray:
    """Return the node of each key group after moves, (K,)."""
    place = problem.home.copy()
    for move in moves:
        place[move.group] = move.target
    return place


def surviving_copies(problem: RebalanceProblem, group: int, move: Migration | None) -> tuple[int, ...]:
    """Return the nodes that hold a usable copy of a group after its move (None: it stays), before any is made anew.

    After a move to the host of a copy, group and copy swap places. After a move to another node the old host keeps the
    fresh copy, and of the older ones, which are stale, the last in the order of nodes goes. A copy on a removed node,
    one on a node that takes none, and one that would share the domain of the group or of a fresher copy, goes too;
    the old host's copy is the freshest. There are never more copies than before. [Madsen2015], section 6, says this of
    assisted moves; what a direct one leaves is not said there.
    """
    before = problem.copies[group]
    if move is None:
        return tuple(node for node in before if problem.keeps[node])
    home = int(problem.home[group])
    fresh = () if move.protocol in AFTER_LOSS else (home,)
    left: list[int] = []
    taken = {int(problem.domain[move.target])}
    for node in (*fresh, *before):
        domain = int(problem.domain[node])
        if node != move.target and problem.keeps[node] and domain not in taken and len(left) < len(before):
            left.append(node)
            taken.add(domain)
    return tuple(sorted(left))


def loads_in_phases(
    problem: RebalanceProblem, phases: Sequence[Sequence[Migration]]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the load of nodes in each phase and after it, each (N,).

    The moves of a phase begin together. From then on a group loads its target; with ``cpal`` it loads its old node too,
    until the phase ends.
    """
    load = problem.start_load.copy()
    for phase in phases:
        during = load.copy()
        for move in phase:
            during[move.target] += problem.load[move.group]
            if move.protocol != CPAL:
                during[problem.home[move.group]] -= problem.load[move.group]
        load = during.copy()
        for move in phase:
            if move.protocol == CPAL:
                load[problem.home[move.group]] -= problem.load[move.group]
        yield during, np.asarray(load)


def fair_load(problem: RebalanceProblem) -> FloatArray:
    """Return the share of each host in all load that is, or can be, on hosts, by its capacity, (N,); 0 elsewhere."""
    movable = (problem.hosts | problem.removed)[problem.home]
    total = float(problem.load[movable].sum() + problem.foreign[problem.hosts].sum())
    share = np.where(problem.hosts, problem.capacity, 0.0)
    return np.asarray(share * (total / max(float(share.sum()), 1e-300)))


def made_even(problem: RebalanceProblem, near: float) -> RebalanceProblem:
    """Return a problem in which all hosts have to be within a tolerance of their fair share."""
    fair, hosts = fair_load(problem), problem.hosts
    upper = np.where(hosts, np.minimum(problem.ceiling, (1.0 + near) * fair), problem.ceiling)
    return replace(problem, upper=upper, lower=np.where(hosts, (1.0 - near) * fair, -np.inf))

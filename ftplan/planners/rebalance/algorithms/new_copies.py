"""Checkpoint copies that are made anew, where moves or the loss of a node left a key group fewer than it had."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.rebalance.effects import places_after, surviving_copies
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceProblem
from ftplan.planners.rebalance.rules import memory_used, name_of

#: Key groups that a warning names.
NAMED = 5


class Copies(NamedTuple):
    """Copies made anew, and the key groups, by number, that keep fewer than before."""

    made: tuple[NewCopy, ...]
    fewer: tuple[int, ...]


def new_copies(problem: RebalanceProblem, moves: Iterable[Migration]) -> Copies:
    """Return copies so that each group has as many as before, as far as nodes can keep them.

    A copy goes to a node that keeps copies, has memory for it and shares no domain with the group or its other copies:
    the one whose copies have the least load in all, ties by node. Groups of the largest state choose first. Where state
    is remote no copy is needed. Cost O(groups + new copies x nodes).
    """
    if problem.remote:
        return Copies((), ())
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
    return Copies(tuple(sorted(made)), tuple(sorted(fewer)))


def copies_lost(problem: RebalanceProblem, fewer: tuple[int, ...]) -> tuple[Warn, ...]:
    """Return the warning that key groups keep fewer copies than before, which names the first."""
    if not fewer:
        return ()
    names = [name_of(problem, group) for group in fewer[:NAMED]]
    more = f" and {len(fewer) - NAMED} more" if len(fewer) > NAMED else ""
    text = f"no node can keep a new copy, so that {len(fewer)} key groups have fewer than before"
    return (Warn("COPY_LOST", f"{text}: {', '.join(names)}{more}"),)

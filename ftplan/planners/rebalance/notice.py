"""Why groups are recovered, rather than moved before the notice of their nodes ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS
from ftplan.planners.rebalance.migration_phases import NOWHERE, move_table, phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem


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

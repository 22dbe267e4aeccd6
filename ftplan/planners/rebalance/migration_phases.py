"""What each phase of moves takes: bytes, time, pauses and the load of nodes, recomputed from the plan alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.rebalance.effects import loads_in_phases
from ftplan.planners.rebalance.migration_costs import CPAL, DIRECT, FETCH, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Where a transfer keeps no link out of a node busy.
NOWHERE = -1


class PhaseFigures(NamedTuple):
    """What a phase of M moves takes. Seconds count from the begin of the first phase, but waits and pauses."""

    #: ``begin_s``, ``duration_s``: the phase begins when the former has ended.
    begin_s: float
    duration_s: float
    bytes: float  # over the network
    wait_s: FloatArray  # of each move, from the begin of the phase until its transfer starts, (M,)
    pause_s: FloatArray  # of the key group of each move, (M,)
    end_s: FloatArray  # when each move is done, (M,)
    highest_utilisation: float  # of all nodes of any capacity while the phase lasts

    @property
    def longest_pause_s(self) -> float:
        """The longest pause of a key group."""
        return float(self.pause_s.max(initial=0.0))


class MoveTable(NamedTuple):
    """M moves as columns, each (M,): nodes by number, load in load units, seconds and bytes of the move alone.

    ``outlet`` is the node whose link out the transfer keeps busy, :data:`NOWHERE` for none, and for ``fetch``, which
    takes the host of a copy whose link is free first. ``catch_up`` is the pause that a second of waiting brings: 0 with
    ``cpal``, which goes on meanwhile. ``delay`` is by how much a second of waiting delays the end.
    """

    group: IntArray
    home: IntArray
    target: IntArray
    outlet: IntArray
    load: FloatArray
    latency_s: FloatArray
    completion_s: FloatArray
    bytes: FloatArray
    link_s: FloatArray
    catch_up: FloatArray
    delay: FloatArray


def move_table(problem: RebalanceProblem, moves: Sequence[Migration]) -> MoveTable:
    """Return moves as columns."""
    group = np.array([move.group for move in moves], dtype=np.int64)
    target = np.array([move.target for move in moves], dtype=np.int64)
    row = np.array([PROTOCOLS.index(move.protocol) for move in moves], dtype=np.int64)
    costs, home = problem.costs, problem.home[group]
    delay = costs.catch_up[group]
    return MoveTable(
        group,
        home,
        target,
        np.where(row == PROTOCOLS.index(DIRECT), home, NOWHERE),
        problem.load[group],
        costs.latency_s[row, group],
        costs.completion_s[row, group],
        costs.bytes[row, group],
        costs.link_s[row, group],
        np.where(row == PROTOCOLS.index(CPAL), 0.0, delay),
        delay,
    )


def hot_first(problem: RebalanceProblem, moves: Sequence[Migration]) -> tuple[Migration, ...]:
    """Return moves in the order in which those of a phase are served: most records per second first.

    Ties go by operator and number. Source: [Gu2022], which moves hot keys first.
    """
    return tuple(sorted(moves, key=lambda move: (-problem.rate[move.group], move.group)))


def waits(problem: RebalanceProblem, moves: Sequence[Migration], table: MoveTable) -> FloatArray:
    """Return how long each move of a phase waits until its transfer starts, (M,). Cost O(moves).

    A node has one link in and one out. A transfer starts when those that it needs are free of the transfers that stand
    before it; a move that transfers nothing waits for none.
    """
    inward, outward = [0.0] * len(problem.nodes), [0.0] * len(problem.nodes)
    waiting = np.zeros(len(moves))
    columns = zip(table.target.tolist(), table.outlet.tolist(), table.link_s.tolist(), strict=True)
    for k, (target, outlet, link_s) in enumerate(columns):
        if link_s <= 0.0:
            continue
        if moves[k].protocol == FETCH:
            hosts = [node for node in problem.copies[moves[k].group] if not problem.removed[node]]
            outlet = min(hosts, key=lambda node: (outward[node], node), default=NOWHERE)
        start = inward[target] if outlet == NOWHERE else max(inward[target], outward[outlet])
        waiting[k] = start
        inward[target] = start + link_s
        if outlet != NOWHERE:
            outward[outlet] = start + link_s
    return waiting


def phase_figures(problem: RebalanceProblem, phases: Sequence[Sequence[Migration]]) -> tuple[PhaseFigures, ...]:
    """Return what each phase takes, its moves served in the order given. Cost O(moves + phases x nodes).

    A move ends after its wait, stretched by catching up, and its completion; a phase after the last of its moves and
    ``phase_overhead_s``. A group is paused for its latency and, but with ``cpal``, for the stretched wait. The ``lazy``
    move waits for the next checkpoint without a pause: its completion counts that, its latency does not.
    """
    begin, figures = 0.0, []
    capacity = problem.capacity
    for phase, (during, _) in zip(phases, loads_in_phases(problem, phases), strict=True):
        table = move_table(problem, phase)
        wait = waits(problem, phase, table)
        pause = table.latency_s + _stretched(wait, table.catch_up)
        end = table.completion_s + _stretched(wait, table.delay)
        duration = float(end.max(initial=0.0)) + problem.limits.phase_overhead_s
        used = np.divide(during, capacity, out=np.zeros(len(during)), where=capacity > 0.0)
        transferred, highest = float(table.bytes.sum()), float(used.max())
        figures.append(PhaseFigures(begin, duration, transferred, wait, pause, begin + end, highest))
        begin += duration
    return tuple(figures)


def _stretched(wait: FloatArray, factor: FloatArray) -> FloatArray:
    return np.multiply(wait, factor, out=np.zeros(len(wait)), where=wait > 0.0)

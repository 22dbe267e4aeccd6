"""Every node that a key group of a rebalance could be on instead: what it costs there, and what rules it out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.topology import FloatArray
from ftplan.model.violation import Breach, over
from ftplan.planners.rebalance.effects import loads_in_phases, places_after, surviving_copies
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.reasons import reasons
from ftplan.planners.rebalance.rules import (
    BALANCE,
    CAPACITY,
    DRAINED,
    FILLED,
    MEMORY,
    MOST_BYTES,
    MOST_MOVES,
    MOST_PAUSE,
    PHASE_CAPACITY,
    PROTOCOL,
    WITHIN,
    copies_after,
    memory_used,
)

#: What a node that takes no key groups breaks.
TAKES_NONE = "accepts"


class StatedMove(NamedTuple):
    """Phase of a move, and why it is by its protocol."""

    phase: int
    reason: str


@dataclass(frozen=True, eq=False)
class PlannedRebalance:
    """A plan by numbers, and what follows from it once for all.

    ``load`` and ``memory`` are those of nodes after all moves, (N,); ``pause_s``, ``moved`` and ``stated`` are by key
    group.
    """

    problem: RebalanceProblem
    cluster: Cluster
    answer: Rebalance
    load: FloatArray
    memory: tuple[FloatArray, FloatArray]  # before and after
    copies: tuple[tuple[int, ...], ...]
    moved: Mapping[int, Migration]
    stated: Mapping[int, StatedMove]
    pause_s: Mapping[int, float]
    during: Sequence[FloatArray]  # load of nodes in each phase

    @classmethod
    def of(cls, problem: RebalanceProblem, cluster: Cluster, answer: Rebalance, protocol: str) -> PlannedRebalance:
        """Return what follows from an answer; *protocol* is what was asked for."""
        place, copies = places_after(problem, answer.moves), copies_after(problem, answer)
        figures, why = phase_figures(problem, answer.phases), reasons(problem, answer, protocol)
        return cls(
            problem,
            cluster,
            answer,
            problem.loads(place),
            (memory_used(problem, problem.home, problem.copies), memory_used(problem, place, copies)),
            copies,
            {move.group: move for move in answer.moves},
            {move.group: StatedMove(number, why[move]) for number, phase in enumerate(answer.phases) for move in phase},
            {
                move.group: pause
                for phase, item in zip(answer.phases, figures, strict=True)
                for move, pause in zip(phase, item.pause_s.tolist(), strict=True)
            },
            [during for during, _ in loads_in_phases(problem, answer.phases)],
        )

    def latency_s(self, move: Migration) -> float:
        """Return for how long a move alone pauses its key group."""
        return float(self.problem.costs.latency_s[PROTOCOLS.index(move.protocol), move.group])


def way_columns(problem: RebalanceProblem, group: int) -> tuple[str, ...]:
    """Return the columns of what each protocol costs: those that the group could go by to some node."""
    able = {way for node in range(len(problem.nodes)) for way in _ways(problem, group, node)}
    return tuple(_column(problem, protocol) for protocol in PROTOCOLS if protocol in able)


def _column(problem: RebalanceProblem, protocol: str) -> str:
    unit = "" if problem.criterion == "bytes" else ", s"
    return f"{problem.criterion} by {protocol}{unit}"


def _ways(problem: RebalanceProblem, group: int, node: int) -> tuple[str, ...]:
    """Return the protocols by which a group can come to a node; none where it is."""
    return () if node == problem.home[group] else problem.possible(group, node)


def candidate_rows(planned: PlannedRebalance, group: int) -> list[dict[str, Any]]:
    """Return every node for a key group, the cheapest first that nothing rules out; its own node costs nothing.

    ``cost`` is that of the cheapest protocol, infinite where there is none.
    """
    problem, move = planned.problem, planned.moved.get(group)
    chosen = int(problem.home[group]) if move is None else move.target
    rows: list[dict[str, Any]] = []
    columns = way_columns(problem, group)
    for node, name in enumerate(problem.nodes):
        ways = _ways(problem, group, node)
        prices = {protocol: problem.cost(Migration(group, node, protocol)) for protocol in ways}
        at_home = node == problem.home[group]
        breach = None if node == chosen else next(_breaches(planned, group, node), None)
        there = float(planned.load[node]) + (0.0 if node == chosen else float(problem.load[group]))
        capacity = float(problem.capacity[node])
        rows.append(
            {
                "node": name,
                "zone": planned.cluster.nodes[node].zone,
                "utilisation then": there / capacity if capacity > 0.0 else None,
                **dict.fromkeys(columns),
                **{_column(problem, protocol): price for protocol, price in prices.items()},
                "chosen": node == chosen,
                "ruled out by": None if breach is None else f"{breach.rule}: {breach.message}",
                "limit": None if breach is None else breach.limit,
                "would be": None if breach is None else breach.current,
                "cost": 0.0 if at_home else min(prices.values(), default=math.inf),
            }
        )
    rows.sort(key=lambda row: (not row["chosen"], row["ruled out by"] is not None, row["cost"]))
    return rows


def _breaches(planned: PlannedRebalance, group: int, node: int) -> Iterator[Breach]:
    """Yield what a key group on another node would break, all else as planned; new copies left aside."""
    problem, name = planned.problem, planned.problem.nodes[node]
    if node == problem.home[group]:
        if problem.removed[node]:
            yield Breach(DRAINED, 0, 1, None, None, f"{name} is to be drained")
    elif not problem.hosts[node]:
        rule, why = (DRAINED, "is to be drained") if problem.removed[node] else (TAKES_NONE, "takes no key groups")
        yield Breach(rule, None, None, None, None, f"{name} {why}")
    else:
        yield from _of_the_way(planned, group, node)
    yield from _of_loads(planned, group, node)
    yield from _of_memory(planned, group, node)


def _of_the_way(planned: PlannedRebalance, group: int, node: int) -> Iterator[Breach]:
    """What rules are broken by every protocol that could bring a group to a node."""
    problem, limits = planned.problem, planned.problem.limits
    ways = [(protocol, PROTOCOLS.index(protocol)) for protocol in _ways(problem, group, node)]
    if not ways:
        text = "no protocol that may be used can bring it there"
        yield Breach(PROTOCOL, None, None, None, None, text)
        return
    costs = problem.costs
    moves = [row for protocol, row in ways if protocol not in AFTER_LOSS]
    lost = len(moves) < len(ways)  # what comes back after a loss waits for nobody's consent
    shortest = 0.0 if lost else min(float(costs.latency_s[row, group]) for row in moves)
    if limits.max_pause_s is not None and over(shortest, limits.max_pause_s):
        yield Breach(MOST_PAUSE, limits.max_pause_s, shortest, shortest, None, "it would be paused for longer")
    soonest = 0.0 if lost else min(float(costs.completion_s[row, group]) for row in moves)
    if limits.within_s is not None and problem.removed[problem.home[group]] and over(soonest, limits.within_s):
        yield Breach(WITHIN, limits.within_s, soonest, soonest, None, "it would not be there in time")
    own = planned.moved.get(group)
    others = [move for move in planned.answer.moves if move is not own]
    if limits.max_moves is not None and len(others) + 1 > limits.max_moves:
        yield Breach(MOST_MOVES, limits.max_moves, len(others) + 1, len(others) + 1, None, "more would move")
    sent = math.fsum(float(costs.bytes[PROTOCOLS.index(move.protocol), move.group]) for move in others)
    sent += min(float(costs.bytes[row, group]) for _, row in ways)
    if limits.max_bytes is not None and over(sent, limits.max_bytes):
        yield Breach(MOST_BYTES, limits.max_bytes, sent, sent, None, "more would be transferred")


def _of_loads(planned: PlannedRebalance, group: int, node: int) -> Iterator[Breach]:
    """Loads afterwards, of the node and of the one that it would be on otherwise, and in the phase of its move."""
    problem, move, load = planned.problem, planned.moved.get(group), float(planned.problem.load[group])
    name, there = problem.nodes[node], float(planned.load[node]) + load
    ceiling, upper = float(problem.ceiling[node]), float(problem.upper[node])
    if problem.hosts[node] or node == problem.home[group]:
        if over(there, ceiling):
            yield Breach(CAPACITY, ceiling, there, there, None, f"{name} would be overloaded")
        elif over(there, upper):
            yield Breach(BALANCE, upper, there, there, None, f"{name} would have more than its share")
    chosen = int(problem.home[group]) if move is None else move.target
    left, least = float(planned.load[chosen]) - load, float(problem.lower[chosen])
    if over(least, left):
        rule = FILLED if problem.added[chosen] else BALANCE
        yield Breach(rule, least, left, left, None, f"{problem.nodes[chosen]} would have less than its share")
    if move is None or node == problem.home[group]:
        return
    begin = planned.stated[group].phase
    peak = max((float(during[node]) for during in planned.during[begin:]), default=0.0) + load
    limit = float(problem.transient[node])
    if over(peak, limit):
        yield Breach(PHASE_CAPACITY, limit, peak, peak, None, f"{name} would be overloaded from phase {begin} on")


def _of_memory(planned: PlannedRebalance, group: int, node: int) -> Iterator[Breach]:
    problem, move = planned.problem, planned.moved.get(group)
    before, after = (float(used[node]) for used in planned.memory)
    way = next(iter(_ways(problem, group, node)), None)
    copies = surviving_copies(problem, group, None if way is None else Migration(group, node, way))
    holds = planned.copies[group], (int(problem.home[group]) if move is None else move.target,)
    more = 1 + (node in copies) - sum(node in nodes for nodes in holds)
    used, limit = after + more * float(problem.state[group]), float(problem.memory[node])
    if np.isfinite(limit) and over(used, limit) and over(used, before):
        yield Breach(MEMORY, limit, used, used, None, f"{problem.nodes[node]} has not the memory")

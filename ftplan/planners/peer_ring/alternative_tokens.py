"""Other places where a node's token could be: what the ring would be worth, and what rules it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.violation import over
from ftplan.planners.peer_ring.judge import CODES
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.problem import RingProblem, RingStep, ZoneCost
from ftplan.planners.peer_ring.ring import Ring, in_order, written_token
from ftplan.planners.peer_ring.rules import broken
from ftplan.planners.peer_ring.steps import event_of

#: Places on each side of a token that are looked at.
MOST_PLACES_AWAY = 4
COLUMNS = (
    "token",
    "node",
    "load of the node",
    "neighbour",
    "load of the neighbour",
    "largest load",
    "bytes",  # only where a ring is in place
    "chosen",
    "ruled out by",
    "limit",
    "would be",
)


@dataclass(frozen=True, eq=False)
class PlannedRing:
    """A plan's ring, the rules that it states, and what it is worth: cost by zones, largest load, what travels."""

    problem: RingProblem
    ring: Ring
    rules: Sequence[str]
    zones: ZoneCost
    largest: float
    moved: float
    breaks: frozenset[tuple[str, str | None]]

    @classmethod
    def of(cls, problem: RingProblem, ring: Ring, rules: Sequence[str], steps: Sequence[RingStep]) -> PlannedRing:
        """Return what follows from a plan once for all."""
        moved = worth_moved(problem, steps)
        breaks = frozenset((breach.rule, breach.where) for breach in broken(problem, ring, moved, rules))
        return cls(problem, ring, rules, problem.zone_cost(ring), problem.largest_load(ring), moved, breaks)

    def number_of(self, node: int) -> int:
        """Return the number of the token of a node, the first of several."""
        return int(np.flatnonzero(self.ring.node == node)[0])


def columns_of(problem: RingProblem) -> tuple[str, ...]:
    """Return the columns of cuts: bytes where a ring is in place."""
    return tuple(name for name in COLUMNS if name != "bytes" or problem.current is not None)


def places_of(planned: PlannedRing, number: int) -> list[int]:
    """Return where a token could be with its neighbours as they are, by number of the position, nearest ones only.

    The arc before it keeps one position at least, and so does its own.
    """
    ring, size = planned.ring, len(planned.problem.position)
    here, before, after = (
        int(np.searchsorted(planned.problem.position, ring.token[k % len(ring.token)]))
        for k in (number, number - 1, number + 1)
    )
    down = (here - before) % size or size
    up = (after - here) % size or size
    return [(here + step) % size for step in range(-min(MOST_PLACES_AWAY, down - 1), min(MOST_PLACES_AWAY, up - 1) + 1)]


def moved_to(ring: Ring, number: int, token: float) -> Ring:
    """Return the ring with one token elsewhere."""
    tokens = ring.token.copy()
    tokens[number] = token
    return in_order(tokens, ring.node, ring.tier)


def alternative_rows(planned: PlannedRing, number: int, places: Sequence[int]) -> list[dict[str, Any]]:
    """Return what the ring would be with a token at each of some positions, in order of the circle."""
    problem, ring = planned.problem, planned.ring
    node = int(ring.node[number])
    neighbour = int(ring.node[number - 1])
    rows = []
    for place in places:
        token = float(problem.position[place])
        chosen = token == float(ring.token[number])
        other = ring if chosen else moved_to(ring, number, token)
        loads, largest = problem.loads(other), problem.largest_load(other)
        moved = planned.moved
        if problem.current is not None and not chosen:
            moved = worth_moved(problem, [RingStep(event_of(problem), other)])
        rule, limit, value = (None, None, None) if chosen else ruled_out(planned, other, largest, moved)
        values = (
            written_token(token),
            problem.nodes[node],
            float(loads[node]),
            problem.nodes[neighbour],
            float(loads[neighbour]),
            largest,
            None if problem.current is None else moved,
            chosen,
            rule,
            limit,
            value,
        )
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def shown(problem: RingProblem, rows: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return rows of cuts as they are shown."""
    return tuple({name: row[name] for name in columns_of(problem)} for row in rows)


def ruled_out(planned: PlannedRing, other: Ring, largest: float, moved: float) -> tuple[str | None, Any, Any]:
    """Return what rules another ring out, its limit, and what it would be: a rule, else the first level that is worse.

    Nothing where it is as good, or better: then the plan is not the best there is.
    """
    for breach in broken(planned.problem, other, moved, planned.rules):
        if breach.rule in planned.rules and (breach.rule, breach.where) not in planned.breaks:
            return CODES.get(breach.rule, breach.rule), breach.limit, breach.current
    return next(_worse(planned, other, largest, moved), (None, None, None))


def _worse(planned: PlannedRing, other: Ring, largest: float, moved: float) -> Iterator[tuple[str, Any, Any]]:
    problem = planned.problem
    zones = problem.zone_cost(other)
    if zones != planned.zones:
        if zones.losses > planned.zones.losses:
            yield "losses by one zone", planned.zones.losses, zones.losses
        elif zones > planned.zones:
            yield "zone violations", planned.zones.violations, zones.violations
        return
    enough = max(planned.largest, problem.target_load or 0.0)
    if over(largest, enough):
        yield "largest load", enough, largest
    elif over(planned.largest, largest) and planned.largest > (problem.target_load or 0.0):
        return  # better than the plan
    elif problem.current is not None and over(moved, planned.moved):
        yield "bytes", planned.moved, moved


def verdict(planned: PlannedRing, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Say which of other cuts nothing rules out, and whether it is better than the plan's."""
    others = [row for row in rows if not row["chosen"]]
    free = [row for row in others if row["ruled out by"] is None]
    if not free:
        if len(others) == 1:
            yield "the other place of its token would be worse"
        elif others:
            yield f"each of {len(others):,} other places is worse"
        return
    best = min(free, key=lambda row: (row["largest load"], row["bytes"] or 0.0))
    text = f"a token of {best['node']} at {best['token']:.6g} breaks no rule"
    if over(planned.largest, best["largest load"]):
        yield f"{text}, and the largest load would be {best['largest load']:.6g}: this plan is not the best"
    elif best["bytes"] is not None and over(planned.moved, best["bytes"]):
        yield f"{text}, and {planned.moved - best['bytes']:,.0f} bytes less would travel: this plan is not the best"
    else:
        yield f"{text} and is as good"

"""The limits of a rebalance that can be raised, what each would have to be, and how that is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.plan import canonical_number
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.units import MB
from ftplan.planners.rebalance.algorithms.outcome import rounded_up
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.effects import fair_load, made_even
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.problem import RebalanceProblem
from ftplan.planners.rebalance.rules import (
    BALANCE,
    CAPACITY,
    FILLED,
    MEMORY,
    MOST_BYTES,
    MOST_MOVES,
    MOST_PAUSE,
    PROTOCOL,
    WITHIN,
)

#: Limits that depend on phases too, not on the placement alone.
IN_PHASES = (MOST_PAUSE, WITHIN)
#: A limit that is none.
FREE = 1e15


class RaisableLimit(NamedTuple):
    """A limit that can be raised.

    ``none`` is the value at which it limits nothing, ``used`` the least value that a placement keeps, ``fix`` says it
    as options; no value below ``low`` can do.
    """

    name: str
    current: float
    none: float
    at: Callable[[RebalanceProblem, float], RebalanceProblem]
    used: Callable[[WorkingPlacement], float]
    fix: Callable[[float], str]
    reason: Callable[[float, WorkingPlacement], str]
    said: Callable[[float], Any] = lambda value: value
    whole: bool = False
    low: float = 0.0


def raisable_limits(problem: RebalanceProblem) -> list[RaisableLimit]:
    """Return the limits of a problem, in the order in which they are asked for again."""
    limits = problem.limits
    raisable = [_overload(problem)]
    if np.isfinite(problem.lower).any():
        raisable.append(_evenness(problem))
    if np.isfinite(problem.memory).any() and problem.state.any():
        raisable.append(_memory(problem))
    if problem.protocols != PROTOCOLS[:4]:
        raisable.append(_protocol(problem))
    if limits.within_s is not None:
        raisable.append(_within(problem))
    if limits.max_pause_s is not None:
        raisable.append(_pause(problem))
    if limits.max_bytes is not None:
        raisable.append(_bytes(problem))
    if limits.max_moves is not None:
        raisable.append(_moves(problem))
    return raisable


def _overload(problem: RebalanceProblem) -> RaisableLimit:
    able = (problem.capacity > 0.0) & ~problem.removed
    current = canonical_number(float((problem.ceiling[able] / problem.capacity[able]).max(initial=0.0)))

    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        ceiling = problem.ceiling if value == current else value * problem.capacity
        if value >= FREE:
            ceiling = np.full(len(problem.nodes), np.inf)
        return replace(other, ceiling=ceiling, upper=ceiling)  # how even load has to be is asked for after this

    def used(placement: WorkingPlacement) -> float:
        load = np.where(problem.removed, 0.0, placement.load)
        if (load[~able] > problem.ceiling[~able]).any():
            return math.inf
        return max(current, float((load[able] / problem.capacity[able]).max(initial=0.0)))

    def reason(value: float, placement: WorkingPlacement) -> str:
        above = np.where(problem.removed, -np.inf, placement.load - problem.ceiling)
        node = int(np.argmax(above / np.where(able, problem.capacity, 1.0)))
        name, limit = problem.nodes[node], float(problem.ceiling[node])
        if problem.foreign[node] > limit:
            text = f"{name}: other work alone has a load of {problem.foreign[node]:.6g}"
            return f"{text}, {problem.foreign[node] - limit:.6g} above its limit of {limit:.6g}"
        total, most = float(problem.start_load.sum()), float(problem.ceiling[~problem.removed].sum())
        short = f"; all nodes together may have {most:.6g}, the load is {total:.6g}" if total > most else ""
        text = f"not all nodes can be relieved: at best {name} keeps a load of {placement.load[node]:.6g}"
        return f"{text}, {above[node]:.6g} above its limit of {limit:.6g}{short}"

    def fix(value: float) -> str:
        return f"--overload {value:g}" if value < FREE else "add nodes that take tasks and have cpu"

    stays = ~problem.removed
    total = float(problem.load.sum() + problem.foreign[stays].sum())
    low = total / max(float(problem.capacity[stays].sum()), NOISE) * (1.0 - ROUNDING)
    return RaisableLimit(CAPACITY, current, FREE, at, used, fix, reason, _or_none, low=min(low, FREE))


def tolerance_of(problem: RebalanceProblem) -> float | None:
    """Return the tolerance of all hosts; None where load need not be even, or only added nodes are to be filled."""
    fair = fair_load(problem)
    even = np.isfinite(problem.lower) & (fair > 0.0)
    if not even.any() or not (even & ~problem.added).any():
        return None
    node = int(np.argmax(np.where(even, fair, 0.0)))
    return canonical_number(float(1.0 - problem.lower[node] / fair[node]))


def _evenness(problem: RebalanceProblem) -> RaisableLimit:
    near, fair = tolerance_of(problem), fair_load(problem)
    filling = near is None
    able = fair > 0.0
    current = 0.0 if near is None else near

    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        if value >= FREE:
            return replace(other, upper=other.ceiling, lower=np.full(len(problem.nodes), -np.inf))
        if filling:
            return replace(other, lower=problem.lower)
        return made_even(other, value)

    def used(placement: WorkingPlacement) -> float:
        if filling:
            least = problem.lower - ROUNDING * np.abs(problem.lower)
            return math.inf if (placement.load < least).any() else current
        return float(np.abs(placement.load[able] / fair[able] - 1.0).max(initial=0.0))

    def reason(value: float, placement: WorkingPlacement) -> str:
        off = np.where(able, np.abs(placement.load - fair), 0.0)
        if filling:
            node = int(np.argmax(np.where(np.isfinite(problem.lower), problem.lower - placement.load, -np.inf)))
            return f"{problem.nodes[node]} cannot be filled to a load of {problem.lower[node]:.6g}"
        node = int(np.argmax(np.where(able, off / np.where(able, fair, 1.0), 0.0)))
        text = f"no placement is within {current:g} of even: at best {problem.nodes[node]} has a load of"
        return (
            f"{text} {placement.load[node]:.6g}, {off[node] / fair[node]:.3g} away from its share of {fair[node]:.6g}"
        )

    def fix(value: float) -> str:
        return "--tolerance none" if value >= FREE else f"--tolerance {value:g}"

    return RaisableLimit(FILLED if filling else BALANCE, current, FREE, at, used, fix, reason, _or_none)


def _memory(problem: RebalanceProblem) -> RaisableLimit:
    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        return replace(other, memory=problem.memory + value * MB)

    def used(placement: WorkingPlacement) -> float:
        if not placement.by_memory:
            return FREE
        over = np.where(np.isfinite(problem.memory), placement.used - problem.memory, 0.0)
        return max(0.0, float(over.max(initial=0.0)) / MB)

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"state and copies do not fit into the nodes' memory: {value:g} MB more on each would do"

    def fix(value: float) -> str:
        return f"raise memory_mb of every node by {value:g}"

    none = math.ceil(float(problem.state.sum()) * (2.0 + max(len(held) for held in problem.copies)) / MB) + 1.0
    return RaisableLimit(MEMORY, 0.0, none, at, used, fix, reason, whole=True)


def _protocol(problem: RebalanceProblem) -> RaisableLimit:
    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        return replace(other, protocols=PROTOCOLS[:4] if value else problem.protocols)

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"{' and '.join(problem.protocols)} alone cannot bring all key groups to where they have to go"

    def said(value: float) -> str:
        return "auto" if value else ",".join(problem.protocols)

    def used(placement: WorkingPlacement) -> float:
        return float(any(move.protocol not in (*problem.protocols, *AFTER_LOSS) for move in placement.moves))

    return RaisableLimit(PROTOCOL, 0.0, 1.0, at, used, lambda _: "--protocol auto", reason, said, whole=True)


def _budgeted(
    name: str, field: str, none: float, used: Any, fix: Any, reason: Any, problem: RebalanceProblem
) -> RaisableLimit:
    """Return a limit that is a field of ``problem.limits``."""
    whole = field == "max_moves"

    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        amount: Any = None if value >= none else int(value) if whole else value
        return replace(other, limits=replace(other.limits, **{field: amount}))

    current = float(getattr(problem.limits, field))
    return RaisableLimit(name, current, none, at, used, fix, reason, _or_none, whole)


def _moves(problem: RebalanceProblem) -> RaisableLimit:
    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"{value:.0f} key groups have to move, at most {problem.limits.max_moves} may"

    def used(placement: WorkingPlacement) -> float:
        return float(len(placement.moved))

    none = float(len(problem.home) + 1)
    return _budgeted(MOST_MOVES, "max_moves", none, used, lambda v: f"--max-moves {v:.0f}", reason, problem)


def _bytes(problem: RebalanceProblem) -> RaisableLimit:
    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"moves transfer {value:.6g} bytes at least, at most {problem.limits.max_bytes:.6g} may be"

    def fix(value: float) -> str:
        return f"--max-bytes {math.ceil(value)}"

    limit = _budgeted(MOST_BYTES, "max_bytes", FREE, lambda now: now.bytes(), fix, reason, problem)
    return limit._replace(whole=False)


def _pause(problem: RebalanceProblem) -> RaisableLimit:
    def used(placement: WorkingPlacement) -> float:
        rows = [(PROTOCOLS.index(move.protocol), move.group) for move in placement.moves]
        return max((float(problem.costs.latency_s[row, group]) for row, group in rows), default=0.0)

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"a key group has to be paused for {value:.6g} s, at most {problem.limits.max_pause_s:.6g} s may be"

    latency, link, stretch = (
        np.where(np.isfinite(table), table, 0.0)
        for table in (problem.costs.latency_s, problem.costs.link_s, problem.costs.catch_up)
    )
    in_turn = float(link.max(axis=0, initial=0.0).sum() * stretch.max(initial=1.0))
    none = rounded_up(float(latency.max(initial=0.0)) + in_turn) + 1.0  # all wait for each other
    return _budgeted(MOST_PAUSE, "max_pause_s", none, used, lambda v: f"--max-pause {v:g}s", reason, problem)


def _within(problem: RebalanceProblem) -> RaisableLimit:
    def used(placement: WorkingPlacement) -> float:
        return math.inf

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"not all key groups can leave the removed nodes, or be recovered, within {problem.limits.within_s:g} s"

    return _budgeted(WITHIN, "within_s", _longest(problem), used, lambda v: f"--within {v:g}s", reason, problem)


def _longest(problem: RebalanceProblem) -> float:
    """Return a time in which all groups of removed nodes can surely leave one after the other."""
    leaving = problem.removed[problem.home]
    times = np.where(np.isfinite(problem.costs.completion_s), problem.costs.completion_s, 0.0)[:4, leaving]
    in_turn = float(times.max(axis=0, initial=0.0).sum()) + problem.limits.phase_overhead_s * int(leaving.sum())
    return 4.0 * in_turn + 1.0


def _or_none(value: float) -> float | None:
    return None if value >= FREE else value


def printed(limit: RaisableLimit, value: float) -> float:
    """Return a value as it is said: whole, or rounded up to six digits."""
    if not math.isfinite(value) or value >= FREE:
        return limit.none
    return float(math.ceil(value - ROUNDING * abs(value))) if limit.whole else rounded_up(value)

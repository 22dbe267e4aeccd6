"""Why there is no rebalance: which limit cannot be kept, by how much, and the smallest change with which it can."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ftplan.metrics.migration_costs import PROTOCOLS
from ftplan.metrics.rebalance_problem import RebalanceLimits, RebalanceProblem
from ftplan.metrics.rebalance_rules import (
    BALANCE,
    CAPACITY,
    DRAINED,
    FILLED,
    MEMORY,
    MOST_BYTES,
    MOST_MOVES,
    MOST_PAUSE,
    PROTOCOL,
    WITHIN,
    name_of,
)
from ftplan.model.plan import Infeasible, canonical_number
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.candidates import Candidates
from ftplan.planners.rebalance.choice_model import WHOLE, choices, chosen
from ftplan.planners.rebalance.outcome import outcome, rounded_up
from ftplan.planners.rebalance.pairing import pairing
from ftplan.planners.rebalance.starts import improved_starts
from ftplan.planners.rebalance.working_placement import WorkingPlacement

#: Halvings of the interval in which a limit is looked for, and how far from the least it may be, relative.
HALVINGS, CLOSE = 40, 1e-5
#: Deterministic seconds of CP-SAT for one question.
WORK_S = 1.0
#: A limit that is none.
FREE = 1e15


def why_infeasible(problem: RebalanceProblem, seed: int, budget: Budget) -> Infeasible | None:
    """Return why a problem that has no solution has none, and the smallest fix; None where no fix was seen in time.

    All limits are given up at first, and then asked for again one by one: overload, evenness, memory, protocols,
    notice, and the budgets of pause, bytes and moves. The first that cannot be kept is the one that is named; it is
    raised to the least value with which there is a rebalance, found by bisection, and others that cannot be kept then
    are raised too. Where one of them is not enough the fix names several options. Each value was seen to work; that no
    smaller one does is proven where a problem is small enough for an integer program.
    """
    relaxed, raised = problem, []
    knobs = _knobs(problem)
    for knob in knobs:
        relaxed = knob.at(relaxed, knob.none)
    placement = _seen(relaxed, seed, budget)
    if placement is None:
        return _stranded(problem, seed, budget)
    for knob in knobs:
        asked = knob.at(relaxed, knob.current)
        kept = _seen(asked, seed, budget)
        if kept is not None:
            relaxed, placement = asked, kept
            continue
        value, placement = _least(knob, relaxed, placement, seed, budget)
        relaxed = knob.at(relaxed, value)
        raised.append((knob, value, placement))
    if not raised:  # the solver saw no plan for the whole, and does now
        return None
    knob, value, placement = raised[0]
    fixes = " and ".join(item.fix(amount) for item, amount, _ in raised)
    return Infeasible(knob.reason(value, placement), knob.name, knob.said(knob.current), knob.said(value), fixes)


class _Knob(NamedTuple):
    """A limit that can be raised.

    ``none`` is the value at which it limits nothing, ``used`` the least value that a placement keeps, ``fix`` says it
    as options, ``values`` are all that matter where they are few.
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


def _seen(problem: RebalanceProblem, seed: int, budget: Budget) -> WorkingPlacement | None:
    """Return a placement that keeps all limits and finds its phases, None where none was seen."""
    candidates = Candidates(problem)
    if not _allowed(candidates) or budget.over():
        return None
    small = choices(candidates) <= WHOLE
    pool = improved_starts([pairing(candidates, True)], seed, budget, models=not small)
    if not pool and small:
        now = WorkingPlacement(candidates)
        answer = chosen(now, np.arange(candidates.groups), budget, WORK_S, feasible=True)
        if answer.placement is not None and answer.placement.feasible():
            pool = [answer.placement]
    for placement in pool:
        if outcome(problem, placement.moves, None, budget).answer is not None:
            return placement
    return None


def _allowed(candidates: Candidates) -> bool:
    """Return whether all groups that have to leave their node can, one by one."""
    leaving = np.flatnonzero(candidates.must)
    return bool(np.isfinite(candidates.costs(leaving)).any(axis=1).all())


def _least(
    knob: _Knob, relaxed: RebalanceProblem, placement: WorkingPlacement, seed: int, budget: Budget
) -> tuple[float, WorkingPlacement]:
    """Return the least value of a limit that works, all others being as they are, and a placement that keeps it."""
    low, high = knob.current, _printed(knob, knob.used(placement))
    high = high if high > low else knob.none
    for _ in range(HALVINGS):
        if budget.over() or high - low <= (1.0 if knob.whole else CLOSE * abs(high)):
            break
        middle = (low + high) / 2.0
        middle = float(math.floor(middle)) if knob.whole else middle
        seen = _seen(knob.at(relaxed, middle), seed, budget)
        if seen is None:
            low = middle
        else:
            high, placement = min(middle, max(knob.used(seen), low)), seen
    value = _printed(knob, high)
    seen = _seen(knob.at(relaxed, value), seed, budget)
    return (value, seen) if seen is not None else (knob.none, placement)


def _printed(knob: _Knob, value: float) -> float:
    """Return a value as it is said: whole, or rounded up to six digits."""
    if not math.isfinite(value) or value >= FREE:
        return knob.none
    return float(math.ceil(value - ROUNDING * abs(value))) if knob.whole else rounded_up(value)


def _knobs(problem: RebalanceProblem) -> list[_Knob]:
    """Return the limits of a problem, in the order in which they are asked for again."""
    limits = problem.limits
    knobs = [_overload(problem)]
    if np.isfinite(problem.lower).any():
        knobs.append(_evenness(problem))
    if np.isfinite(problem.memory).any() and problem.state.any():
        knobs.append(_memory(problem))
    if problem.protocols != PROTOCOLS[:4]:
        knobs.append(_protocol(problem))
    if limits.within_s is not None:
        knobs.append(_within(problem))
    if limits.max_pause_s is not None:
        knobs.append(_pause(problem))
    if limits.max_bytes is not None:
        knobs.append(_bytes(problem))
    if limits.max_moves is not None:
        knobs.append(_moves(problem))
    return knobs


def _overload(problem: RebalanceProblem) -> _Knob:
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

    return _Knob(CAPACITY, current, FREE, at, used, fix, reason, _or_none)


def fair_load(problem: RebalanceProblem) -> FloatArray:
    """Return the share of each host in all load that is, or can be, on hosts, by its capacity, (N,); 0 elsewhere."""
    movable = (problem.hosts | problem.removed)[problem.home]
    total = float(problem.load[movable].sum() + problem.foreign[problem.hosts].sum())
    share = np.where(problem.hosts, problem.capacity, 0.0)
    return np.asarray(share * (total / max(float(share.sum()), 1e-300)))


def _tolerance(problem: RebalanceProblem) -> float | None:
    """Return the tolerance of all hosts; None where load need not be even, or only added nodes are to be filled."""
    fair = fair_load(problem)
    even = np.isfinite(problem.lower) & (fair > 0.0)
    if not even.any() or not (even & ~problem.added).any():
        return None
    node = int(np.argmax(np.where(even, fair, 0.0)))
    return canonical_number(float(1.0 - problem.lower[node] / fair[node]))


def _even(problem: RebalanceProblem, near: float) -> RebalanceProblem:
    fair, hosts = fair_load(problem), problem.hosts
    upper = np.where(hosts, np.minimum(problem.ceiling, (1.0 + near) * fair), problem.ceiling)
    return replace(problem, upper=upper, lower=np.where(hosts, (1.0 - near) * fair, -np.inf))


def _evenness(problem: RebalanceProblem) -> _Knob:
    near, fair = _tolerance(problem), fair_load(problem)
    filling = near is None
    able = fair > 0.0
    current = 0.0 if near is None else near

    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        if value >= FREE:
            return replace(other, upper=other.ceiling, lower=np.full(len(problem.nodes), -np.inf))
        if filling:
            return replace(other, lower=problem.lower)
        return _even(other, value)

    def used(placement: WorkingPlacement) -> float:
        if filling:
            return math.inf
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

    return _Knob(FILLED if filling else BALANCE, current, FREE, at, used, fix, reason, _or_none)


def _memory(problem: RebalanceProblem) -> _Knob:
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
    return _Knob(MEMORY, 0.0, none, at, used, fix, reason, whole=True)


def _protocol(problem: RebalanceProblem) -> _Knob:
    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        return replace(other, protocols=PROTOCOLS[:4] if value else problem.protocols)

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"{' and '.join(problem.protocols)} alone cannot bring all key groups to where they have to go"

    def said(value: float) -> str:
        return "auto" if value else ",".join(problem.protocols)

    return _Knob(PROTOCOL, 0.0, 1.0, at, lambda _: 1.0, lambda _: "--protocol auto", reason, said, whole=True)


def _budgeted(name: str, field: str, none: float, used: Any, fix: Any, reason: Any, problem: RebalanceProblem) -> _Knob:
    """Return the knob of a limit that is a field of :class:`RebalanceLimits`."""
    whole = field == "max_moves"

    def at(other: RebalanceProblem, value: float) -> RebalanceProblem:
        amount: Any = None if value >= none else int(value) if whole else value
        return replace(other, limits=replace(other.limits, **{field: amount}))

    current = float(getattr(problem.limits, field))
    return _Knob(name, current, none, at, used, fix, reason, _or_none, whole)


def _moves(problem: RebalanceProblem) -> _Knob:
    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"{value:.0f} key groups have to move, at most {problem.limits.max_moves} may"

    def used(placement: WorkingPlacement) -> float:
        return float(len(placement.moved))

    none = float(len(problem.home) + 1)
    return _budgeted(MOST_MOVES, "max_moves", none, used, lambda v: f"--max-moves {v:.0f}", reason, problem)


def _bytes(problem: RebalanceProblem) -> _Knob:
    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"moves transfer {value:.6g} bytes at least, at most {problem.limits.max_bytes:.6g} may be"

    def fix(value: float) -> str:
        return f"--max-bytes {math.ceil(value)}"

    knob = _budgeted(MOST_BYTES, "max_bytes", FREE, lambda now: now.bytes(), fix, reason, problem)
    return knob._replace(whole=False)


def _pause(problem: RebalanceProblem) -> _Knob:
    def used(placement: WorkingPlacement) -> float:
        rows = [(PROTOCOLS.index(move.protocol), move.group) for move in placement.moves]
        return max((float(problem.costs.latency_s[row, group]) for row, group in rows), default=0.0)

    def reason(value: float, placement: WorkingPlacement) -> str:
        return f"a key group has to be paused for {value:.6g} s, at most {problem.limits.max_pause_s:.6g} s may be"

    return _budgeted(MOST_PAUSE, "max_pause_s", FREE, used, lambda v: f"--max-pause {v:g}s", reason, problem)


def _within(problem: RebalanceProblem) -> _Knob:
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


def _stranded(problem: RebalanceProblem, seed: int, budget: Budget) -> Infeasible | None:
    """Return which groups cannot leave a removed node by any protocol, and which nodes to keep instead."""
    free = replace(problem, protocols=PROTOCOLS[:4], limits=RebalanceLimits())
    candidates = Candidates(free)
    leaving = np.flatnonzero(candidates.must)
    stuck = leaving[~np.isfinite(candidates.costs(leaving)).any(axis=1)]
    if not len(stuck):
        return None
    nodes = sorted({int(free.home[group]) for group in stuck.tolist()})
    names = ", ".join(problem.nodes[node] for node in nodes)
    reason = f"{name_of(problem, int(stuck[0]))} cannot leave {problem.nodes[int(problem.home[stuck[0]])]}"
    kept = _keeping(problem, nodes)
    fix = ["leave out " + " ".join(f"--remove {problem.nodes[node]}" for node in nodes)]
    if kept.limits.within_s != problem.limits.within_s:
        fix[0] += " --within"
    more = None if _seen(kept, seed, budget) is not None else why_infeasible(kept, seed, budget)
    fix += [] if more is None else [more.smallest_fix]
    return Infeasible(
        f"{reason}: no protocol brings it to another node, since it would never catch up or has no checkpoint",
        DRAINED,
        names,
        None,
        " and ".join(fix),
    )


def _keeping(problem: RebalanceProblem, nodes: list[int]) -> RebalanceProblem:
    """Return a problem in which some of the removed nodes are kept, as nodes that take groups and copies."""
    back = np.isin(np.arange(len(problem.nodes)), nodes)
    removed, near = problem.removed & ~back, _tolerance(problem)
    limits = problem.limits if removed.any() else replace(problem.limits, within_s=None)
    kept = replace(problem, hosts=problem.hosts | back, keeps=problem.keeps | back, removed=removed, limits=limits)
    if near is not None:
        return _even(kept, near)
    was = fair_load(problem)
    share = np.divide(fair_load(kept), was, out=np.ones(len(was)), where=was > 0.0)
    return replace(kept, lower=np.where(np.isfinite(problem.lower), problem.lower * share, problem.lower))

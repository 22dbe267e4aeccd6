"""Why there is no rebalance: which limit cannot be kept, by how much, and the smallest change with which it can."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ftplan.model.plan import Infeasible
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.candidates import Candidates
from ftplan.planners.rebalance.algorithms.models.node_model import MAX_WHOLE_CHOICES, choices, chosen
from ftplan.planners.rebalance.algorithms.outcome import outcome
from ftplan.planners.rebalance.algorithms.pairing import pairing
from ftplan.planners.rebalance.algorithms.raisable_limits import (
    IN_PHASES,
    RaisableLimit,
    printed,
    raisable_limits,
    tolerance_of,
)
from ftplan.planners.rebalance.algorithms.search.improved_placements import improved_starts
from ftplan.planners.rebalance.algorithms.search.repair import MODELS, repaired
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.effects import fair_load, made_even
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import RebalanceLimits, RebalanceProblem
from ftplan.planners.rebalance.rules import DRAINED, name_of

#: Halvings of the interval in which a limit is looked for, and how far from the least it may be, relative.
HALVINGS, CLOSE = 40, 1e-4
#: Where in the interval it is looked for first: the sums that bound it from below are often nearly reached.
FIRST = 0.02
#: Deterministic seconds of CP-SAT for one question.
WORK_S = 1.0


def why_infeasible(problem: RebalanceProblem, seed: int, budget: Budget) -> Infeasible | None:
    """Return why a problem that has no solution has none, and the smallest fix; None where no fix was seen in time.

    All limits are given up at first, and then asked for again one by one: overload, evenness, memory, protocols,
    notice, and the budgets of pause, bytes and moves. The first that cannot be kept is the one that is named; it is
    raised to the least value with which there is a rebalance, found by bisection, and others that cannot be kept then
    are raised too. Where one of them is not enough the fix names several options. Each value was seen to work; that no
    smaller one does is proven where a problem is small enough for an integer program.
    """
    relaxed, raised = problem, []
    limits = raisable_limits(problem)
    for limit in limits:
        relaxed = limit.at(relaxed, limit.none)
    placement = _seen(relaxed, seed, budget)
    if placement is None:
        return _stranded(problem, seed, budget)
    for limit in limits:
        asked = limit.at(relaxed, limit.current)
        keeps = limit.name not in IN_PHASES and limit.used(placement) <= limit.current
        kept = placement if keeps else _seen(asked, seed, budget)
        if kept is not None:
            relaxed, placement = asked, kept
            continue
        value, placement = _least(limit, relaxed, placement, seed, budget)
        relaxed = limit.at(relaxed, value)
        raised.append((limit, value, placement))
    if not raised:  # the solver saw no plan for the whole, and does now
        return None
    limit, value, placement = raised[0]
    fixes = " and ".join(item.fix(amount) for item, amount, _ in raised)
    return Infeasible(limit.reason(value, placement), limit.name, limit.said(limit.current), limit.said(value), fixes)


def _seen(problem: RebalanceProblem, seed: int, budget: Budget) -> WorkingPlacement | None:
    """Return a placement that keeps all limits and finds its phases, None where none was seen."""
    candidates = Candidates(problem)
    if not _allowed(candidates) or budget.over():
        return None
    small = choices(candidates) <= MAX_WHOLE_CHOICES
    limits, start = problem.limits, pairing(candidates, True)
    if limits.max_moves is None and limits.max_bytes is None:  # any placement will do, whatever it costs
        start = repaired(start, seed, budget, MODELS * (not small)) if start.over().any() else start
        pool = [start] if start.within_limits() and start.within_budget() else []
    else:
        pool = improved_starts([start], seed, budget, models=not small)
    if not pool and small:
        now = WorkingPlacement(candidates)
        found = chosen(now, np.arange(candidates.groups), seed, budget, WORK_S, feasible=True).placement
        pool = [found] if found is not None and found.feasible() else []
    for placement in pool:
        if outcome(problem, placement.moves, None, budget).answer is not None:
            return placement
    return None


def _allowed(candidates: Candidates) -> bool:
    """Return whether all groups that have to leave their node can, one by one."""
    leaving = np.flatnonzero(candidates.must)
    return bool(np.isfinite(candidates.costs(leaving)).any(axis=1).all())


def _least(
    limit: RaisableLimit, relaxed: RebalanceProblem, placement: WorkingPlacement, seed: int, budget: Budget
) -> tuple[float, WorkingPlacement]:
    """Return the least value of a limit that works, all others being as they are, and a placement that keeps it."""
    low, high = max(limit.current, limit.low), printed(limit, limit.used(placement))
    phased = limit.name in IN_PHASES  # a placement may need more than it uses
    if high <= low or (phased and _seen(limit.at(relaxed, high), seed, budget) is None):
        high = limit.none
    for step in range(HALVINGS):
        if budget.over() or high - low <= (1.0 if limit.whole else CLOSE * abs(high)):
            break
        middle = low + (high - low) * (0.5 if step else FIRST)
        middle = max(low + 1.0, float(math.floor(middle))) if limit.whole else middle
        seen = _seen(limit.at(relaxed, middle), seed, budget)
        if seen is None:
            low = middle
        else:
            high, placement = middle if phased else min(middle, max(limit.used(seen), low)), seen
    value = printed(limit, high)
    if phased and _seen(limit.at(relaxed, value), seed, budget) is None:
        return limit.none, placement
    return value, placement


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
    removed, near = problem.removed & ~back, tolerance_of(problem)
    limits = problem.limits if removed.any() else replace(problem.limits, within_s=None)
    kept = replace(problem, hosts=problem.hosts | back, keeps=problem.keeps | back, removed=removed, limits=limits)
    if near is not None:
        return made_even(kept, near)
    was = fair_load(problem)
    share = np.divide(fair_load(kept), was, out=np.ones(len(was)), where=was > 0.0)
    return replace(kept, lower=np.where(np.isfinite(problem.lower), problem.lower * share, problem.lower))

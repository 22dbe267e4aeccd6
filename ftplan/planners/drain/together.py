"""The most nodes that may stop together now."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ftplan.metrics.drain_problem import Drain, DrainProblem
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.drain.allowed import AllowedSets, members
from ftplan.planners.drain.first_fit import first_fit
from ftplan.planners.drain.options import DrainOptions
from ftplan.planners.interrupts import solve_sat

#: What a loss of output fidelity is counted in by the solver.
UNITS = 2.0**40
#: Sets that the solver may propose in vain.
PROPOSALS = 200


def most_together(problem: DrainProblem, drain: Drain, options: DrainOptions) -> tuple[tuple[int, ...], int]:
    """Return the largest set of a drain's nodes that may stop together, by number, and a proven bound on its size.

    The largest round, grown as far as it goes; where that may not be all, CP-SAT over pairs, zones and numbers, whose
    proposals are held against output fidelity and room: each one in vain adds an inequality that all allowed sets keep.
    """
    budget = Budget.of(options)
    nodes = sorted(node for some in drain.rounds for node in some)
    sets, place = AllowedSets(problem, nodes, budget), {node: k for k, node in enumerate(nodes)}
    rounds = [sum(1 << place[node] for node in some) for some in drain.rounds]
    best = max((_grown(sets, mask) for mask in rounds), key=int.bit_count, default=0)
    most = min(sets.most, sets.count)
    if best.bit_count() < most:
        best, most = _proven(sets, best, most, options, budget)
    return sets.numbers(best), most


def _grown(sets: AllowedSets, mask: int) -> int:
    """Add one node after another that the set stays allowed with."""
    for node in range(sets.count):
        if not mask >> node & 1 and sets.extends(mask, node):
            mask |= 1 << node
    return mask


def _proven(sets: AllowedSets, best: int, most: int, options: DrainOptions, budget: Budget) -> tuple[int, int]:
    """Return a largest set, and a bound: the same number where that is proven in time."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(sets.count)]
    for k in range(sets.count):
        for other in members(sets.adjacent[k] >> k + 1):
            model.add_at_most_one(taken[k], taken[k + 1 + other])
    for mask in sets.zone_mask:
        model.add(sum(taken[k] for k in members(mask)) <= sets.per_zone)
    model.add(sum(taken) <= most)
    model.maximize(sum(taken))
    for _ in range(budget.passes(PROPOSALS)):
        solver = _solver(options)
        status = solve_sat(model, solver, budget.left_s)
        if status is not None and status != cp_model.UNKNOWN:
            most = min(most, int(solver.best_objective_bound + 1e-6))
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE) or most <= best.bit_count():
            break
        proposed = sum(1 << k for k, variable in enumerate(taken) if solver.value(variable))
        if sets.allowed(proposed):
            best = max(best, proposed, key=int.bit_count)
            if status == cp_model.OPTIMAL:
                break
            continue
        best = max(best, *first_fit(sets, members(proposed)), key=int.bit_count)
        if sets.in_doubt:
            break
        _forbid(model, taken, sets, proposed)
    return best, max(most, best.bit_count())


def _forbid(model: Any, taken: list[Any], sets: AllowedSets, mask: int) -> None:
    """Cut off a set that is not allowed, by a smallest part of it that is not, and by what it loses of the output."""
    part = mask
    for k in members(mask):
        if not sets.allowed(part & ~(1 << k)):
            part &= ~(1 << k)
    model.add(sum(taken[k] for k in members(part)) <= part.bit_count() - 1)
    if sets.limits_output:
        others = (k for k in range(sets.count) if not mask >> k & 1)
        row = np.floor(sets.loss_row([*members(mask), *others]) * UNITS).astype(np.int64).tolist()
        limit = math.ceil((sets.largest_loss + 2 * ROUNDING) * UNITS)
        model.add(sum(loss * variable for loss, variable in zip(row, taken, strict=True)) <= limit)


def _solver(options: DrainOptions) -> Any:
    """Return CP-SAT, on one core: the same work, the same answer."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = options.seed
    if options.iterations is not None:
        solver.parameters.max_deterministic_time = max(1, options.iterations) * SOLVER_SECONDS_PER_ITERATION
    return solver

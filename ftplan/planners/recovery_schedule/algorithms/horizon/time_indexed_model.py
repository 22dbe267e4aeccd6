"""The whole repair as a time-indexed integer program, proved by CP-SAT where it is small."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack
from ftplan.planners.solver import solve_sat

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Entries of (query, element) times steps up to which the model is built.
MOST_ENTRIES = 20_000
#: Entries of (query, element) up to which single steps are solved for their bounds.
MOST_ALONE = 5_000
#: Whole units: of the largest capacity, and of all that can be gained. With 2^36 of the former the presolve of CP-SAT
#: 9.15 calls plans optimal that are not.
_CORES = 2.0**22
_GAIN = 2.0**34


def solve_time_indexed(
    problem: TimeIndexedKnapsack, incumbent: IntArray, budget: Budget, seed: int, most: FloatArray | None = None
) -> tuple[IntArray, float | None, bool]:
    """Return steps at least as good as the incumbent, an upper bound on what can be gained, and whether they are best.

    whole[q, k] ≤ whole[q, k + 1], back[b, k] ≤ back[b, k + 1], whole[q, k] ≤ back[b, k] for each element b of query q,
    Σ weight[b] back[b, k] ≤ capacity[k]; maximise Σ priority[q] × (gain[k] − gain[k + 1]) × whole[q, k]. Larger
    models than ``MOST_ENTRIES`` are not tried: the bound is None. *most*, shape (K,), is a known bound on the priority
    whole by each step, which tightens the relaxation.
    """
    if problem.entries * problem.steps > MOST_ENTRIES or problem.knapsack.queries == 0:
        return incumbent, None, False
    model, whole, units = _model(problem, incumbent, most)
    answer = solve_sat(model, budget, seed)
    if not answer.found or answer.bound is None:
        return incumbent, None, False
    step = np.array([problem.steps - sum(map(answer.value, row)) for row in whole], dtype=np.int64)
    better = problem.fits(step) and problem.gained(step) > problem.gained(incumbent)
    return step if better else incumbent, answer.bound / units, answer.proven and problem.fits(step)


def _model(
    problem: TimeIndexedKnapsack, incumbent: IntArray, most: FloatArray | None
) -> tuple[cp_model.CpModel, list[list[Any]], float]:
    """Return the model with the incumbent as its hint, its variables whole[q][k], and the units of its objective."""
    from ortools.sat.python import cp_model

    model, knapsack, steps = cp_model.CpModel(), problem.knapsack, problem.steps
    back = [[model.new_bool_var("") for _ in range(steps)] for _ in knapsack.weight]
    whole = [[model.new_bool_var("") for _ in range(steps)] for _ in knapsack.priority]
    for row in (*back, *whole):
        for early, late in itertools.pairwise(row):
            model.add_implication(early, late)
    for q, b in zip(knapsack.row.tolist(), knapsack.member.tolist(), strict=True):
        for k in range(steps):
            model.add_implication(whole[q][k], back[b][k])
    for q, k in enumerate(problem.release.tolist()):
        for early in whole[q][:k]:
            model.add(early == 0)
    size, limit = _whole_cores(problem)
    for k in range(steps):
        model.add(sum(size[b] * back[b][k] for b in range(len(size))) <= limit[k])
    if most is not None:  # priorities rounded down to whole units
        scale = 1.0 if np.all(knapsack.priority == np.floor(knapsack.priority)) else 2.0**20
        value = np.floor(knapsack.priority * scale).astype(np.int64).tolist()
        for k, bound in enumerate(most.tolist()):
            model.add(sum(value[q] * whole[q][k] for q in range(knapsack.queries)) <= int(np.ceil(bound * scale)))
    units = _GAIN / max(float(knapsack.priority.sum() * problem.gain[0]), 1e-9)
    gain = np.ceil(np.outer(knapsack.priority, problem.span) * units).astype(np.int64).tolist()
    model.maximize(sum(gain[q][k] * whole[q][k] for q in range(knapsack.queries) for k in range(steps)))
    for rows, at in ((back, problem.first(incumbent)), (whole, incumbent)):
        for row, since in zip(rows, at.tolist(), strict=True):
            for k, variable in enumerate(row):
                model.add_hint(variable, k >= since)
    return model, whole, units


def _whole_cores(problem: TimeIndexedKnapsack) -> tuple[list[int], list[int]]:
    """Return weights and limits in whole units, as small as they can be: exact where all are millionths of a core.

    Otherwise weights are rounded down and limits up: nothing that fits is cut off, and a solution is checked again.
    """
    micro = np.round(problem.knapsack.weight * 1e6)
    if np.all(np.abs(problem.knapsack.weight * 1e6 - micro) <= 1e-4) and micro.max(initial=0.0) < 2.0**50:
        unit = max(1, int(np.gcd.reduce(micro.astype(np.int64))))
        most = int(micro.sum()) // unit
        if most <= _CORES:
            limit = np.floor(np.minimum(problem.limit * 1e6 / unit + 1e-3, most)).astype(np.int64)
            return (micro.astype(np.int64) // unit).tolist(), limit.tolist()
    scale = _CORES / max(float(problem.capacity[-1]), 1e-9)
    size = np.minimum(np.floor(problem.knapsack.weight * scale), 2.0 * _CORES).astype(np.int64)
    limit = np.ceil(problem.limit * scale).astype(np.int64)
    return size.tolist(), limit.tolist()


def single_step_bounds(
    problem: TimeIndexedKnapsack, incumbent: IntArray, most: FloatArray, budget: Budget, seed: int
) -> FloatArray:
    """Return smaller bounds on the priority whole by each step, each step solved alone, shape (K,).

    Not tried on more than ``MOST_ALONE`` entries. Where priorities are whole numbers, so is the bound.
    """
    if problem.entries > MOST_ALONE:
        return most
    most = most.copy()
    integral = bool(np.all(problem.knapsack.priority == np.floor(problem.knapsack.priority)))
    for k in range(problem.steps):
        here = (incumbent > k).astype(np.int64)
        if problem.knapsack.priority @ (1 - here) >= most[k] * (1.0 - 1e-12):
            continue
        if budget.over():
            break
        alone = replace(
            problem,
            knapsack=replace(problem.knapsack, capacity=float(problem.capacity[k])),
            release=(problem.release > k).astype(np.int64),
            capacity=problem.capacity[k : k + 1],
            gain=np.array([1.0, 0.0]),
        )
        part = budget.part(2.0 / (problem.steps - k + 1))
        _, bound, _ = solve_time_indexed(alone, here, part, seed, most[k : k + 1])
        budget.cut |= part.cut
        if bound is not None:
            most[k] = min(most[k], np.floor(bound + 1e-6) if integral else bound)
    return most

"""The constraints of the failover rule in both models: ``y[u, i]`` tells whether the first copy of u is on i."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Failover

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: A Boolean for each pair of unit and node.
Pairs = Mapping[tuple[int, int], Any]


def first_of_sat(model: cp_model.CpModel, problem: CheckpointProblem, chosen: Pairs) -> Pairs:
    """``y[u, i] <= x[u, i]`` and ``sum over i of y[u, i] = 1``, in a model of CP-SAT; return y."""
    if problem.copies == 1:
        return chosen
    first = {pair: model.new_bool_var("") for pair in chosen}
    by_unit: dict[int, list[Any]] = {}
    for pair, variable in first.items():
        model.add_implication(variable, chosen[pair])
        by_unit.setdefault(pair[0], []).append(variable)
    for variables in by_unit.values():
        model.add_exactly_one(variables)
    return first


def first_of_solver(solver: Any, problem: CheckpointProblem, chosen: Pairs) -> Pairs:
    """``y[u, i] <= x[u, i]`` and ``sum over i of y[u, i] = 1``, in a model of ``pywraplp``; return y."""
    if problem.copies == 1:
        return chosen
    first = {pair: solver.BoolVar("") for pair in chosen}
    once: dict[int, Any] = {}
    for (unit, node), variable in first.items():
        if unit not in once:
            once[unit] = solver.Constraint(1.0, 1.0)
        once[unit].SetCoefficient(variable, 1.0)
        there = solver.Constraint(-solver.infinity(), 0.0)
        there.SetCoefficient(variable, 1.0)
        there.SetCoefficient(chosen[unit, node], -1.0)
    return first


def by_survivor(failover: Failover, first: Pairs) -> dict[tuple[int, int], list[tuple[int, Any]]]:
    """Return the units that a survivor may take over after a loss, with their variables: by (loss, node)."""
    units: dict[tuple[int, int], list[tuple[int, Any]]] = {}
    for (unit, node), variable in first.items():
        units.setdefault((int(failover.loss[unit]), node), []).append((unit, variable))
    return units


def add_to_sat(model: cp_model.CpModel, failover: Failover, first: Pairs, factor: float, floors: FloatArray) -> None:
    """``sum over u with loss[u] = l of load[u] y[u, i] <= upper[l, i]``, in a model of CP-SAT.

    Loads are in units of 1/factor, *floors* (U,) are rounded down.
    """
    from ortools.sat.python import cp_model

    if bool((failover.upper < 0).any()):
        model.add_bool_or([])
        return
    for (loss, node), column in by_survivor(failover, first).items():
        if not np.isfinite(failover.upper[loss, node]):
            continue
        weights = [int(floors[unit]) for unit, _ in column]
        most = floor(failover.upper[loss, node] * factor)
        if sum(weights) > most:
            model.add(cp_model.LinearExpr.weighted_sum([v for _, v in column], weights) <= most)


def add_to_solver(solver: Any, problem: CheckpointProblem, failover: Failover, chosen: Pairs) -> Pairs:
    """``sum over u with loss[u] = l of load[u] y[u, i] <= upper[l, i]``, in a model of ``pywraplp``; return y."""
    first = first_of_solver(solver, problem, chosen)
    factor = len(problem.nodes) / max(float(failover.load.sum()), TINY)
    for (loss, node), column in by_survivor(failover, first).items():
        most = float(failover.upper[loss, node])
        if float(failover.load[[unit for unit, _ in column]].sum()) > most:
            row = solver.Constraint(-solver.infinity(), most * factor)
            for unit, variable in column:
                row.SetCoefficient(variable, float(failover.load[unit] * factor))
    return first


def first_in_front(copies: IntArray, first: Mapping[int, int]) -> IntArray:
    """Return the copies (U, c) with each unit's first copy, a node, in column 0; the others keep their order."""
    ordered = copies.copy()
    for unit, node in first.items():
        row = copies[unit]
        ordered[unit] = [node, *row[row != node]]
    return ordered

"""Programs solved: GLOP for prices, SCIP for whole numbers, and CP-SAT for limits that leave hardly any way.

MathOpt hands a solver rows and columns in the order of the program: the older interface of OR-Tools orders the
variables of a row by their addresses, so that SCIP does not go the same way twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.program import Program
from ftplan.planners.solver import solve_program, solve_sat

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 10
#: Largest cost over the largest that may still be part of anything better, above which a program is solved once more.
SPREAD = 4.0

#: Units in which CP-SAT counts a row, and the objective: all coefficients together.
ROW_UNITS, COST_UNITS = 2.0**50, 2.0**60


class RowPrices(NamedTuple):
    """Prices of rows, (R,), and the bound that they prove."""

    prices: FloatArray
    bound: float


class BranchAndCutResult(NamedTuple):
    """What branch and cut says: values (V,) or None, and a bound, infinite where there is no solution."""

    x: FloatArray | None
    bound: float


def linear_prices(program: Program, seed: int, budget: Budget) -> RowPrices:
    """Return prices of the linear relaxation by GLOP, and the bound at them, recomputed: it is sound whatever they are.

    Where GLOP does not end in time the prices are 0.
    """
    none = np.zeros(len(program.low))
    free = RowPrices(none, program.dual_bound(none))
    model = _model(program, 1.0, False)
    prices = solve_program(model, "GLOP", budget, seed).prices(list(model.linear_constraints()))
    if prices is None:
        return free
    wrong = ((prices > 0.0) & ~np.isfinite(program.low)) | ((prices < 0.0) & ~np.isfinite(program.high))
    prices = np.where(wrong, 0.0, prices)
    bound = program.dual_bound(prices)
    return RowPrices(prices, bound) if bound > free.bound else free


def branch_and_cut(
    program: Program, seed: int, budget: Budget, start: FloatArray | None = None, tree_nodes: int | None = None
) -> BranchAndCutResult:
    """Minimise a program by SCIP from a solution (V,) if there is one.

    The tree is bounded by *tree_nodes* or the budget's iterations. A search with *tree_nodes* of its own separates few
    cuts. SCIP's tolerances are relative to the largest cost: see :func:`minimised`.
    """
    if not len(program.cost):
        kept = bool((program.low <= 0.0).all() and (program.high >= 0.0).all())
        return BranchAndCutResult(np.zeros(0), 0.0) if kept else BranchAndCutResult(None, np.inf)
    unit = max(float(np.abs(program.cost).max(initial=0.0)), TINY)
    model = _model(program, unit, True)
    variables = list(model.variables())
    given = None if start is None else dict(zip(variables, start.tolist(), strict=True))
    answer = solve_program(
        model, "GSCIP", budget, seed, size=1.0, nodes=tree_nodes, few_cuts=tree_nodes is not None,
        nodes_per_iteration=TREE_NODES_PER_ITERATION, start=given,
    )  # fmt: skip
    bound = -np.inf if answer.bound is None else answer.bound * unit
    bound = max(bound, program.dual_bound(np.zeros(len(program.low))))
    return BranchAndCutResult(answer.values(variables) if answer.found else None, bound)


def minimised(
    program: Program,
    group: IntArray,
    seed: int,
    budget: Budget,
    start: FloatArray | None = None,
    most: float = np.inf,
    least: FloatArray | None = None,
    kept: Callable[[FloatArray], bool] = lambda _: True,
    tree_nodes: int | None = None,
) -> BranchAndCutResult:
    """Return the best values of a program whose first J variables choose one column for each group, and a bound.

    SCIP works within tolerances of the largest cost, and called moves optimal that cost 0.4 % too much, in tests twice
    as much, where the state of one group, sent as it is, had ten million times the bytes of what was to be chosen. So
    what costs too much to be part of anything better than the best known is left out, and where SCIP found something
    far below the largest cost the rest is solved once more. Groups with a single column left are no part of the search.

    *group*: of each column, (J,). *start*: a solution, (V,). *most*: cost that is known to be possible, by other means.
    *least*: what values with a column cost at least, (J,), as prices prove, where they do. *kept*: whether whole
    values, (V,), are a solution indeed.
    """
    cost, best = program.cost[: len(group)], start
    cheapest = np.full(int(group.max(initial=-1)) + 1, np.inf)
    np.minimum.at(cheapest, group, cost)
    own = cost - cheapest[group] + float(cheapest[np.isfinite(cheapest)].sum())
    least = own if least is None else np.maximum(own, least)
    value = most if best is None else min(most, float(program.cost @ best))
    live = _not_above(least, value)
    while True:
        x, bound = _live_part(program, group, live, seed, budget, best, tree_nodes)
        bound = bound if live.all() else min(bound, value)  # what was left out costs as much
        if x is None or not kept(x):
            return BranchAndCutResult(best, bound)
        best = x if best is None or program.cost @ x < program.cost @ best else best
        value = min(value, float(program.cost @ best))
        rest = live & _not_above(least, value)
        if np.abs(cost[rest]).max(initial=0.0) * SPREAD >= np.abs(cost[live]).max(initial=0.0):
            return BranchAndCutResult(best, bound)
        live = rest


def _not_above(least: FloatArray, value: float) -> BoolArray:
    return np.asarray(least <= value + ROUNDING * abs(value)) if np.isfinite(value) else np.isfinite(least)


def _live_part(
    program: Program,
    group: IntArray,
    live: BoolArray,
    seed: int,
    budget: Budget,
    start: FloatArray | None,
    tree_nodes: int | None,
) -> BranchAndCutResult:
    """Return the best values, (V,), with live columns alone, (J,), and a bound on these."""
    count = len(group)
    single = (np.bincount(group[live], minlength=int(group.max(initial=-1)) + 1) == 1)[group]
    free = np.ones(len(program.cost), dtype=np.bool_)
    free[:count] = live & ~single
    fixed = np.zeros(len(free))
    fixed[:count] = live & single
    known = None if start is None or start[:count][~live].any() else start[free]
    found = branch_and_cut(program.restricted(free, fixed), seed, budget, known, tree_nodes)
    bound = found.bound + float(program.cost @ fixed)
    if found.x is None:
        return BranchAndCutResult(None, bound)
    x = fixed.copy()
    x[free] = np.where(program.whole[free], np.round(found.x), found.x)
    return BranchAndCutResult(x, bound)


def in_integers(
    program: Program, few: FloatArray, seed: int, budget: Budget, work_s: float, start: FloatArray | None = None
) -> BranchAndCutResult:
    """Minimise a program of variables that are 0 or 1 by CP-SAT, and among equals the sum of *few*, whole, (V,).

    Rows and costs are rounded so that the program is relaxed by the last digits: what is infeasible is proven to be,
    and the bound holds. What is found may break rows by as much.

    *work_s*: deterministic seconds.
    """
    from ortools.sat.python import cp_model

    model, count, groups = cp_model.CpModel(), len(program.cost), 1
    x = [model.new_bool_var("") for _ in range(count)]
    order = np.argsort(program.row, kind="stable")
    ends = np.searchsorted(program.row[order], np.arange(len(program.low) + 1))
    for r, (low, high) in enumerate(zip(program.low.tolist(), program.high.tolist(), strict=True)):
        cells = order[ends[r] : ends[r + 1]]
        columns, entries = program.column[cells].tolist(), program.entry[cells]
        if low == high == 1.0 and (entries == 1.0).all():
            model.add_exactly_one(x[j] for j in columns)
            groups += 1
            continue
        size = max(float(np.abs(entries).sum()), *(abs(side) for side in (low, high) if np.isfinite(side)), TINY)
        scale, slack = ROW_UNITS / size, 0.5 * len(columns) + 1.0
        weights = np.round(entries * scale).astype(np.int64).tolist()
        total: Any = sum(w * x[j] for w, j in zip(weights, columns, strict=True))
        if np.isfinite(low):
            model.add(total >= int(np.floor(low * scale - slack)))
        if np.isfinite(high):
            model.add(total <= int(np.ceil(high * scale + slack)))
    unit = (float(np.abs(program.cost).sum()) or 1.0) * groups / COST_UNITS
    price = np.floor(program.cost / unit).astype(np.int64) * groups + few.astype(np.int64)
    if program.cost.any():
        model.minimize(sum(c * v for c, v in zip(price.tolist(), x, strict=True)))
    for variable, value in zip(x if start is not None else (), start if start is not None else (), strict=True):
        model.add_hint(variable, value > 0.5)
    answer = solve_sat(model, budget, seed, work_s=work_s)
    if answer.ended == "infeasible":
        return BranchAndCutResult(None, np.inf)
    bound = program.dual_bound(np.zeros(len(program.low)))
    if answer.bound is not None:
        bound = max(bound, (answer.bound / groups - groups) * unit)  # what few and the rounding add, at most
    return BranchAndCutResult(np.array([answer.value(v) for v in x], dtype=np.float64) if answer.found else None, bound)


def _model(program: Program, unit: float, whole: bool) -> mathopt.Model:
    """Return a program as a model, with costs divided by *unit*; linear unless *whole*."""
    from ortools.math_opt import model_pb2
    from ortools.math_opt.python import mathopt

    proto: Any = model_pb2.ModelProto()
    count, rows = len(program.cost), len(program.low)
    proto.variables.ids.extend(range(count))
    proto.variables.lower_bounds.extend([0.0] * count)
    proto.variables.upper_bounds.extend(program.most.tolist())
    proto.variables.integers.extend((program.whole & whole).tolist())
    paid = np.flatnonzero(program.cost)
    proto.objective.linear_coefficients.ids.extend(paid.tolist())
    proto.objective.linear_coefficients.values.extend((program.cost[paid] / unit).tolist())
    proto.linear_constraints.ids.extend(range(rows))
    proto.linear_constraints.lower_bounds.extend(program.low.tolist())
    proto.linear_constraints.upper_bounds.extend(program.high.tolist())
    cells, where = np.unique(program.row * np.int64(max(count, 1)) + program.column, return_inverse=True)
    matrix = proto.linear_constraint_matrix
    matrix.row_ids.extend((cells // max(count, 1)).tolist())
    matrix.column_ids.extend((cells % max(count, 1)).tolist())
    matrix.coefficients.extend(np.bincount(where, program.entry, minlength=len(cells)).tolist())
    return mathopt.Model.from_model_proto(proto)

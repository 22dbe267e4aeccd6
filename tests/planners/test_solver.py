"""The one runner of solvers: bounds on the safe side, seeds that arrive, and a workaround that says when it can go."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

from ftplan.model.trace import TraceLine
from ftplan.planners import solver as solvers
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents, traced
from ftplan.planners.interrupts import SolverStuck
from ftplan.planners.solver import (
    ProgramSolver,
    linear_bound,
    linear_solver,
    on_safe_side,
    solve_linear,
    solve_program,
    solve_sat,
)
from tests.places import ROOT

SIZES, COSTS, ROOM = (4, 5, 6, 7), (7.0, 8.0, 9.0, 10.5), 15
#: What the bound of a packing may lie above the best: SCIP's margin is the wider one.
LARGEST_MARGIN = 1.5 * solvers.SCIP_DOUBT * max(COSTS)


def best_packing() -> float:
    """Return the best value of the knapsack above, by trying all."""
    return max(
        sum(cost for cost, one in zip(COSTS, taken, strict=True) if one)
        for taken in itertools.product((0, 1), repeat=len(SIZES))
        if sum(size for size, one in zip(SIZES, taken, strict=True) if one) <= ROOM
    )


def sat_packing(sense: str = "max") -> tuple[cp_model.CpModel, list[Any]]:
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in SIZES]
    model.add(sum(size * x for size, x in zip(SIZES, taken, strict=True)) <= ROOM)
    value = sum(int(2 * cost) * x for cost, x in zip(COSTS, taken, strict=True))
    if sense == "max":
        model.maximize(value)
    else:
        model.minimize(100 - value)
    return model, taken


def packing(whole: bool = True) -> tuple[mathopt.Model, list[Any], Any]:
    model = mathopt.Model()
    taken = [model.add_variable(lb=0.0, ub=1.0, is_integer=whole) for _ in SIZES]
    row = model.add_linear_constraint(mathopt.LinearSum(size * x for size, x in zip(SIZES, taken, strict=True)) <= ROOM)
    model.maximize(mathopt.LinearSum(cost * x for cost, x in zip(COSTS, taken, strict=True)))
    return model, taken, row


@pytest.mark.parametrize("sense", ["max", "min"])
def test_cp_sat_proves_whole_numbers(sense: str) -> None:
    model, taken = sat_packing(sense)
    answer = solve_sat(model, Budget(60.0), 0)
    best = int(2 * best_packing())
    assert answer.proven
    assert answer.bound == answer.objective == (best if sense == "max" else 100 - best)
    assert sum(SIZES[k] for k in answer.chosen(dict(enumerate(taken)))) <= ROOM


def test_cp_sat_without_a_solution_has_no_bound() -> None:
    model, taken = sat_packing()
    model.add(sum(taken) > len(SIZES))
    answer = solve_sat(model, Budget(60.0), 0)
    assert (answer.ended, answer.bound, answer.found, answer.proven) == ("infeasible", None, False, True)


def test_a_search_cut_by_its_own_work_is_no_cut_of_the_budget() -> None:
    model = cp_model.CpModel()
    starts = [model.new_int_var(0, 10**6, "") for _ in range(40)]
    model.add_no_overlap(model.new_fixed_size_interval_var(s, 1000 + 37 * k, "") for k, s in enumerate(starts))
    model.minimize(sum((1 + k % 7) * s for k, s in enumerate(starts)))
    own, bought = Budget(600.0), Budget(600.0, iterations=1)
    assert not solve_sat(model, own, 0, work_s=0.001).proven
    assert not own.cut
    assert not solve_sat(model, bought, 0).proven
    assert not bought.cut


@pytest.mark.parametrize("by", ["HIGHS", "GSCIP"])
def test_a_bound_in_floating_point_lies_beyond_what_the_solver_says(by: ProgramSolver) -> None:
    model, taken, _ = packing()
    answer = solve_program(model, by, Budget(60.0), 3, size=max(COSTS))
    assert answer.ended == "optimal"
    assert answer.bound is not None
    assert best_packing() < answer.bound <= best_packing() + LARGEST_MARGIN
    assert float(answer.values(taken) @ COSTS) == pytest.approx(best_packing())


def test_glop_tells_prices_and_no_bound() -> None:
    model, _, row = packing(whole=False)
    answer = solve_program(model, "GLOP", Budget(60.0), 0)
    prices = answer.prices([row])
    assert answer.bound is None
    assert prices is not None
    dual = prices[0] * ROOM + sum(max(0.0, c - prices[0] * s) for c, s in zip(COSTS, SIZES, strict=True))
    assert dual >= best_packing()


@pytest.mark.parametrize("by", ["HIGHS", "GSCIP"])
def test_a_program_without_a_solution_has_a_bound_beyond_every_value(by: ProgramSolver) -> None:
    model, taken, _ = packing()
    model.add_linear_constraint(mathopt.LinearSum(taken) >= len(SIZES) + 1)
    answer = solve_program(model, by, Budget(60.0), 0, size=max(COSTS))
    assert (answer.ended, answer.bound, answer.found) == ("infeasible", -math.inf, False)


def test_scip_written_in_place_has_its_bound_on_the_safe_side() -> None:
    scip = linear_solver("SCIP", 5)
    taken = [scip.BoolVar("") for _ in SIZES]
    scip.Add(sum(size * x for size, x in zip(SIZES, taken, strict=True)) <= ROOM)
    scip.Maximize(sum(cost * x for cost, x in zip(COSTS, taken, strict=True)))
    assert solve_linear(scip, Budget(60.0)) == "optimal"
    assert best_packing() < linear_bound(scip, max(COSTS)) <= best_packing() + LARGEST_MARGIN
    assert linear_bound(scip, 1e6) - best_packing() >= 1e6 * 1e-7


def test_bounds_of_scip_leave_room_for_its_errors_which_its_largest_cost_decides() -> None:
    model, taken, _ = packing()
    dear = model.add_variable(lb=1.0, ub=1.0, is_integer=True)
    cheap = model.add_variable(lb=1.0, ub=1.0, is_integer=True)
    value = mathopt.LinearSum(cost * x for cost, x in zip(COSTS, taken, strict=True))
    model.maximize(value + 1e6 * dear - 1e6 * cheap)
    answer = solve_program(model, "GSCIP", Budget(60.0), 0, size=1e6)
    assert answer.bound is not None
    assert best_packing() + 1e6 * 1e-7 <= answer.bound <= best_packing() + 1e6 * 3e-7
    with pytest.raises(ValueError, match="largest cost"):
        solve_program(model, "GSCIP", Budget(60.0), 0)


def test_the_safe_side_is_outward() -> None:
    assert on_safe_side("max", -10.0) > -10.0 > on_safe_side("min", -10.0)
    assert on_safe_side("max", 0.0, 1e6) == pytest.approx(1e6 * solvers.DOUBT)


def test_a_solver_that_does_not_end_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object, **__: object) -> None:
        raise SolverStuck("it runs on")

    monkeypatch.setattr(solvers, "interruptible", stuck)
    budgets = [Budget(60.0) for _ in range(3)]
    assert solve_sat(sat_packing()[0], budgets[0], 0).ended == "unknown"
    assert solve_program(packing()[0], "HIGHS", budgets[1], 0).ended == "unknown"
    assert solve_linear(linear_solver("GLOP", 0), budgets[2]) is None
    assert all(budget.cut for budget in budgets)


def test_the_seed_reaches_every_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    real = mathopt.solve

    def noted(model: Any, kind: Any, params: Any, **more: Any) -> Any:
        given.append(params)
        return real(model, kind, params=params, **more)

    monkeypatch.setattr(mathopt, "solve", noted)
    for by in ("HIGHS", "GSCIP", "GLOP"):
        solve_program(packing(by != "GLOP")[0], by, Budget(60.0), 41, size=max(COSTS))  # type: ignore[arg-type]
    assert given[0].random_seed == 41
    assert given[1].gscip.int_params["randomization/randomseedshift"] == 41
    assert given[2].random_seed == 42
    answer = solve_sat(sat_packing()[0], Budget(60.0), 41)
    assert answer.solver is not None
    assert answer.solver.parameters.random_seed == 41


def test_a_trace_hears_what_cp_sat_finds() -> None:
    lines: list[TraceLine] = []
    with traced(lines.append):
        log: Incumbents[None] = Incumbents("max", "priority")
        solve_sat(sat_packing()[0], Budget(60.0), 0, log=log, unit=0.5)
    assert max(line.value for line in lines if line.value is not None) == best_packing()
    assert all(line.by == "CP-SAT" for line in lines)


#: A model of five tasks on three nodes: what each is in size, the variables of each node's row, the room of each node,
#: and what variables cost; three variables in a row are one task's.
SIZE = (202986762050, 169155635042, 186071198546, 186071198546, 355226833589)
NODES = ((0, 4, 6, 9, 13), (1, 3, 7, 10, 12), (2, 5, 8, 11, 14))
LIMIT = (878385181578, 303868082755, 439192590789)
PRICE = {1: 10133091477313, 2: 16888499869273, 4: 16888491425023, 5: 16888493536087, 7: 9288666483853}
PRICE |= {8: 16888491425023, 10: 9288674928103, 11: 84442493013193, 13: 4222122856255, 14: 4222122856255}
HINT = (0, 3, 6, 9, 14)


def cheapest_by_hand() -> int:
    """Return the optimum of the model below, by trying all."""
    costs = []
    for taken in itertools.product(*(range(3 * task, 3 * task + 3) for task in range(5))):
        used = [sum(SIZE[var // 3] for var in taken if var in row) for row in NODES]
        if all(use <= limit for use, limit in zip(used, LIMIT, strict=True)):
            costs.append(sum(PRICE.get(var, 0) for var in taken))
    return min(costs)


def merged_model() -> cp_model.CpModel:
    """Return a model whose optimum CP-SAT 9.15 loses where it merges "exactly one" with linear rows."""
    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in range(15)]
    for task in range(5):
        model.add_exactly_one(x[3 * task : 3 * task + 3])
    for row, limit in zip(NODES, LIMIT, strict=True):
        model.add(sum(size * x[var] for size, var in zip(SIZE, row, strict=True)) <= limit)
    model.minimize(sum(price * x[var] for var, price in PRICE.items()))
    for var in range(15):
        model.add_hint(x[var], var in HINT)
    return model


def test_cp_sat_keeps_the_optimum_that_its_presolve_loses() -> None:
    answer = solve_sat(merged_model(), Budget(60.0), 0)
    assert answer.proven
    assert answer.objective == answer.bound == cheapest_by_hand()


def test_the_workaround_is_still_needed() -> None:
    """Where this fails, OR-Tools has fixed issue 5293: raise its version, and take the workaround out of solver.py."""
    with_merging = solve_sat(merged_model(), Budget(60.0), 0, presolve_inclusion_work_limit=100_000_000)
    assert with_merging.ended == "optimal"
    assert with_merging.objective > cheapest_by_hand()


def test_no_other_module_runs_a_solver() -> None:
    """So that seed, limits and tolerances are those of the one runner; flows, which have none of these, are free."""
    calls = re.compile(r"CpSolver\(|CreateSolver\(|mathopt\.solve\(|best_objective_bound|dual_bound\b.*termination")
    free = {"planners/solver.py"}
    found = {
        str(path.relative_to(ROOT / "ftplan"))
        for path in (ROOT / "ftplan").rglob("*.py")
        if calls.search(path.read_text("utf-8"))
    }
    assert found <= free, f"solvers are run outside planners/solver.py: {sorted(found - free)}"

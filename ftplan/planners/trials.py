"""A small question to each solver, for ``ftplan doctor``: whether it answers here, and rightly."""

from __future__ import annotations

from typing import Any


def _expect(found: float, expected: float) -> None:
    if abs(found - expected) > 1e-6:
        raise ArithmeticError(f"the answer is {expected:g}, it says {found:g}")


def cp_sat() -> str:
    """Pack items of three sizes into 10: 4 + 6 is best."""
    import ortools
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var(f"x{size}") for size in (4, 5, 6)]
    size = 4 * taken[0] + 5 * taken[1] + 6 * taken[2]
    model.add(size <= 10)
    model.maximize(size)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.solve(model)
    _expect(solver.objective_value, 10.0)
    return f"OR-Tools {ortools.__version__}"


def glop() -> str:
    """Solve a linear program."""
    return _packed("GLOP", False, 10.5)


def scip() -> str:
    """Solve an integer program."""
    return _packed("GSCIP", True, 10.0)


def highs() -> str:
    """Solve an integer program."""
    return _packed("HIGHS", True, 10.0)


def _packed(solver: str, whole: bool, expected: float) -> str:
    """Take as much of items of 4, 5 and 6 as goes into 10.5, parts of them or whole ones: 4 + 6 is best."""
    import ortools
    from ortools.math_opt.python import mathopt

    model: Any = mathopt.Model()
    taken = [model.add_variable(lb=0.0, ub=1.0, is_integer=whole) for _ in range(3)]
    size = 4.0 * taken[0] + 5.0 * taken[1] + 6.0 * taken[2]
    model.add_linear_constraint(size <= 10.5)
    model.maximize(size)
    result = mathopt.solve(model, mathopt.SolverType[solver])
    if not result.has_primal_feasible_solution():
        raise ArithmeticError(f"no answer: {result.termination.reason.name.lower()}")
    _expect(result.objective_value(), expected)
    return f"OR-Tools {ortools.__version__}"


def max_flow() -> str:
    """Send what goes through two arcs in a row."""
    import ortools
    from ortools.graph.python import max_flow as flows

    flow: Any = flows.SimpleMaxFlow()
    flow.add_arc_with_capacity(0, 1, 5)
    flow.add_arc_with_capacity(1, 2, 3)
    flow.solve(0, 2)
    _expect(flow.optimal_flow(), 3.0)
    return f"OR-Tools {ortools.__version__}"

"""The one runner of solvers: CP-SAT, and HiGHS, SCIP and GLOP over MathOpt or OR-Tools' linear solver.

Each call has one thread (the same work gives the same answer), the seed of the command, the time that the budget has
left, the budget's iterations as deterministic work, a limit of memory where the solver has one, and is open to
interrupts. What does not end is left behind and has no answer.

Tolerances: programs are solved within :data:`FEASIBLE` to a relative gap of :data:`GAP`. What a solver calls proven is
never taken as it is. CP-SAT computes in integers: its bound is rounded to the next integer on the safe side. HiGHS and
SCIP compute in floating point: their bounds are moved outward by :data:`DOUBT` of their size, or of the objective's.
SCIP's tolerances are relative to its largest cost, whatever all costs come to: its bounds are moved by
:data:`SCIP_DOUBT` of that at least, which who calls it has to give as ``size``. GLOP's bound is not told at all:
callers compute one from its prices, which is valid whatever they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ftplan.model.machine_limits import memory_bytes
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.interrupts import SolverStuck, interruptible

if TYPE_CHECKING:
    from ortools.linear_solver import pywraplp
    from ortools.math_opt.python import mathopt
    from ortools.sat.python import cp_model

Key = TypeVar("Key")
Ended = Literal["optimal", "feasible", "infeasible", "unknown"]
ProgramSolver = Literal["HIGHS", "GSCIP", "GLOP"]

#: How far programs may miss their rows and whole numbers, and the relative gap at which they are solved.
FEASIBLE, GAP = 1e-9, 1e-9
#: How far programs may miss their rows that HiGHS cannot solve so closely; their bounds are moved by as much more.
WIDER = 1e-7
#: What is taken off a bound in floating point, relative to the larger of it and of the objective's size.
DOUBT = 1e-8
#: What is taken off SCIP's bounds at least, relative to its largest cost: they were seen to err by nearly 1e-7 of it.
SCIP_DOUBT = 2e-7
#: How far CP-SAT's bound, told in floating point, may lie beyond the integer that it is.
WHOLE = 1e-6
#: Seconds below which a solver is not started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.01
#: Part of the machine's memory, or the container's, that a solver may take.
MEMORY = 0.8


@dataclass(frozen=True)
class SatAnswer:
    """What CP-SAT found and proved.

    Attributes
    ----------
    bound
        Of the objective, a whole number on the safe side; None where the model has no objective or nothing is proven.
    """

    ended: Ended
    bound: int | None = None
    solver: cp_model.CpSolver | None = None

    @property
    def found(self) -> bool:
        """Whether there is a solution."""
        return self.ended in ("optimal", "feasible")

    @property
    def proven(self) -> bool:
        """Whether nothing is open: the solution is the best, or there is none."""
        return self.ended in ("optimal", "infeasible")

    @property
    def objective(self) -> int:
        """The objective of the solution found."""
        assert self.solver is not None
        objective: float = self.solver.objective_value
        return round(objective)

    def value(self, expression: Any) -> int:
        """Return the value of a variable or expression in the solution found."""
        assert self.solver is not None
        return int(self.solver.value(expression))

    def chosen(self, variables: Mapping[Key, Any]) -> list[Key]:
        """Return the keys of the variables that are not 0, in their order."""
        return [key for key, variable in variables.items() if self.value(variable)]


def solve_sat(
    model: cp_model.CpModel,
    budget: Budget,
    seed: int,
    *,
    work_s: float | None = None,
    log: Incumbents[Any] | None = None,
    unit: float = 1.0,
    **parameters: Any,
) -> SatAnswer:
    """Run CP-SAT as long as the budget lasts.

    The part of its presolve that merges "at most one" with linear rows is left out: version 9.15 loses solutions there
    and calls others optimal (google/or-tools issue 5293); ``tests/planners/test_solver.py`` tells when it may be back.

    Parameters
    ----------
    work_s
        Deterministic seconds of a search that is not meant to come to its end; else the budget's iterations buy them,
        and a search that does not end counts as cut.
    log, unit
        Where better values and bounds are traced as they come, each times the unit; ends at the log's wanted gap.
    parameters
        Others of CP-SAT, by name.

    Raises
    ------
    KeyboardInterrupt
        As it comes.
    """
    from ortools.sat.python import cp_model

    bought = math.inf if budget.iterations is None else budget.iterations * SOLVER_SECONDS_PER_ITERATION
    work = min(bought, math.inf if work_s is None else work_s)
    solver = cp_model.CpSolver()
    given = solver.parameters
    given.num_workers, given.random_seed, given.catch_sigint_signal = 1, seed % 2**31, False
    given.max_time_in_seconds = max(budget.left_s, LEAST_TIME_S)
    given.presolve_inclusion_work_limit = 0
    if math.isfinite(work):
        given.max_deterministic_time = max(work, 0.001)
    if (memory := _memory_mb()) is not None:
        given.max_memory_in_mb = max(256, int(memory))
    for name, value in parameters.items():
        setattr(given, name, value)
    heard = None
    if log is not None:
        given.relative_gap_limit = log.wanted
    if log is not None and log.traced:
        trace = log

        class Heard(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
            def on_solution_callback(self) -> None:
                trace.note(value=self.objective_value * unit, by="CP-SAT")

        heard = Heard()
        solver.best_bound_callback = lambda bound: trace.note(bound=bound * unit, by="CP-SAT")
    try:
        status = interruptible(lambda: solver.solve(model, heard), solver.stop_search, budget.left_s)
    except SolverStuck:
        budget.unfinished()
        return SatAnswer("unknown")
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses a model: {model.validate()}")
    ended: Ended = _ENDED_SAT.get(int(status), "unknown")
    if ended in ("feasible", "unknown"):
        _not_ended(budget, work_s is None)
    return SatAnswer(ended, _whole_bound(model, solver, ended), solver)


#: CP-SAT's status by its number.
_ENDED_SAT: dict[int, Ended] = {2: "feasible", 3: "infeasible", 4: "optimal"}


@cache
def _memory_mb() -> float | None:
    """Return what a solver may take in MiB, None without a limit; read once for the solves of a search."""
    memory = memory_bytes()
    return None if memory is None else MEMORY * memory / 2**20


def _glop_seed(seed: int) -> int:
    """Return a seed that GLOP takes, its own default for 0."""
    return 1 + seed % (2**31 - 1)


def _scip_settings(seed: int, nodes: int | None) -> dict[str, float | int | bool]:
    """Return what SCIP is told by either interface, by the names of its parameters."""
    settings: dict[str, float | int | bool] = {
        "misc/catchctrlc": False,
        "numerics/feastol": FEASIBLE,
        "randomization/randomseedshift": seed % 2**31,
    }
    if (memory := _memory_mb()) is not None:
        settings["limits/memory"] = memory
    if nodes is not None:
        settings["limits/totalnodes"] = max(1, nodes)
    return settings


def _not_ended(budget: Budget, meant_to_end: bool) -> None:
    """Note in the budget that a solver stopped early, where that was not its own limit."""
    if meant_to_end:
        budget.unfinished()
    else:
        budget.over()


def _whole_bound(model: cp_model.CpModel, solver: cp_model.CpSolver, ended: Ended) -> int | None:
    """Return the proven bound, rounded to the safe side; where nothing was found a 0 may prove nothing."""
    if not model.has_objective() or ended == "infeasible":
        return None
    bound, least = float(solver.best_objective_bound), model.proto.objective.scaling_factor >= 0.0
    if not math.isfinite(bound) or (ended == "unknown" and not (least and bound > 0.0)):
        return None
    return math.ceil(bound - WHOLE) if least else math.floor(bound + WHOLE)


@dataclass(frozen=True)
class ProgramAnswer:
    """What HiGHS, SCIP or GLOP found and proved.

    Attributes
    ----------
    bound
        On the safe side of what the solver calls proven; None where it proved nothing, and for GLOP, whose prices prove
        one. Infinite, beyond every value, where the program has no solution.
    """

    ended: Ended
    bound: float | None = None
    result: mathopt.SolveResult | None = None

    @property
    def found(self) -> bool:
        """Whether there is a solution."""
        return self.result is not None and self.result.has_primal_feasible_solution()

    def values(self, variables: Iterable[mathopt.Variable]) -> FloatArray:
        """Return the values of variables in the solution found."""
        assert self.result is not None
        return np.array(self.result.variable_values(list(variables)), dtype=np.float64)

    def prices(self, rows: Sequence[mathopt.LinearConstraint]) -> FloatArray | None:
        """Return the dual values of rows of a linear program; None where it was not solved."""
        if self.result is None or not self.result.has_dual_feasible_solution() or not self.found:
            return None
        return np.array(self.result.dual_values(list(rows)), dtype=np.float64)


def solve_program(
    model: mathopt.Model,
    by: ProgramSolver,
    budget: Budget,
    seed: int,
    *,
    size: float | None = None,
    nodes: int | None = None,
    nodes_per_iteration: int = 1,
    gap: float = GAP,
    least_step: float = 0.0,
    start: Mapping[Any, float] | None = None,
    only_bound: bool = False,
    few_cuts: bool = False,
) -> ProgramAnswer:
    """Run HiGHS, SCIP ("GSCIP") or GLOP on a program as long as the budget lasts.

    HiGHS and SCIP cannot be stopped from here: an interrupt leaves them behind in their thread, until their limit.

    Parameters
    ----------
    size
        Of the objective: what the margin of the bound is relative to where that is more than the bound, 1 unless
        given. SCIP needs it: the largest cost of a variable.
    nodes
        Of the tree of a search that is not meant to come to its end; else an iteration of the budget buys
        *nodes_per_iteration* of them, and a search that does not end counts as cut.
    least_step
        Values differ by multiples of it: the search ends at a gap of half of it.
    start
        A solution, by variable.
    only_bound, few_cuts
        Leave out what looks for solutions (HiGHS), or most of what cuts off fractions (SCIP).

    Raises
    ------
    KeyboardInterrupt
        As it comes.
    """
    from ortools.math_opt.python import mathopt

    if by == "GSCIP":
        if size is None:
            raise ValueError("SCIP's bounds are as good as its largest cost allows: give it as size")
        size = scip_size(size)
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return ProgramAnswer("unknown")
    limit = nodes
    if limit is None and budget.iterations is not None and by != "GLOP":
        limit = max(1, budget.iterations * nodes_per_iteration)
    given = mathopt.SolveParameters(
        time_limit=timedelta(seconds=budget.left_s), node_limit=limit if by == "HIGHS" else None
    )
    if by != "GLOP":
        given.relative_gap_tolerance, given.absolute_gap_tolerance = gap, max(0.5 * least_step, 0.0)
    if by == "HIGHS":  # one thread: MathOpt gives its trees no more
        given.random_seed = seed % 2**31
        _set_highs(given, FEASIBLE)
        if only_bound:
            given.highs.double_options["mip_heuristic_effort"] = 0.0
    elif by == "GSCIP":
        _set_scip(given, seed, limit, few_cuts)
    else:
        given.random_seed = _glop_seed(seed)
    started = mathopt.ModelSolveParameters()
    if start is not None:
        started.solution_hints.append(mathopt.SolutionHint(variable_values=dict(start)))
    kind, doubt = mathopt.SolverType[by], DOUBT

    def solved() -> mathopt.SolveResult:
        return interruptible(
            lambda: mathopt.solve(model, kind, params=given, model_params=started), time_limit_s=budget.left_s
        )

    try:
        try:
            result = solved()
        except (AttributeError, RuntimeError):  # HiGHS cannot keep so narrow a tolerance: MathOpt calls that internal
            if by != "HIGHS":
                raise
            _set_highs(given, WIDER)
            result, doubt = solved(), DOUBT * WIDER / FEASIBLE
    except SolverStuck:
        budget.unfinished()
        return ProgramAnswer("unknown")
    reason, reasons = result.termination.reason, mathopt.TerminationReason
    if reason in (reasons.INFEASIBLE, reasons.INFEASIBLE_OR_UNBOUNDED):
        return ProgramAnswer("infeasible", -math.inf if model.objective.is_maximize else math.inf, result)
    if reason != reasons.OPTIMAL:
        _not_ended(budget, nodes is None)
    ended: Ended = "feasible" if result.has_primal_feasible_solution() else "unknown"
    ended = "optimal" if reason == reasons.OPTIMAL else ended
    bound = None if by == "GLOP" else float(result.termination.objective_bounds.dual_bound)
    if bound is None or not math.isfinite(bound):
        return ProgramAnswer(ended, None, result)
    safe = on_safe_side("max" if model.objective.is_maximize else "min", bound, 1.0 if size is None else size, doubt)
    return ProgramAnswer(ended, safe, result)


def on_safe_side(sense: Literal["min", "max"], bound: float, size: float = 1.0, doubt: float = DOUBT) -> float:
    """Return a bound in floating point moved outward by its margin."""
    moved = margin(bound, size, doubt)
    return bound - moved if sense == "min" else bound + moved


def margin(bound: float, size: float, doubt: float = DOUBT) -> float:
    """Return what is taken off a bound in floating point: a part of its size or of the objective's."""
    return doubt * max(abs(bound), abs(size))


def scip_size(largest_cost: float) -> float:
    """Return the size of an objective at which the margin of a bound is what SCIP's largest cost asks for."""
    return largest_cost * SCIP_DOUBT / DOUBT


def _set_highs(given: mathopt.SolveParameters, width: float) -> None:
    """Let programs miss their rows and whole numbers by so much."""
    for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        given.highs.double_options[name] = width


def _set_scip(given: mathopt.SolveParameters, seed: int, nodes: int | None, few_cuts: bool) -> None:
    """Set what MathOpt has no common name for."""
    given.threads, told = 1, given.gscip
    settings = _scip_settings(seed, nodes)
    if few_cuts:
        settings |= {"separating/maxroundsroot": 5, "separating/maxrounds": 1}
    for name, value in settings.items():
        if isinstance(value, bool):
            told.bool_params[name] = value
        elif isinstance(value, float):
            told.real_params[name] = value
        elif name == "limits/totalnodes":
            told.long_params[name] = value
        else:
            told.int_params[name] = value


def linear_solver(by: Literal["GLOP", "SCIP"], seed: int, nodes: int | None = None) -> Any:
    """Return a solver whose program is written and changed in place, for :func:`solve_linear`."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver(by)
    if by == "GLOP":
        settings = f"random_seed: {_glop_seed(seed)}"
    else:
        settings = "".join(f"{name} = {str(value).upper()}\n" for name, value in _scip_settings(seed, nodes).items())
    solver.SetSolverSpecificParametersAsString(settings)
    return solver


def solve_linear(solver: pywraplp.Solver, budget: Budget, *, gap: float = GAP, own_limit: bool = False) -> Ended | None:
    """Run a solver of :func:`linear_solver`; return how it ended, None where it runs on and cannot be asked any more.

    *own_limit* says that nodes limit it on purpose: that it does not end is then no cut.

    Raises
    ------
    KeyboardInterrupt
        As it comes.
    """
    from ortools.linear_solver import pywraplp

    solver.SetTimeLimit(max(int(budget.left_s * 1000), 10))
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, gap)
    try:
        status = interruptible(lambda: solver.Solve(parameters), solver.InterruptSolve, budget.left_s)
    except SolverStuck:
        budget.unfinished()
        return None
    ended: dict[int, Ended] = {
        pywraplp.Solver.OPTIMAL: "optimal",
        pywraplp.Solver.FEASIBLE: "feasible",
        pywraplp.Solver.INFEASIBLE: "infeasible",
    }
    known = ended.get(int(status), "unknown")
    if known in ("feasible", "unknown"):
        _not_ended(budget, not own_limit)
    return known


def linear_bound(solver: pywraplp.Solver, size: float) -> float:
    """Return what SCIP proved, on the safe side; *size* is the largest cost of a variable."""
    sense: Literal["min", "max"] = "max" if solver.Objective().maximization() else "min"
    return on_safe_side(sense, float(solver.Objective().BestBound()), scip_size(size))

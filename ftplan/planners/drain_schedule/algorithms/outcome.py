"""From rounds as masks to the result of a planner."""

from __future__ import annotations

from ftplan.model.plan import Status, Warn
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed import AllowedSets
from ftplan.planners.drain_schedule.algorithms.first_fit import in_order
from ftplan.planners.drain_schedule.algorithms.options import DrainOptions
from ftplan.planners.drain_schedule.algorithms.restartable import Restartable, infeasible, restartable
from ftplan.planners.drain_schedule.problem import Drain, DrainProblem
from ftplan.planners.drain_schedule.rules import rules
from ftplan.planners.result import Result


def begin(problem: DrainProblem, options: DrainOptions, budget: Budget) -> Result[Drain] | tuple[AllowedSets, Drain]:
    """Return the sets to choose from, and a drain without rounds that names what cannot restart; or why there is none.

    Raises
    ------
    RuntimeError
        If tasks are to be moved and the problem does not say where there is room.
    """
    if problem.limits.move and problem.room is None:
        raise RuntimeError("a drain that moves tasks needs to know the room of nodes")
    able = restartable(problem, budget)
    if able.others and not options.partial:
        return _refused(problem, able, budget)
    unplaced = tuple((node, able.others[node][0].message) for node in sorted(able.others))
    return AllowedSets(problem, able.nodes, budget), Drain((), (), unplaced)


def _refused(problem: DrainProblem, able: Restartable, budget: Budget) -> Result[Drain]:
    why = infeasible(problem, able.others)
    warnings = problem.warnings + budget.warnings()
    if not able.proven:
        return Result("no-plan-in-time", None, rules(problem), reason=why.reason, warnings=warnings)
    return Result("infeasible", None, rules(problem), reason=why.reason, infeasible=why, warnings=warnings)


def outcome(
    sets: AllowedSets, without: Drain, rounds: list[int], least: int, budget: Budget, warnings: tuple[Warn, ...] = ()
) -> Result[Drain]:
    """Return rounds as a result, in the order of their first nodes: optimal where there are no more than *least*."""
    rounds = in_order(rounds)
    sets.check(rounds, "drain-schedule")
    moves = tuple((sets.packing(mask).moves or ()) if sets.limits_room else () for mask in rounds)
    drain = Drain(tuple(sets.numbers(mask) for mask in rounds), moves, without.unplaced)
    status: Status = "optimal" if len(rounds) <= least else "feasible"
    said = (*sets.problem.warnings, *warnings, *budget.warnings())
    return Result(status, drain, rules(sets.problem), float(least), warnings=said)

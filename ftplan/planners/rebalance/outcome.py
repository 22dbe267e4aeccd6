"""From the moves that a planner chose to its result: phases, copies made anew, and what the bound proves."""

from __future__ import annotations

from collections.abc import Iterable

from ftplan.metrics.rebalance_problem import Migration, Rebalance, RebalanceProblem
from ftplan.model.plan import Infeasible, Status, Warn
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.new_copies import lost, new_copies
from ftplan.planners.rebalance.phasing import Phasing, phased
from ftplan.planners.result import Result


def outcome(
    problem: RebalanceProblem,
    moves: Iterable[Migration],
    bound: float | None,
    budget: Budget,
    warnings: tuple[Warn, ...] = (),
) -> Result[Rebalance]:
    """Return moves in phases, with the copies that are made anew; optimal where they are worth no more than *bound*.

    Infeasible where the moves cannot be phased. A bound is one for the moves alone: where phases made some of them
    slower a warning ``BOUND_WITHOUT_PHASES`` says so. Cost: see :func:`phased`.
    """
    chosen = tuple(moves)
    phasing = phased(problem, chosen)
    said = (*problem.warnings, *warnings)
    if phasing.stuck:
        why = not_phased(problem, phasing)
        return Result("infeasible", None, rules(problem), bound, why.reason, why, (*said, *budget.warnings()))
    copies = new_copies(problem, phasing.moves)
    value, without = problem.value(phasing.moves), problem.value(chosen)
    status: Status = "optimal" if bound is not None and value <= bound + _slack(value, bound) else "feasible"
    if value > without + _slack(value, without):
        text = f"phases made {len(phasing.slowed)} moves slower, {value - without:.6g} in all"
        said += (Warn("BOUND_WITHOUT_PHASES", f"{text}: the bound is one for moves without phases"),)
    answer = Rebalance(phasing.phases, copies.made)
    said += (*lost(problem, copies.fewer), *budget.warnings())
    return Result(status, answer, rules(problem), bound, warnings=said)


def not_phased(problem: RebalanceProblem, phasing: Phasing) -> Infeasible:
    """Return why moves cannot be phased, and the smallest change with which they can."""
    names = [f"key-group:{problem.operators[m.group]}/{int(problem.key_group[m.group])}" for m in phasing.stuck]
    some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    limits = problem.limits
    if phasing.limit == "max-pause":
        text = f"moves that have to begin together pause a key group for {phasing.needed:.6g} s: {some}"
        return Infeasible(text, "max-pause", limits.max_pause_s, phasing.needed, f"--max-pause {phasing.needed:.6g}s")
    if phasing.limit == "phase-bytes":
        text = f"moves that have to begin together transfer {phasing.needed:.0f} bytes: {some}"
        return Infeasible(
            text, "phase-bytes", limits.phase_bytes, phasing.needed, f"--phase-bytes {phasing.needed:.0f}"
        )
    nodes = sorted({int(move.target) for move in phasing.stuck})
    where = ", ".join(problem.nodes[node] for node in nodes[:5])
    text = f"no order of phases has room on {where} while cpal loads both nodes of a move: {some}"
    return Infeasible(text, "phase-capacity", list(problem.protocols), None, "--protocol auto")


def rules(problem: RebalanceProblem) -> tuple[str, ...]:
    """Return the names of the rules in force."""
    limits = problem.limits
    given = {
        "capacity": True,
        "drained": bool(problem.removed.any()),
        "phase-capacity": True,
        "max-moves": limits.max_moves is not None,
        "max-bytes": limits.max_bytes is not None,
        "max-pause": limits.max_pause_s is not None,
        "phase-bytes": limits.phase_bytes is not None,
        "within": limits.within_s is not None,
        "protocol": True,
    }
    return tuple(rule for rule, is_given in given.items() if is_given)


def _slack(first: float, second: float) -> float:
    return ROUNDING * max(abs(first), abs(second), LEAST_SCALE)

"""What no repair loses less than in which running queries may give way."""

from __future__ import annotations

from ftplan.planners.budget import Budget
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.repair.exhaustive import optimum_where_few
from ftplan.planners.recovery.repair.instance import value
from ftplan.planners.recovery.repair.interval_model import solve_intervals, too_large
from ftplan.planners.recovery.repair.list_schedule import list_schedule
from ftplan.planners.recovery.repair.pausing import as_if_paused
from ftplan.planners.recovery.schedule.repair_state import at_failure

#: Share of the time for going through all placements.
FEW = 0.3


def loss_with_pauses(problem: RecoveryProblem, budget: Budget, seed: int = 0) -> float | None:
    """Return what no schedule loses less than, in priority × seconds, whoever gives way; None where that is not known.

    A repair in which all that may give way comes back as if it had never stopped is solved or bounded as any other.
    Failures stated for later, after which others may give way, are beyond it.
    """
    if problem.failures:
        return None
    instance = as_if_paused(at_failure(problem))
    if len(instance.task) == 0 or len(instance.host) == 0:
        return None
    if (best := optimum_where_few(instance, budget.part(FEW))) is not None:
        return value(instance, best)
    if too_large(instance, budget):
        return None
    _, bound, _ = solve_intervals(instance, list_schedule(instance), budget, seed)
    return bound

"""The Python face of simulated migrations: a problem, and a plan where there is one; out comes what would happen."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.io.options.fields import PLAN, PlanSource, checked
from ftplan.io.options.parameters import a_problem
from ftplan.simulation.migration.options import MESSAGES, TRACE, MigrationSimulationOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.simulation.migration.answer import MigrationSimulation

COMMAND = "simulate migration"
#: By level, the function that simulates: takes the problem, the plan or None, the options, and what to tell.
SIMULATED = {
    MESSAGES: "ftplan.simulation.migration.messages:simulate_messages",
    TRACE: "ftplan.simulation.migration.adaptation.scene:simulate_trace",
}

#: Says how far the simulation is: a sentence and a share of 1.
Report = Callable[[str, float | None], None]


def simulate_migration(
    problem: Problem, plan: Plan | PlanSource | None = None, *, progress: Report | None = None, **options: Any
) -> MigrationSimulation:
    """Simulate migrations: a plan's moves message by message, or adaptation over the load of the statistics.

    Parameters
    ----------
    problem
        Topology, cluster with a placement of key groups, statistics.
    plan
        For level ``messages`` a plan of kind rebalance, its path or its document.
    progress
        Called with a sentence and a share of 1 as work is done.
    options
        The fields of :class:`ftplan.simulation.migration.options.MigrationSimulationOptions`, for instance ``runs=20``.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, an input is missing or does not fit, or nothing is done in time.
    """
    problem = a_problem(problem)
    asked = MigrationSimulationOptions.of(COMMAND, options)
    given = checked(COMMAND, {"plan": PLAN}, {"plan": plan})["plan"]
    answer: MigrationSimulation = resolve_name(SIMULATED[asked.level])(problem, given, asked, progress)
    return answer

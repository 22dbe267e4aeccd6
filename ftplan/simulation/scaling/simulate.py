"""The Python face of simulated scaling: a problem and a plan, or neither; out comes what would happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.io.options.fields import PLAN, PlanSource, checked
from ftplan.io.options.parameters import a_problem
from ftplan.simulation.scaling.options import NONE, PLANNED, RESTART, ScalingSimulationOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.simulation.scaling.answer import ScalingSimulation

#: Modes where nobody asks for any, with a plan and without.
WITH_PLAN, WITHOUT_PLAN = (NONE, PLANNED), (NONE, RESTART, "checkpoint", "active-backup")

#: Says how far the simulation is: a sentence and a share of 1.
Report = Callable[[str, float | None], None]


def simulate_scaling(
    problem: Problem, plan: Plan | PlanSource | None = None, *, progress: Report | None = None, **options: Any
) -> ScalingSimulation:
    """Simulate a job whose load changes, and operators that are split when they become bottlenecks.

    Parameters
    ----------
    problem
        With a plan its topology and statistics, and a cluster where there is one. Without, a topology, with statistics
        or not; without all of them the job of the paper's experiment.
    plan
        A plan of kind scale-out, its path or its document: operators are split as it says. None: twice the tasks.
    progress
        Called with a sentence and a share of 1 as runs are done.
    options
        The fields of :class:`ftplan.simulation.scaling.options.ScalingSimulationOptions`, for instance
        ``mode=["none", "checkpoint"], load="doubling"``.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, or an input is missing or does not fit.
    """
    from ftplan.simulation.recovery.times import resolution
    from ftplan.simulation.scaling.answer import ScalingSimulation, body, mode_document
    from ftplan.simulation.scaling.load import curve
    from ftplan.simulation.scaling.modes import detection, setting_of
    from ftplan.simulation.scaling.run import simulate_scaling as simulated
    from ftplan.simulation.scaling.scene import COMMAND, question

    problem = a_problem(problem)
    asked = ScalingSimulationOptions.of(COMMAND, options)
    given = checked(COMMAND, {"plan": PLAN}, {"plan": plan})["plan"]
    modes = asked.mode or (WITHOUT_PLAN if given is None else WITH_PLAN)
    if given is None and PLANNED in modes:
        raise FtplanError(f"--mode: {PLANNED} is as PLAN says, and none is given")
    what = question(problem, given, asked)
    scene = what.scene
    over_time = curve(asked, scene.default_load, scene.usual_records_s, scene.measured)
    every_s = resolution(over_time.until_s, asked.every_s)
    detects = detection(what.rules, what.thresholds, asked)
    documents = []
    for number, mode in enumerate(modes):
        outcomes = []
        for run in range(asked.runs):
            drawn = None if asked.runs == 1 else run
            outcomes.append(simulated(setting_of(scene, mode, over_time, detects, asked, every_s, drawn)))
            if progress is not None:
                share = (number * asked.runs + run + 1) / (len(modes) * asked.runs)
                progress(f"{mode}, run {run + 1:,} of {asked.runs:,}", share)
        documents.append(mode_document(mode, scene, outcomes))
    return ScalingSimulation(
        asked, body(scene, what.thresholds, over_time, every_s, asked, documents), what.inputs, what.warnings
    )

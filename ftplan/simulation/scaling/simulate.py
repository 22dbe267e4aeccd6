"""From inputs and options to the answer of simulated scaling: each mode in all runs."""

from __future__ import annotations

from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.options.fields import PLAN, PlanSource, checked
from ftplan.io.options.parameters import a_problem
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.simulation.registry import Report
from ftplan.simulation.scaling.answer import ScalingSimulation, body, mode_document
from ftplan.simulation.scaling.load import curve
from ftplan.simulation.scaling.modes import detection, setting_of
from ftplan.simulation.scaling.options import NONE, PLANNED, RESTART, ScalingSimulationOptions
from ftplan.simulation.scaling.run import run_scaling
from ftplan.simulation.scaling.scene import COMMAND, scene_of
from ftplan.simulation.scene import resolution

#: Modes where nobody asks for any, with a plan and without.
WITH_PLAN, WITHOUT_PLAN = (NONE, PLANNED), (NONE, RESTART, "checkpoint", "active-backup")


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
    problem = a_problem(problem)
    request = ScalingSimulationOptions.of(COMMAND, options)
    given = checked(COMMAND, {"plan": PLAN}, {"plan": plan})["plan"]
    modes = request.mode or (WITHOUT_PLAN if given is None else WITH_PLAN)
    if given is None and PLANNED in modes:
        raise FtplanError(f"--mode: {PLANNED} is as PLAN says, and none is given")
    scene = scene_of(problem, given, request)
    job = scene.job
    over_time = curve(request, job.default_load, job.usual_records_s, job.measured)
    every_s = resolution(over_time.until_s, request.every_s)
    detects = detection(scene.rules, scene.thresholds, request)
    documents = []
    for number, mode in enumerate(modes):
        outcomes = []
        for run in range(request.runs):
            drawn = None if request.runs == 1 else run
            outcomes.append(run_scaling(setting_of(job, mode, over_time, detects, request, every_s, drawn)))
            if progress is not None:
                share = (number * request.runs + run + 1) / (len(modes) * request.runs)
                progress(f"{mode}, run {run + 1:,} of {request.runs:,}", share)
        documents.append(mode_document(mode, job, outcomes))
    contents = body(job, scene.thresholds, over_time, every_s, request, documents)
    return ScalingSimulation(request, contents, scene.inputs, scene.warnings)

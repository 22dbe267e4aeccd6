"""From inputs and options to the answer of a simulated peer ring: run by run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ftplan.io.options.fields import PLAN, PlanSource, checked
from ftplan.io.options.parameters import a_problem
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.simulation.registry import Report
from ftplan.simulation.ring.answer import RingSimulation, body
from ftplan.simulation.ring.options import RingSimulationOptions
from ftplan.simulation.ring.run import run_ring
from ftplan.simulation.ring.scene import COMMAND, scene_of


def simulate_ring(
    problem: Problem, plan: Plan | PlanSource | None = None, *, progress: Report | None = None, **options: Any
) -> RingSimulation:
    """Simulate a peer ring: failures, take-overs, load that moves, nodes that join and leave, batch by batch.

    Parameters
    ----------
    problem
        With a plan its topology and cluster, and statistics where there are some. Without, what there is of them: nodes
        and key groups that are alike stand for what is missing.
    plan
        The plan of a ring, its path or its document; None: nodes at even or random places.
    progress
        Called with a sentence and a share of 1 as runs are done.
    options
        The fields of :class:`ftplan.simulation.ring.options.RingSimulationOptions`, for instance
        ``fail=["node:n1"], runs=20``.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, or an input is missing or does not fit.
    """
    problem = a_problem(problem)
    request = RingSimulationOptions.of(COMMAND, options)
    given = checked(COMMAND, {"plan": PLAN}, {"plan": plan})["plan"]
    scene = scene_of(problem, given, request)
    outcomes = []
    for run in range(request.runs):
        outcomes.append(run_ring(replace(scene.setting, run=run)))
        if progress is not None:
            progress(f"run {run + 1:,} of {request.runs:,}", (run + 1) / request.runs)
    document, warnings = body(scene, outcomes)
    return RingSimulation(request, document, scene.inputs, (*scene.warnings, *warnings))

"""From inputs and options to the answer of a simulated peer ring: run by run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ftplan.model.problem import Problem
from ftplan.simulation.registry import Report
from ftplan.simulation.ring.answer import RingSimulation, body
from ftplan.simulation.ring.options import RingSimulationOptions
from ftplan.simulation.ring.run import run_ring
from ftplan.simulation.ring.scene import scene_of


def simulate(problem: Problem, plan: Any, request: RingSimulationOptions, progress: Report | None) -> RingSimulation:
    """Simulate a peer ring: failures, take-overs, load that moves, nodes that join and leave, batch by batch.

    *plan*: of a ring; None: nodes at even or random places, and what is missing of topology and cluster is alike.

    Raises
    ------
    FtplanError
        If an input is missing or does not fit.
    """
    scene = scene_of(problem, plan, request)
    outcomes = []
    for run in range(request.runs):
        outcomes.append(run_ring(replace(scene.setting, run=run)))
        if progress is not None:
            progress(f"run {run + 1:,} of {request.runs:,}", (run + 1) / request.runs)
    document, warnings = body(scene, outcomes)
    return RingSimulation(request, document, scene.inputs, (*scene.warnings, *warnings))

"""The Python face of simulated peer rings: a problem and a plan, or neither; out comes what would happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ftplan.io.options.fields import PLAN, PlanSource, checked
from ftplan.io.options.parameters import a_problem
from ftplan.simulation.ring.options import RingSimulationOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.simulation.ring.answer import RingSimulation

#: Says how far the simulation is: a sentence and a share of 1.
Report = Callable[[str, float | None], None]


def simulate_peer_ring(
    problem: Problem, plan: Plan | PlanSource | None = None, *, progress: Report | None = None, **options: Any
) -> RingSimulation:
    """Simulate a peer ring: failures, take-overs, load that moves, nodes that join and leave, batch by batch.

    Parameters
    ----------
    problem
        With a plan its topology and cluster, and statistics where there are some. Without, what there is of them: nodes
        and key groups that are alike stand for what is missing.
    plan
        A plan of kind peer-ring, its path or its document; None: nodes at even or random places.
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
    from ftplan.simulation.ring.answer import RingSimulation, body
    from ftplan.simulation.ring.run import simulate_ring
    from ftplan.simulation.ring.scene import COMMAND, scene_of

    problem = a_problem(problem)
    asked = RingSimulationOptions.of(COMMAND, options)
    given = checked(COMMAND, {"plan": PLAN}, {"plan": plan})["plan"]
    scene = scene_of(problem, given, asked)
    outcomes = []
    for run in range(asked.runs):
        outcomes.append(simulate_ring(replace(scene.setting, run=run)))
        if progress is not None:
            progress(f"run {run + 1:,} of {asked.runs:,}", (run + 1) / asked.runs)
    document, said = body(scene, outcomes)
    return RingSimulation(asked, document, scene.inputs, (*scene.warnings, *said))

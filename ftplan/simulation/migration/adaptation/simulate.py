"""From inputs and options to the answer of a simulated adaptation: each allocation with each preference of targets."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ftplan.costs.option import recorded_costs
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners.budget import now
from ftplan.simulation.migration.adaptation.allocations import TECHNIQUES
from ftplan.simulation.migration.adaptation.answer import adaptation_document
from ftplan.simulation.migration.adaptation.run import run_adaptation
from ftplan.simulation.migration.adaptation.scene import AdaptationScene, scene_of
from ftplan.simulation.migration.adaptation.setting import AdaptationOutcome, AdaptationPolicy
from ftplan.simulation.migration.answer import MigrationSimulation
from ftplan.simulation.migration.options import MigrationSimulationOptions
from ftplan.simulation.registry import Report


def simulate_trace(
    problem: Problem, plan: Any, options: MigrationSimulationOptions, progress: Report | None
) -> MigrationSimulation:
    """Simulate the adaptation of each period, with each allocation and preference.

    Checkpoints are planned on the first part of the windows; key groups begin where the cluster has them. Random
    allocations are drawn ``runs`` times.

    Raises
    ------
    FtplanError
        If a plan is given, an input is missing or does not fit, or there is no window to plan on or to simulate.
    """
    if plan is not None:
        raise FtplanError("--level trace simulates adaptation over the statistics: leave out the plan")
    scene = scene_of(problem, options)
    adaptations, cut = _adaptations(scene, progress)
    idle = run_adaptation(scene.prepared.problem, scene.trace, AdaptationPolicy(lambda _: ()))
    body = {
        "periods": len(scene.trace.loads),
        "period_s": scene.trace.period_s,
        "planned_on_s": scene.planned * scene.allocator.series.window_s,
        "without_adaptation": {
            "overloaded_nodes": int(idle.total("overloaded_before")),
            "excess_load": idle.total("excess_before"),
        },
        "adaptations": adaptations,
    }
    inputs = (*(item for item in problem.inputs if item.role != "failure"), *scene.prepared.inputs)
    paths = {item.role: item.path for item in inputs}
    options = replace(options, costs=recorded_costs(options.costs, paths.get("costs")))
    return MigrationSimulation(options, body, inputs, tuple(dict.fromkeys((*scene.warnings, *cut))))


def _adaptations(scene: AdaptationScene, progress: Report | None) -> tuple[list[dict[str, Any]], list[Warn]]:
    """Return each allocation with each preference, and which runs the time limit left out; one run is always there."""
    options = scene.options
    ends = math.inf if options.time_limit_s is None else now() + options.time_limit_s
    cells = [(name, prefer) for name in options.allocations for prefer in options.preferences]
    adaptations: list[dict[str, Any]] = []
    cut = []
    for number, (name, prefer) in enumerate(cells):
        technique, runs = TECHNIQUES[name], list[AdaptationOutcome]()
        wanted = options.runs if technique.random else 1
        for seed in range(wanted):
            if (runs or adaptations) and now() > ends:
                break
            if progress is not None:
                progress(f"{name}, run {seed + 1}", number / len(cells))
            runs.append(scene.run(technique, prefer, options.seed + seed))
        if len(runs) < wanted:
            how = "preferred" if prefer else "not preferred"
            text = f"{name}, hosts of copies {how}: the time limit left out {wanted - len(runs):,} of {wanted:,} runs"
            cut.append(Warn("RUNS_CUT", text))
        if runs:
            adaptations.append(adaptation_document(name, prefer, runs))
    return adaptations, cut

"""From inputs and options to the answer of a simulated adaptation: each allocation with each preference of targets.

Of all runs with one of these it tells figures, and means in each period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.costs.given_costs import recorded_costs
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners.budget import now
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.simulation.answer import figure
from ftplan.simulation.migration.adaptation.allocations import TECHNIQUES
from ftplan.simulation.migration.adaptation.run import run_adaptation
from ftplan.simulation.migration.adaptation.scene import AdaptationScene, scene_of
from ftplan.simulation.migration.adaptation.setting import AdaptationOutcome, AdaptationPolicy
from ftplan.simulation.migration.answer import MigrationSimulation
from ftplan.simulation.migration.options import TRACE, MigrationSimulationOptions
from ftplan.simulation.registry import Report

#: Sums over all periods.
TOTALS = (
    "moves",
    "assisted",
    "latency_s",
    "completion_s",
    "bytes",
    "copies_moved",
    "copy_bytes",
    "overloaded_before",
    "overloaded_after",
    "excess_before",
    "excess_after",
)
#: Shares over all periods.
SHARES = ("assisted_share", "usable_share")
#: What is told period by period.
OVER_TIME = (
    "moves",
    "assisted",
    "latency_s",
    "bytes",
    "copies_moved",
    "overloaded_before",
    "overloaded_after",
    "wanted",
    "usable",
)


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
    contents = {"level": TRACE, TRACE: body}
    return MigrationSimulation(options, contents, inputs, tuple(dict.fromkeys((*scene.warnings, *cut))))


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


def adaptation_document(allocation: str, preferred: bool, runs: Sequence[AdaptationOutcome]) -> dict[str, Any]:
    """Return what all runs with an allocation say together; lists are means over the runs."""
    summary = {name: figure(np.array([run.total(name) for run in runs])) for name in TOTALS}
    for name in SHARES:
        values = (getattr(run, name) for run in runs)
        summary[name] = figure(np.array([np.nan if value is None else value for value in values]))
    by_protocol = np.array([[period.by_protocol for period in run.periods] for run in runs], dtype=np.float64)
    return {
        "allocation": allocation,
        "preferred": preferred,
        "runs": len(runs),
        "summary": summary,
        "by_protocol": dict(zip(PROTOCOLS[:4], by_protocol.sum(axis=1).mean(axis=0).tolist(), strict=False)),
        "over_time": {name: _over_time(name, runs) for name in OVER_TIME},
    }


def _over_time(name: str, runs: Sequence[AdaptationOutcome]) -> list[float]:
    """Return the mean over the runs of a figure in each period."""
    values: list[float] = np.array([[getattr(p, name) for p in run.periods] for run in runs]).mean(axis=0).tolist()
    return values

"""From inputs and options to the answer of a simulated adaptation: each allocation with each preference of targets.

All runs have the load of the statistics by period in common. Of all runs with one allocation and preference the answer
has figures, and means in each period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ftplan.costs.given_costs import recorded_costs
from ftplan.errors import FtplanError
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import AllocationOptions
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.budget import now
from ftplan.planners.rebalance.algorithms.outcome import new_copies
from ftplan.planners.rebalance.algorithms.pairing import paired
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceProblem
from ftplan.simulation.answer import Document, figure
from ftplan.simulation.migration.adaptation.allocations import TECHNIQUES, Allocator, Technique
from ftplan.simulation.migration.adaptation.run import AdaptationOutcome, AdaptationPolicy, LoadTrace, run_adaptation
from ftplan.simulation.migration.document import AdaptationFiguresModel, AdaptationOverTimeModel
from ftplan.simulation.migration.options import TRACE, MigrationSimulationOptions
from ftplan.simulation.registry import Report

#: Seconds that one allocation may take.
PLANNING_S = 60.0


@dataclass(frozen=True, eq=False)
class AdaptationScene:
    """What all runs have in common."""

    options: MigrationSimulationOptions
    prepared: PreparedRebalance
    allocator: Allocator
    trace: LoadTrace
    planned: int  # windows that checkpoints are planned on at first; the periods of the trace follow
    #: ``period``, ``every``: windows of a period, and periods between two looks at the allocation, 0 for none
    period: int
    every: int
    warnings: tuple[Warn, ...]

    def run(self, technique: Technique, prefer: bool, seed: int) -> AdaptationOutcome:
        """Return one adaptation with an allocation of a technique."""
        start = self.prepared.problem
        start = replace(start, copies=self.allocator.copies(technique, start, self.planned, seed))
        upkeep = None
        if self.every and not technique.random:
            upkeep = self.allocator.upkeep(
                technique, lambda number: self.planned + number * self.period, self.every, self.options.threshold, seed
            )
        policy = AdaptationPolicy(partial(paired, prefer=prefer), upkeep, _renewed)
        setting = self.trace.setting._replace(full=technique.full)
        return run_adaptation(start, self.trace._replace(setting=setting), policy)


def scene_of(problem: Problem, options: MigrationSimulationOptions) -> AdaptationScene:
    """Return what all runs have in common.

    Raises FtplanError if an input is missing or does not fit, or there is no window to plan on or to simulate.
    """
    shared = {name: getattr(options, name) for name in RebalanceOptions.options() if name in options.options()}
    prepared = prepare(problem, RebalanceOptions(**shared, tolerance="none"))
    series, windows = prepared.series, len(prepared.series.loads)
    period = _windows("--period", options.period_s, series.window_s)
    planned = max(round(options.plan_on * windows), 1)
    if windows - planned < period:
        least = f"{planned} of {windows} windows are planned on, and a period takes {period}"
        raise FtplanError(f"--plan-on, --period: {least}: nothing is left to simulate")
    every = _windows("--upkeep-every", options.upkeep_every_s, period * series.window_s)
    records = prepared.records
    trace = LoadTrace(
        _by_period(series.loads[planned:], period),
        _by_period(records.loads[planned:], period) / records.window_s,
        period * series.window_s,
        prepared.setting,
    )
    settings = _allocation_options(options, prepared.capacity_per_core)
    return AdaptationScene(
        options,
        prepared,
        Allocator(prepared.topology, prepared.cluster, series, settings),
        trace,
        planned,
        period,
        every if options.upkeep_every_s is not None else 0,
        (*problem.warnings, *(said for said in prepared.problem.warnings if said.code != "NO_CHECKPOINTS")),
    )


def _renewed(now: RebalanceProblem, moves: Sequence[Migration]) -> Sequence[NewCopy]:
    return new_copies(now, moves).made


def _windows(name: str, seconds: float | None, window_s: float) -> int:
    """Return how many times a window is contained in a time, which has to be a multiple of it; 1 without one."""
    if seconds is None:
        return 1
    count = round(seconds / window_s)
    if count < 1 or abs(seconds / window_s - count) > ROUNDING * count:
        raise FtplanError(f"{name}: {seconds:g} s is not a multiple of {window_s:g} s")
    return count


def _by_period(loads: FloatArray, windows: int) -> FloatArray:
    """Return the means over so many windows each, (P, K), of loads (W, K); windows that fill no period are left out."""
    periods = len(loads) // windows
    return np.asarray(loads[: periods * windows].reshape(periods, windows, -1).mean(axis=1))


def _allocation_options(options: MigrationSimulationOptions, capacity_per_core: float) -> AllocationOptions:
    """Return what the planners of checkpoints are told; the objective's name is that of each technique."""
    words: dict[str, Any] = {"anti_affinity": options.anti_affinity}
    return AllocationOptions(
        copies=options.copies,
        balance=options.balance,
        time_limit_s=PLANNING_S,
        objective=CheckpointObjective(capacity_per_core=capacity_per_core, overload=options.overload),
        **words,
    )


#: Shares over all periods; other figures are sums.
SHARES = ("assisted_share", "usable_share")


def simulate_trace(
    problem: Problem, plan: Any, options: MigrationSimulationOptions, progress: Report | None
) -> tuple[MigrationSimulationOptions, Document, tuple[InputFile, ...], tuple[Warn, ...]]:
    """Simulate the adaptation of each period, with each allocation and preference; return what a Simulation is made of.

    Checkpoints are planned on the first part of the windows; key groups begin where the cluster has them. Random
    allocations are drawn ``runs`` times.

    Raises FtplanError if a plan is given, an input is missing or does not fit, or there is no window to plan on or to
    simulate.
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
    return options, contents, inputs, tuple(dict.fromkeys((*scene.warnings, *cut)))


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
    summary = {}
    for name in AdaptationFiguresModel.model_fields:
        values = [getattr(run, name) if name in SHARES else run.total(name) for run in runs]
        summary[name] = figure(np.array([np.nan if value is None else value for value in values]))
    by_protocol = np.array([[period.by_protocol for period in run.periods] for run in runs], dtype=np.float64)
    return {
        "allocation": allocation,
        "preferred": preferred,
        "runs": len(runs),
        "summary": summary,
        "by_protocol": dict(zip(PROTOCOLS[:4], by_protocol.sum(axis=1).mean(axis=0).tolist(), strict=False)),
        "over_time": {name: _over_time(name, runs) for name in AdaptationOverTimeModel.model_fields},
    }


def _over_time(name: str, runs: Sequence[AdaptationOutcome]) -> list[float]:
    """Return the mean over the runs of a figure in each period."""
    values: list[float] = np.array([[getattr(p, name) for p in run.periods] for run in runs]).mean(axis=0).tolist()
    return values

"""What all runs of an adaptation have in common: the load of the statistics by period, and how copies are allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import AllocationOptions
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.rebalance.algorithms.outcome import new_copies
from ftplan.planners.rebalance.algorithms.pairing import paired
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceProblem
from ftplan.simulation.migration.adaptation.allocations import Allocator, Technique
from ftplan.simulation.migration.adaptation.run import run_adaptation
from ftplan.simulation.migration.adaptation.setting import AdaptationOutcome, AdaptationPolicy, LoadTrace
from ftplan.simulation.migration.options import MigrationSimulationOptions

#: Seconds that one allocation may take.
PLANNING_S = 60.0


@dataclass(frozen=True, eq=False)
class AdaptationScene:
    """What all runs have in common.

    Attributes
    ----------
    planned
        Windows that checkpoints are planned on at first; the periods of the trace follow.
    period, every
        Windows of a period, and periods between two looks at the allocation, 0 for none.
    """

    options: MigrationSimulationOptions
    prepared: PreparedRebalance
    allocator: Allocator
    trace: LoadTrace
    planned: int
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

    Raises
    ------
    FtplanError
        If an input is missing or does not fit, or there is no window to plan on or to simulate.
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
    words: dict[str, Any] = {"measure": options.load, "anti_affinity": options.anti_affinity}
    return AllocationOptions(
        copies=options.copies,
        balance=options.balance,
        time_limit_s=PLANNING_S,
        objective=CheckpointObjective(capacity_per_core=capacity_per_core, overload=options.overload),
        **words,
    )

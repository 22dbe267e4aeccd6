"""What every judgement of a checkpoint allocation starts from: its inputs, the windows it saw, its objective."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.plan import InputFile, Plan
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.planners.allocate_checkpoints.kind import KIND
from ftplan.planners.allocate_checkpoints.objective import OBJECTIVES, CheckpointObjective
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.deployed import checkpoint_copies
from ftplan.planners.situation import situation_of


def require(problem: Problem, measure: Any) -> tuple[Topology, Cluster, KeyGroupSeries]:
    """Return what every judgement of a checkpoint allocation needs.

    Raises :class:`FtplanError` if the topology, the cluster or the statistics are missing, or the statistics lack the
    measure.
    """
    situation = situation_of(problem, None, "a checkpoint allocation", KIND.needs)
    return situation.topology, situation.required_cluster, situation.series(measure)


def seen_and_unseen(series: KeyGroupSeries, holdout: float | None) -> tuple[KeyGroupSeries, KeyGroupSeries | None]:
    """Return the windows to plan on and those to judge on: the last *holdout* of the range, in whole windows.

    The number of unseen windows is rounded, with at least one on either side. Without a holdout all windows are seen.
    Key groups that are idle in one part stay in it; state sizes are those of the whole trace.

    Raises :class:`FtplanError` if there are fewer than two windows.
    """
    if holdout is None:
        return series, None
    windows = series.loads.shape[0]
    if windows < 2:
        raise FtplanError(f"--holdout: {windows} windows cannot be split: compute the statistics with shorter windows")
    split = windows - min(max(round(windows * holdout), 1), windows - 1)
    return replace(series, loads=series.loads[:split]), replace(series, loads=series.loads[split:])


def planned_on(plan: Plan, series: KeyGroupSeries) -> KeyGroupSeries:
    """Return the part of the statistics that a plan was made on."""
    return seen_and_unseen(series, CheckpointAllocationOptions.of_plan(plan).holdout)[0]


def stated_objective(options: CheckpointAllocationOptions) -> CheckpointObjective:
    """Return the objective that options ask for.

    Raises :class:`FtplanError` if they contradict each other.
    """
    name: Any = options.objective
    correlate: Any = options.correlate
    return CheckpointObjective(name, correlate, options.capacity_per_core, options.overload)


def objective_of(plan: Plan) -> CheckpointObjective:
    """Return the objective that a plan names, with the options that it was planned with; correlation if none."""
    options = CheckpointAllocationOptions.of_plan(plan)
    stated = plan.objective.name if plan.objective is not None and plan.objective.name in OBJECTIVES else None
    name = stated or plan.options.get("objective") or "correlation"
    correlate = "raw" if name == "usable" else options.correlate
    return stated_objective(replace(options, objective=name, correlate=correlate))


def with_current(current: Any, cluster: Cluster, topology: Topology) -> tuple[Cluster, InputFile | None]:
    """Return the cluster with a plan's checkpoints as those in place, and the plan's fingerprint.

    *current* is a plan, a path, or the document as a mapping.

    Raises :class:`FtplanError` if it is no checkpoint allocation, holds no answer, or names a key group or node that
    does not exist.
    """
    copies, file = checkpoint_copies(current, topology, cluster, "current")
    return replace(cluster, placement=replace(cluster.placement or Placement(), checkpoints=copies)), file

"""What a checkpoint allocation is worth under failures and on statistics other than those it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.measures.availability import Losses, availability
from ftplan.model.measures.planned_copies import planned_copies, recovery
from ftplan.model.names import parse_selector
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners.allocate_checkpoints.body import require_known_nodes, stated_assignments
from ftplan.planners.allocate_checkpoints.copy_measures import migrations
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.prepare import require
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.scenarios import with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Score a checkpoint allocation on the statistics of *problem*, which need not be those it was made from.

    Raises :class:`FtplanError` if the plan names what the problem does not have, or an input is missing.
    """
    own = CheckpointAllocationOptions.of_plan(plan)
    measure = asked.load or own.load
    topology, cluster, series = require(problem, measure)
    assignments = stated_assignments(plan, topology, cluster)
    require_known_nodes(assignments, cluster)
    failure = with_scenario_fails(problem).failure or Failure()
    failures = [entry.select for entry in failure.fail] + [parse_selector(text) for text in asked.fail]
    for selector in failures:
        check_selector(selector, topology, cluster, [arrival.node for arrival in failure.arrivals])
    objective = _scoring_objective(own, measure, asked).resolved(series, cluster)
    values: dict[str, float | None] = dict(_scores(assignments, cluster, series, objective))
    losses: Losses = "zone" if own.anti_affinity == "zone" else "node"
    available = availability(assignments, cluster, series, losses)
    for name in ("failover-load-ratio", "loss-probability", "copysets"):
        values[name] = available[name.replace("-", "_")]
    lost = recovery(assignments, failures, topology, cluster, series)
    values["lost-groups"] = lost.failed - lost.recoverable
    values["recoverable-share"] = lost.recoverable / lost.failed if lost.failed else 1.0
    values["recoverable-load-share"] = lost.recoverable_load / lost.failed_load if lost.failed_load else 1.0
    return Scores(values, tuple(dict.fromkeys(map(str, failures))), tuple(_bounded(available)))


def _bounded(available: Mapping[str, Any]) -> list[Warn]:
    """Say where the probability of loss is an upper bound and not exact."""
    high, low = available["loss_probability"], available["loss_probability_low"]
    if high == low:
        return []
    text = f"too many copysets for an exact loss probability: it lies between {low:.6g} and {high:.6g}, the value shown"
    return [Warn("LOSS_PROBABILITY_BOUNDED", text)]


def _scoring_objective(own: CheckpointAllocationOptions, measure: str, asked: Asked) -> CheckpointObjective:
    """Return the plain correlation with the capacity that is asked for, else the plan's if it is in the same unit."""
    planned = own.capacity_per_core if measure == own.load else None
    return CheckpointObjective(
        capacity_per_core=planned if asked.capacity_per_core is None else asked.capacity_per_core,
        overload=own.overload if asked.overload is None else asked.overload,
    )


def _scores(
    assignments: Any, cluster: Cluster, series: KeyGroupSeries, objective: CheckpointObjective
) -> dict[str, float | None]:
    score = allocation_score(assignments, cluster, series, objective)
    copies = planned_copies(assignments, series, cluster)
    loads = series.loads[:, copies.columns]
    nodes = objective.node_load(loads, series.window_s, copies.home, cluster)
    gain = (score.random - score.value) / abs(score.random) if score.random else None
    return {
        "correlation": score.value,
        "random-correlation": score.random,
        "gain-over-random": gain,
        "usable-share": score.usable_share,
        "assisted-migrations": migrations(loads, copies, nodes).share,
        "imbalance": score.imbalance,
        "max-copies-per-node": score.max_copies_per_node,
        "zone-separation": score.zone_separation,
    }

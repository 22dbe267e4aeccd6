"""What a plan is worth under failures and on statistics other than those it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ftplan
from ftplan.api.assignments import require_known_nodes, stated_assignments
from ftplan.api.checkpoint_allocation import require
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.allocation_score import allocation_score
from ftplan.metrics.assisted_migrations import migrations
from ftplan.metrics.availability import availability
from ftplan.metrics.checkpoint_objective import CheckpointObjective
from ftplan.metrics.checkpoint_recovery import recovery
from ftplan.metrics.names import METRICS, metric
from ftplan.metrics.node_load import loaded_nodes
from ftplan.metrics.planned_copies import planned_copies
from ftplan.model.cluster import Cluster
from ftplan.model.failover import Losses
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import InputFile, Plan, Warn, canonical_json
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric's value; None where it is undefined, for instance a deviation from a fair share of nothing."""

    name: str
    value: float | None
    sense: str
    unit: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores of a plan, and the limits of ``--fail-under`` that it does not meet."""

    kind: str
    metrics: tuple[MetricValue, ...]
    failures: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    unmet: tuple[str, ...]
    warnings: tuple[Warn, ...]

    def __getitem__(self, name: str) -> float | None:
        """Return the value of a metric."""
        for item in self.metrics:
            if item.name == name:
                return item.value
        raise FtplanError(f"unknown metric {name!r}{suggestion(name, [m.name for m in self.metrics])}")

    def to_dict(self) -> dict[str, Any]:
        """Return the document of format ``ftplan/evaluation``."""
        return {
            "format": "ftplan/evaluation",
            "format_version": "1.0",
            "tool_version": ftplan.__version__,
            "kind": self.kind,
            "inputs": [item.to_dict() for item in self.inputs],
            "failures": list(self.failures),
            "metrics": [{"name": m.name, "value": m.value, "sense": m.sense, "unit": m.unit} for m in self.metrics],
            "unmet": list(self.unmet),
            "warnings": [w.to_dict() for w in self.warnings],
        }

    def to_json(self) -> str:
        """Return the evaluation as JSON text."""
        return canonical_json(self.to_dict())


def evaluate(
    plan: Plan,
    problem: Problem,
    *,
    fail: Iterable[str] = (),
    load: str | None = None,
    capacity_per_core: float | None = None,
    overload: float | None = None,
    fail_under: Iterable[str] = (),
) -> Evaluation:
    """Score a plan on the statistics of *problem*, which need not be those it was made from.

    Parameters
    ----------
    fail
        Selectors of what fails, besides the problem's failure file.
    load
        The load measure; None takes the plan's own, else ``records``.
    capacity_per_core, overload
        When a node is overloaded; None takes the plan's own, so that a plan is judged on other statistics with the
        machines that it was made for. Without any, capacity is such that mean utilisation is 0.7.
    fail_under
        Limits ``METRIC=VALUE``; those not met are listed in the answer.

    Raises
    ------
    FtplanError
        If the plan holds no answer, is of a kind that has no metrics yet, names what the problem does not have, or
        a metric is unknown.
    """
    if plan.kind != "checkpoint-allocation":
        raise FtplanError(f"evaluate knows checkpoint allocations, not yet {plan.kind}")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to evaluate: the plan's status is {plan.status} ({plan.reason})")
    limits = [_limit(text, plan.kind) for text in fail_under]
    measure = load or str(plan.options.get("load", "records"))
    topology, cluster, series = require(problem, measure)
    assignments = stated_assignments(plan, topology, cluster)
    require_known_nodes(assignments, cluster)
    failures = [parse_selector(text) for text in fail]
    if problem.failure is not None:
        failures = [entry.select for entry in problem.failure.fail] + failures
    objective = _yardstick(plan, measure, capacity_per_core, overload).resolved(series, cluster)
    values: dict[str, float | None] = dict(_scores(assignments, cluster, series, objective))
    losses: Losses = "zone" if plan.options.get("anti_affinity") == "zone" else "node"
    available = availability(assignments, cluster, series, losses)
    for name in ("failover-headroom", "loss-probability", "copysets"):
        values[name] = available[name.replace("-", "_")]
    lost = recovery(assignments, failures, topology, cluster, series)
    values["lost-groups"] = lost.failed - lost.recoverable
    values["recoverable-share"] = lost.recoverable / lost.failed if lost.failed else 1.0
    values["recoverable-load-share"] = lost.recoverable_load / lost.failed_load if lost.failed_load else 1.0
    metrics = tuple(
        MetricValue(m.name, None if values[m.name] is None else float(values[m.name] or 0.0), m.sense, m.unit)
        for m in METRICS
        if m.kind == plan.kind
    )
    unmet = tuple(text for m in metrics for text in _unmet(m, limits))
    warnings = (*problem.warnings, *_bounded(available))
    return Evaluation(plan.kind, metrics, tuple(map(str, _unique(failures))), problem.inputs, unmet, warnings)


def _bounded(available: Mapping[str, Any]) -> list[Warn]:
    """Say where the probability of loss is an upper bound and not exact."""
    high, low = available["loss_probability"], available["loss_probability_low"]
    if high == low:
        return []
    text = f"too many copysets for an exact loss probability: it lies between {low:.6g} and {high:.6g}, the value shown"
    return [Warn("LOSS_PROBABILITY_BOUNDED", text)]


def _unique(failures: list[Selector]) -> list[Selector]:
    return list(dict.fromkeys(failures))


def _yardstick(
    plan: Plan, measure: str, capacity_per_core: float | None, overload: float | None
) -> CheckpointObjective:
    """Return the plain correlation with the capacity that is asked for, else the plan's if it is in the same unit."""
    same_unit = measure == plan.options.get("load", "records")
    planned = plan.options.get("capacity_per_core") if same_unit else None
    return CheckpointObjective.of_options(
        {
            "capacity_per_core": planned if capacity_per_core is None else capacity_per_core,
            "overload": plan.options.get("overload") if overload is None else overload,
        }
    )


def _scores(
    assignments: Any, cluster: Cluster, series: KeyGroupSeries, objective: CheckpointObjective
) -> dict[str, float | None]:
    found = allocation_score(assignments, cluster, series, objective)
    copies = planned_copies(assignments, series, cluster)
    loads = series.loads[:, copies.columns]
    per_core = objective.capacity_per_core or 0.0
    nodes = loaded_nodes(loads, series.window_s, copies.home, cluster, per_core, objective.overload)
    gain = (found.random - found.value) / abs(found.random) if found.random else None
    return {
        "correlation": found.value,
        "random-correlation": found.random,
        "gain-over-random": gain,
        "usable-share": found.usable_share,
        "assisted-migrations": migrations(loads, copies, nodes).share,
        "imbalance": found.imbalance,
        "max-copies-per-node": found.max_copies_per_node,
        "zone-separation": found.zone_separation,
    }


def _limit(text: str, kind: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    known = [m.name for m in METRICS if m.kind == kind]
    if not equals or metric(name) is None or name not in known:
        raise FtplanError(
            f"--fail-under {text!r}: expected METRIC=VALUE{suggestion(name, known)}; metrics: {', '.join(known)}"
        )
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if value != value:
        raise FtplanError(f"--fail-under {text!r}: {number!r} is no number")
    return name, value


def _unmet(found: MetricValue, limits: list[tuple[str, float]]) -> list[str]:
    texts = []
    for name, limit in limits:
        if name != found.name:
            continue
        worse = found.value is None or (found.value < limit if found.sense == "max" else found.value > limit)
        if worse:
            side = "below" if found.sense == "max" else "above"
            shown = "undefined" if found.value is None else f"{found.value:.6g}, {side}"
            texts.append(f"{name} is {shown} the limit {limit:g}")
    return texts

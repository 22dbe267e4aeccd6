"""The checkpoints now in place, and the maintenance of an allocation instead of a fresh one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.model.violation import Violation
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.maintenance import MaintenanceReport, maintain
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import MoveLimits
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.rules import RULE_CODES, STILL_BROKEN
from ftplan.planners.allocate_checkpoints.violations import violations
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result


def move_limits(options: CheckpointAllocationOptions) -> MoveLimits:
    """Return the limits that the options set; a threshold that is not given is 0."""
    return MoveLimits(options.threshold or 0.0, options.max_moves, options.max_bytes)


def require_current(cluster: Cluster) -> None:
    """Raise FtplanError where the cluster does not say where checkpoints are now."""
    now = cluster.placement.checkpoints if cluster.placement is not None else {}
    if not any(any(groups) for groups in now.values()):
        raise FtplanError(
            "--threshold, --max-moves and --max-bytes need the checkpoints now in place: give --current PLAN, "
            "or placement.checkpoints in the cluster file"
        )


def maintain_current(
    fresh: Result[Allocation],
    allowance: MoveLimits,
    cluster: Cluster,
    topology: Topology,
    series: KeyGroupSeries,
    settings: AllocationOptions,
    budget: Budget,
) -> tuple[Result[Allocation], MaintenanceReport | None]:
    """Return the checkpoints in place moved towards a fresh result; *budget* is that of the whole command.

    The checkpoints in place are those of the cluster's placement.
    """
    if fresh.answer is None:
        return fresh, None
    now = cluster.placement.checkpoints if cluster.placement is not None else {}
    p = fresh.answer.problem.by_group
    position = cluster.position
    nodes = [
        [position[node] for node in now[operator][group]] if operator in now else []
        for operator, group in zip(p.operators, p.key_group.tolist(), strict=True)
    ]
    own = Budget(budget.left_s, settings.iterations)
    result, report = maintain(fresh, nodes, allowance, settings, own)
    said = {warning.code for warning in fresh.warnings}
    warnings = require_state(topology, series) if allowance.max_bytes is not None else ()
    warnings += tuple(warning for warning in own.warnings() if warning.code not in said)
    if report is not None and report.full_restoration is not None and result.answer is not None:
        rules, broken = satisfied_rules(result.answer, topology, cluster, series)
        text = f"{result.reason}; still broken: {_shown(broken)}"
        text += "; the bound is that of any plan, also one that breaks rules" if result.bound is not None else ""
        warnings += (Warn(STILL_BROKEN, text),)
        result = replace(result, rules=rules, reason=f"{result.reason}; still broken: {', '.join(broken)}")
        report = replace(report, still_broken=tuple(broken))
    return replace(result, warnings=result.warnings + warnings), report


def satisfied_rules(
    answer: Allocation, topology: Topology, cluster: Cluster, series: KeyGroupSeries
) -> tuple[tuple[str, ...], dict[str, list[Violation]]]:
    """Return which rules an allocation keeps, by the checker that ``verify`` uses, and what it breaks of the others.

    A rule that another leans on goes with it: who has a copy beside its primary has one in its primary's zone.
    """
    rules, broken = answer.rules, dict[str, list[Violation]]()
    while True:
        breaches = violations(answer.assignments, topology, cluster, series, rules)
        fresh = {name: [v for v in breaches if v.code in RULE_CODES[name]] for name in rules.names()}
        fresh = {name: those for name, those in fresh.items() if those and name not in broken}
        if not fresh:
            return tuple(name for name in rules.names() if name not in broken), broken
        broken |= fresh
        rules = replace(
            rules,
            anti_affinity="node" if "copies-in-distinct-zones" in broken else rules.anti_affinity,
            balance="none" if broken.keys() & {"balance", "count", "even-count"} else rules.balance,
            memory=rules.memory and "memory" not in broken,
            failover_limit=None if "failover" in broken else rules.failover_limit,
        )


def _shown(broken: Mapping[str, Sequence[Violation]]) -> str:
    """Return each broken rule with the first of its violations and how many more there are."""
    texts = []
    for name, breaches in broken.items():
        more = f" and {len(breaches) - 1:,} more" if len(breaches) > 1 else ""
        texts.append(f"{name} ({breaches[0].message}{more})")
    return ", ".join(texts)


def require_state(topology: Topology, series: KeyGroupSeries) -> tuple[Warn, ...]:
    """Return a warning where some states are unknown and so count 0 bytes.

    Raises :class:`FtplanError` if no state of a planned operator is known.
    """
    unknown = 0
    for operator in topology.keyed_operators:
        if operator.id not in series.operators:
            continue
        missing = np.isnan(key_group_state(operator, series))
        if missing.all():
            raise FtplanError(
                f"--max-bytes: the state of {operator.id!r} is unknown: give state_bytes in the topology, or compute "
                "statistics with --state-column"
            )
        unknown += int(missing.sum())
    if not unknown:
        return ()
    return (Warn("STATE_UNKNOWN", f"the state of {unknown} key groups is unknown and counts 0 bytes"),)


def maintenance_summary(
    report: MaintenanceReport, allowance: MoveLimits, moves: list[dict[str, Any]] | None, sign: float = 1.0
) -> dict[str, Any]:
    """Return what a plan's summary says of maintenance; *sign* turns planners' costs into the objective's values.

    ``difference`` is what is left above the fresh value, as a part of what a random plan loses against it.
    """
    sizes = [move["bytes"] for move in moves or ()]
    scale = report.random - report.fresh
    after = report.after
    return {
        "before": sign * report.before,
        "after": None if after is None else sign * after,
        "fresh": sign * report.fresh,
        "difference": (after - report.fresh) / scale if after is not None and scale > 0 else None,
        "threshold": allowance.threshold,
        "max_moves": allowance.max_moves,
        "max_bytes": allowance.max_bytes,
        "moves": len(sizes),
        "bytes": None if None in sizes else float(sum(sizes)),
        "moves_to_mend_rules": report.restoring,
        "moves_to_mend_all": None if report.full_restoration is None else report.full_restoration[0],
        "still_broken": list(report.still_broken),
        "bound_by": report.bound_by,
    }

"""The checkpoints now in place, and the upkeep of an allocation instead of a fresh one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.fingerprint import sha256_of_bytes
from ftplan.io.plan_file import load_plan
from ftplan.model.checkpoint_rules import RULE_CODES, STILL_BROKEN, violations
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.key_group_state import key_group_state
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.model.violation import Violation
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.allocation import Allocation
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.checkpoints.search.migration import MoveLimits
from ftplan.planners.checkpoints.upkeep import UpkeepReport, upkeep
from ftplan.planners.result import Result

#: Options that ask for upkeep, and their defaults; a threshold that is not given is 0.
DEFAULTS: dict[str, Any] = {"current": None, "threshold": None, "max_moves": None, "max_bytes": None}


def asked_for(options: Mapping[str, Any]) -> bool:
    """Return whether any option asks for upkeep instead of a fresh plan."""
    return any(options.get(name) is not None for name in DEFAULTS)


def move_limits(options: Mapping[str, Any]) -> MoveLimits:
    """Return the limits that the options set.

    Raises
    ------
    FtplanError
        If one is out of range.
    """
    threshold, moves, size = (options[name] for name in ("threshold", "max_moves", "max_bytes"))
    if threshold is not None and not 0 <= float(threshold) < float("inf"):
        raise FtplanError(f"--threshold: {threshold!r} is not a number of at least 0, such as 0.05")
    if moves is not None and (int(moves) != moves or moves < 0):
        raise FtplanError(f"--max-moves: {moves!r} is not a whole number of at least 0")
    if size is not None and not 0 <= float(size) < float("inf"):
        raise FtplanError(f"--max-bytes: {size!r} is not a number of at least 0")
    return MoveLimits(
        0.0 if threshold is None else float(threshold),
        None if moves is None else int(moves),
        None if size is None else float(size),
    )


def with_current(current: Any, cluster: Cluster, topology: Topology) -> tuple[Cluster, InputFile | None]:
    """Return the cluster with a plan's checkpoints as those in place, and the plan's fingerprint.

    *current* is a plan, a path, or the document as a mapping. Its primaries do not count: the cluster says where key
    groups are now. Operators that the plan does not name keep what the cluster says.

    Raises
    ------
    FtplanError
        If it is no checkpoint allocation, holds no answer, or names a key group or node that does not exist.
    """
    name, file = "--current", None
    if isinstance(current, Plan):
        plan, file = current, InputFile("current", None, sha256_of_bytes(current.to_json().encode()))
    else:
        loaded = load_plan(current)
        plan, file = loaded.value, replace(loaded.input, role="current")
        name = str(loaded.input.path or name) if isinstance(current, (str, os.PathLike)) else name
    if plan.kind != "checkpoint-allocation":
        raise FtplanError(f"{name}: a {plan.kind} says nothing of checkpoints: give a checkpoint-allocation")
    if plan.plan is None:
        raise FtplanError(f"{name}: holds no answer, its status is {plan.status} ({plan.reason})")
    found: dict[str, list[tuple[str, ...] | None]] = {}
    for number, item in enumerate(plan.plan["assignments"]):
        operator, group, nodes = item["operator"], item["key_group"], tuple(item["checkpoints"])
        place = f"{name}: plan.assignments[{number}]"
        if operator not in topology.position:
            raise FtplanError(f"{place}: unknown operator {operator!r}{suggestion(operator, topology.position)}")
        total = topology.operator(operator).key_groups or 0
        if not 0 <= group < total:
            raise FtplanError(f"{place}: {operator} has {total} key groups, not one called {group}")
        for node in nodes:
            if node not in cluster.position:
                raise FtplanError(
                    f"{place}: unknown node {node!r}{suggestion(node, cluster.position)}: take copies on nodes that "
                    "are gone out of the list"
                )
        if len(set(nodes)) < len(nodes):
            raise FtplanError(f"{place}: lists a node more than once")
        groups = found.setdefault(operator, [None] * total)
        if groups[group] is not None:
            raise FtplanError(f"{place}: {operator}/{group} is assigned more than once")
        groups[group] = nodes
    placement = cluster.placement or Placement()
    copies = {name: tuple(nodes or () for nodes in groups) for name, groups in found.items()}
    return replace(cluster, placement=replace(placement, checkpoints={**placement.checkpoints, **copies})), file


def require_current(cluster: Cluster) -> None:
    """Raise FtplanError where the cluster does not say where checkpoints are now."""
    now = cluster.placement.checkpoints if cluster.placement is not None else {}
    if not any(any(groups) for groups in now.values()):
        raise FtplanError(
            "--threshold, --max-moves and --max-bytes need the checkpoints now in place: give --current PLAN, "
            "or placement.checkpoints in the cluster file"
        )


def keep_up(
    fresh: Result[Allocation],
    allowance: MoveLimits,
    cluster: Cluster,
    topology: Topology,
    series: KeyGroupSeries,
    settings: AllocationOptions,
    budget: Budget,
) -> tuple[Result[Allocation], UpkeepReport | None]:
    """Return the upkeep of the checkpoints in place towards a fresh result; *budget* is that of the whole command.

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
    result, report = upkeep(fresh, nodes, allowance, settings, own)
    said = {warning.code for warning in fresh.warnings}
    warnings = require_state(topology, series) if allowance.max_bytes is not None else ()
    warnings += tuple(warning for warning in own.warnings() if warning.code not in said)
    if report is not None and report.full_restoration is not None and result.answer is not None:
        rules, broken = kept_rules(result.answer, topology, cluster, series)
        text = f"{result.reason}; still broken: {_shown(broken)}"
        text += "; the bound is that of any plan, also one that breaks rules" if result.bound is not None else ""
        warnings += (Warn(STILL_BROKEN, text),)
        result = replace(result, rules=rules, reason=f"{result.reason}; still broken: {', '.join(broken)}")
        report = replace(report, still_broken=tuple(broken))
    return replace(result, warnings=result.warnings + warnings), report


def kept_rules(
    answer: Allocation, topology: Topology, cluster: Cluster, series: KeyGroupSeries
) -> tuple[tuple[str, ...], dict[str, list[Violation]]]:
    """Return which rules an allocation keeps, by the checker that ``verify`` uses, and what it breaks of the others.

    A rule that another leans on goes with it: who has a copy beside its primary has one in its primary's zone.
    """
    rules, broken = answer.rules, dict[str, list[Violation]]()
    while True:
        found = violations(answer.assignments, topology, cluster, series, rules)
        fresh = {name: [v for v in found if v.code in RULE_CODES[name]] for name in rules.names()}
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
    for name, found in broken.items():
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        texts.append(f"{name} ({found[0].message}{more})")
    return ", ".join(texts)


def require_state(topology: Topology, series: KeyGroupSeries) -> tuple[Warn, ...]:
    """Return a warning where some states are unknown and so count 0 bytes.

    Raises
    ------
    FtplanError
        If no state of a planned operator is known.
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


def upkeep_summary(
    report: UpkeepReport, allowance: MoveLimits, moves: list[dict[str, Any]] | None, sign: float = 1.0
) -> dict[str, Any]:
    """Return what a plan's summary says of upkeep; *sign* turns planners' costs into the objective's values.

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

"""Which rules a checkpoint allocation breaks, of any plan: the checker of ``verify`` and of every test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.measures.availability import takeover
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import Topology
from ftplan.model.violation import Violation
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules, Copy, Record, RuleInputs, node_rules


def violations(
    assignments: Any,
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries | None,
    rules: CheckpointRules,
) -> tuple[Violation, ...]:
    """Return every broken rule of a plan's ``assignments``, empty where it keeps them all.

    Parameters
    ----------
    assignments:
        ``[{operator, key_group, primary, checkpoints: [node, ...]}]``. A plan made by hand may hold anything here:
        what is malformed is a violation, never an error.
    series:
        Loads; without them the balance rule is not judged, and only operators that the plan names must be complete.

    Where the cluster's placement does not say where primaries are, the plan's own count. Order: by assignment, then
    missing groups, then nodes. Cost O(copies + key groups).
    """
    if not isinstance(assignments, (list, tuple)):
        return (Violation("MISSING_KEY_GROUP", "assignments is not a list"),)
    inputs, record = RuleInputs.of(topology, cluster, series, rules), Record()
    broken: list[Violation] = []
    for number, item in enumerate(assignments):
        broken += judge_assignment(f"assignments[{number}]", item, inputs, record)
    broken += _missing(inputs, record)
    for rule in node_rules(inputs, record):
        judged = (rule.judge(i, held) for i, held in enumerate(rule.held.tolist()))
        broken += [violation for violation in judged if violation is not None]
    broken += _over_failover(inputs, record)
    return tuple(broken)


def judge_assignment(place: str, item: Any, inputs: RuleInputs, record: Record) -> Iterator[Violation]:
    """Judge one assignment alone; record its group's primary and its copies on known nodes."""
    if not isinstance(item, Mapping):
        yield Violation("UNKNOWN_KEY_GROUP", f"{place} is no object with operator, key_group, primary, checkpoints")
        return
    operator, group = item.get("operator"), item.get("key_group")
    if not isinstance(operator, str) or operator not in inputs.topology.position:
        known = suggestion(operator, inputs.topology.position) if isinstance(operator, str) else ""
        yield Violation("UNKNOWN_KEY_GROUP", f"{place}: unknown operator {operator!r}{known}")
        return
    total = inputs.topology.operator(operator).key_groups or 0
    if not isinstance(group, int) or isinstance(group, bool) or not 0 <= group < total:
        yield Violation("UNKNOWN_KEY_GROUP", f"{place}: {operator} has {total} key groups, not one called {group!r}")
        return
    name, where = f"{operator}/{group}", f"key-group:{operator}/{group}"
    if (operator, group) in record.primaries:
        yield Violation("ASSIGNED_TWICE", f"{name} is assigned more than once", where)
        return

    stated, nodes = item.get("primary"), inputs.cluster.position
    primary = stated if isinstance(stated, str) and stated in nodes else None
    record.primaries[operator, group] = primary
    if primary is None:
        yield Violation("UNKNOWN_NODE", f"{name}: the cluster has no node {stated!r} (primary)", where)
    home = inputs.home(operator, group, primary)
    if primary is not None and primary != home:
        yield Violation("WRONG_PRIMARY", f"{name} is on {home}, the plan says {primary}", where)
    primary = home if home in nodes else primary
    yield from judge_copies(operator, group, primary, item.get("checkpoints"), inputs, record)


def judge_copies(
    operator: str, group: int, primary: str | None, nodes: Any, inputs: RuleInputs, record: Record
) -> Iterator[Violation]:
    """Judge the list of one group's copies by R1, R2 and R3; record those on known nodes."""
    cluster, rules = inputs.cluster, inputs.rules
    name, where = f"{operator}/{group}", f"key-group:{operator}/{group}"
    if not isinstance(nodes, (list, tuple)):
        yield Violation("WRONG_COPIES", f"{name}: checkpoints is no list of nodes", where)
        return
    if len(nodes) != rules.copies:
        yield Violation("WRONG_COPIES", f"{name} has {len(nodes)} copies instead of {rules.copies}", where)
    used: set[str] = set()
    zones: dict[int, str] = {}
    if primary is not None:
        zones[int(cluster.zone_index[cluster.position[primary]])] = f"its primary on {primary}"
    for node in nodes:
        if not isinstance(node, str) or node not in cluster.position:
            yield Violation("UNKNOWN_NODE", f"{name}: the cluster has no node {node!r}", where)
            continue
        position = cluster.position[node]
        record.copies.append(Copy(operator, group, position))
        if "checkpoints" not in cluster.nodes[position].accepts:
            yield Violation("NODE_ACCEPTS_NO_CHECKPOINTS", f"{name}: {node} accepts no checkpoints", where)
        if node == primary:
            yield Violation("COPY_WITH_PRIMARY", f"{name} has a copy on {node}, where its primary is", where)
        elif node in used:
            yield Violation("COPIES_ON_ONE_NODE", f"{name} has more than one copy on {node}", where)
        elif rules.anti_affinity == "zone":
            zone = int(cluster.zone_index[position])
            if zone in zones:
                like = f"{cluster.zone_names[position]} like {zones[zone]}"
                yield Violation("COPY_IN_SAME_ZONE", f"{name} has a copy on {node}, in {like}", where)
            zones.setdefault(zone, f"its copy on {node}")
        used.add(node)


def _missing(inputs: RuleInputs, record: Record) -> Iterator[Violation]:
    """Every key group is assigned: of the operators with loads, or without any loads of those that the plan names."""
    named = {name for name, _ in record.primaries} if inputs.series is None else set(inputs.series.operators)
    for operator in inputs.topology.keyed_operators:
        for g in range(operator.key_groups or 0) if operator.id in named else ():
            name = f"{operator.id}/{g}"
            if (operator.id, g) not in record.primaries:
                yield Violation("MISSING_KEY_GROUP", f"{name} has no assignment", f"key-group:{name}")


def _over_failover(inputs: RuleInputs, record: Record) -> Iterator[Violation]:
    """After any loss, with each group at its first live copy: no survivor above the limit times its fair share."""
    limit, cluster = inputs.rules.failover_limit, inputs.cluster
    if limit is None or inputs.series is None:
        return
    hosts: dict[tuple[str, int], list[int]] = {}
    for copy in record.copies:
        hosts.setdefault((copy.operator, copy.key_group), []).append(copy.node)
    homes = {group: inputs.home(*group, stated) for group, stated in record.primaries.items()}
    groups = sorted(group for group, node in homes.items() if node in cluster.position)
    home = np.array([cluster.position[str(homes[group])] for group in groups], dtype=np.int64)
    load = np.array([inputs.load(*group) for group in groups], dtype=np.float64)
    after = takeover(cluster, inputs.rules.anti_affinity, home, [hosts.get(group, []) for group in groups], load)
    if not load.any():
        return
    loss, node = after.worst
    ratio = float(after.ratio[loss, node])
    if ratio > limit * (1 + ROUNDING):
        carried = float(after.own[node] + after.taken[loss, node])
        yield Violation(
            "OVER_FAILOVER",
            f"after the loss of {after.names[loss]}, {cluster.nodes[node].id} carries {carried:.6g}, {ratio:.6g} times "
            f"its fair share {after.fair[loss, node]:.6g} (failover limit {limit:g})",
            after.names[loss],
        )

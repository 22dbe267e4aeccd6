"""The rules of a checkpoint allocation, and a checker that any plan can be held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.failover import takeover
from ftplan.model.key_group_state import key_group_state
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray, Topology
from ftplan.model.units import MB
from ftplan.model.violation import Violation

#: What a violation of each rule is called. That there are as many copies as asked for, on nodes that accept them,
#: belongs to ``copies-on-distinct-nodes``.
RULE_CODES: Mapping[str, frozenset[str]] = {
    "copy-not-with-primary": frozenset({"COPY_WITH_PRIMARY"}),
    "copies-on-distinct-nodes": frozenset({"COPIES_ON_ONE_NODE", "WRONG_COPIES", "NODE_ACCEPTS_NO_CHECKPOINTS"}),
    "copies-in-distinct-zones": frozenset({"COPY_IN_SAME_ZONE", "COPY_WITH_PRIMARY", "COPIES_ON_ONE_NODE"}),
    "balance": frozenset({"OVER_BALANCE"}),
    "count": frozenset({"OVER_BALANCE"}),
    "even-count": frozenset({"OVER_BALANCE"}),
    "memory": frozenset({"OVER_CAPACITY"}),
    "failover": frozenset({"OVER_FAILOVER"}),
}
#: The warning of a plan that leaves rules broken which upkeep had too few moves to mend: it is not held to them.
STILL_BROKEN = "RULES_STILL_BROKEN"


@dataclass(frozen=True, slots=True)
class CheckpointRules:
    """What an allocation promises: R1 and R2 always, zones, a balance rule and memory if asked for.

    ``balance`` is Δ relative to the fair share of load, ``count`` (copies in proportion to cpu), ``even-count``
    (the same number on every node) or ``none``. ``failover_limit`` is the largest load of a survivor, relative to its
    fair share, after the loss of any one node (any one zone with ``anti_affinity`` zone); None: no such rule.
    """

    copies: int = 1
    anti_affinity: Literal["node", "zone"] = "node"
    balance: float | Literal["count", "even-count", "none"] = "none"
    memory: bool = False
    failover_limit: float | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names that a plan lists under ``rules``."""
        names = ["copy-not-with-primary", "copies-on-distinct-nodes"]
        if self.anti_affinity == "zone":
            names.append("copies-in-distinct-zones")
        if isinstance(self.balance, str):
            names += [] if self.balance == "none" else [self.balance]
        else:
            names.append("balance")
        if self.memory:
            names.append("memory")
        if self.failover_limit is not None:
            names.append("failover")
        return tuple(names)


@dataclass(slots=True)
class Copy:
    """One copy on a known node of a known key group."""

    operator: str
    key_group: int
    node: int


def violations(
    assignments: Any,
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries | None,
    rules: CheckpointRules,
    placement: Placement | None = None,
) -> tuple[Violation, ...]:
    """Return every broken rule of a plan's ``assignments``, empty where it keeps them all.

    Parameters
    ----------
    assignments:
        ``[{operator, key_group, primary, checkpoints: [node, ...]}]``. A plan made by hand may hold anything here:
        what is malformed is a violation, never an error.
    series:
        Loads; without them the balance rule is not judged, and only operators that the plan names must be complete.
    placement:
        Where the primaries are, default the cluster's; where it does not say, the plan's own primaries count.

    Order: by assignment, then missing groups, then nodes. Cost O(copies + key groups).
    """
    placement = cluster.placement if placement is None else placement
    found: list[Violation] = []
    copies: list[Copy] = []
    seen: dict[tuple[str, int], str | None] = {}
    if not isinstance(assignments, (list, tuple)):
        return (Violation("MISSING_KEY_GROUP", "assignments is not a list"),)
    homes = {} if placement is None else known_homes(topology, placement)
    for number, item in enumerate(assignments):
        found += _judge(number, item, topology, cluster, rules, homes, seen, copies)
    for operator in topology.keyed_operators:
        named = any(name == operator.id for name, _ in seen)
        if (series is not None and operator.id in series.operators) or (series is None and named):
            found += [
                Violation("MISSING_KEY_GROUP", f"{operator.id}/{g} has no assignment", f"key-group:{operator.id}/{g}")
                for g in range(operator.key_groups or 0)
                if (operator.id, g) not in seen
            ]
    found += _over_balance(copies, cluster, series, rules)
    found += _over_count(copies, cluster, rules)
    if rules.memory:
        found += _over_memory(copies, topology, cluster, series, homes, seen)
    found += _over_failover(copies, cluster, series, rules, homes, seen)
    return tuple(found)


def known_homes(topology: Topology, placement: Placement) -> dict[str, tuple[str, ...]]:
    """Return the primaries of each keyed operator whose placement is known."""
    found = {o.id: primaries(o.id, topology, placement) for o in topology.keyed_operators}
    return {name: nodes for name, nodes in found.items() if nodes is not None}


def _judge(
    number: int,
    item: Any,
    topology: Topology,
    cluster: Cluster,
    rules: CheckpointRules,
    homes: Mapping[str, tuple[str, ...]],
    seen: dict[tuple[str, int], str | None],
    copies: list[Copy],
) -> Iterator[Violation]:
    """Judge one assignment alone; record its group in *seen* and its valid copies in *copies*."""
    place = f"assignments[{number}]"
    if not isinstance(item, Mapping):
        yield Violation("UNKNOWN_KEY_GROUP", f"{place} is no object with operator, key_group, primary, checkpoints")
        return
    operator, group = item.get("operator"), item.get("key_group")
    if not isinstance(operator, str) or operator not in topology.position:
        known = suggestion(operator, topology.position) if isinstance(operator, str) else ""
        yield Violation("UNKNOWN_KEY_GROUP", f"{place}: unknown operator {operator!r}{known}")
        return
    total = topology.operator(operator).key_groups or 0
    if not isinstance(group, int) or isinstance(group, bool) or not 0 <= group < total:
        yield Violation("UNKNOWN_KEY_GROUP", f"{place}: {operator} has {total} key groups, not one called {group!r}")
        return
    name, where = f"{operator}/{group}", f"key-group:{operator}/{group}"
    if (operator, group) in seen:
        yield Violation("ASSIGNED_TWICE", f"{name} is assigned more than once", where)
        return

    stated = item.get("primary")
    primary = stated if isinstance(stated, str) and stated in cluster.position else None
    seen[operator, group] = primary
    if primary is None:
        yield Violation("UNKNOWN_NODE", f"{name}: the cluster has no node {stated!r} (primary)", where)
    if operator in homes and group < len(homes[operator]):
        true_home = homes[operator][group]
        if primary is not None and primary != true_home:
            yield Violation("WRONG_PRIMARY", f"{name} is on {true_home}, the plan says {primary}", where)
        primary = true_home if true_home in cluster.position else primary
    yield from judge_copies(name, where, item.get("checkpoints"), primary, cluster, rules, (operator, group), copies)


def judge_copies(
    name: str,
    where: str,
    nodes: Any,
    primary: str | None,
    cluster: Cluster,
    rules: CheckpointRules,
    group: tuple[str, int],
    copies: list[Copy],
) -> Iterator[Violation]:
    """Judge the list of one group's copies by R1, R2 and R3."""
    if not isinstance(nodes, (list, tuple)):
        yield Violation("WRONG_COPIES", f"{name}: checkpoints is no list of nodes", where)
        return
    if len(nodes) != rules.copies:
        yield Violation("WRONG_COPIES", f"{name} has {len(nodes)} copies instead of {rules.copies}", where)
    used: dict[str, str] = {}
    zones: dict[int, str] = {}
    if primary is not None:
        zones[int(cluster.zone_index[cluster.position[primary]])] = f"its primary on {primary}"
    for node in nodes:
        if not isinstance(node, str) or node not in cluster.position:
            yield Violation("UNKNOWN_NODE", f"{name}: the cluster has no node {node!r}", where)
            continue
        position = cluster.position[node]
        copies.append(Copy(*group, position))
        if "checkpoints" not in cluster.nodes[position].accepts:
            yield Violation("NODE_ACCEPTS_NO_CHECKPOINTS", f"{name}: {node} accepts no checkpoints", where)
        if node == primary:
            yield Violation("COPY_WITH_PRIMARY", f"{name} has a copy on {node}, where its primary is", where)
        elif node in used:
            yield Violation("COPIES_ON_ONE_NODE", f"{name} has more than one copy on {node}", where)
        elif rules.anti_affinity == "zone":
            zone = int(cluster.zone_index[position])
            if zone in zones:
                yield Violation(
                    "COPY_IN_SAME_ZONE",
                    f"{name} has a copy on {node}, in {cluster.zone_names[position]} like {zones[zone]}",
                    where,
                )
            zones.setdefault(zone, f"its copy on {node}")
        used[node] = node


def fair_shares(cluster: Cluster) -> FloatArray:
    """Return each node's fair share of all copies, shape (N,): its part of the cpu of nodes that accept checkpoints.

    They share equally where none of them has any cpu; the others have 0.
    """
    cpu = np.where(cluster.accepting("checkpoints"), cluster.cpu, 0.0)
    if not cpu.any():
        cpu = cluster.accepting("checkpoints").astype(np.float64)
    return cpu / (cpu.sum() or 1.0)


def _over_balance(
    copies: list[Copy], cluster: Cluster, series: KeyGroupSeries | None, rules: CheckpointRules
) -> Iterator[Violation]:
    """R4: ``(1 - Δ) fair <= load of the copies on the node <= (1 + Δ) fair`` on every node that accepts checkpoints."""
    if isinstance(rules.balance, str) or series is None:
        return
    load = np.zeros(len(cluster.nodes))
    for copy in copies:
        column = series.position.get((copy.operator, copy.key_group))
        load[copy.node] += 0.0 if column is None else series.mean_load[column]
    yield from judge_balance(range(len(cluster.nodes)), load, load.sum() * fair_shares(cluster), cluster, rules)


def judge_balance(
    nodes: Iterable[int], load: FloatArray, fair: FloatArray, cluster: Cluster, rules: CheckpointRules
) -> Iterator[Violation]:
    """Judge some nodes by R4, with the load of the copies on each node and its fair share, both of shape (N,)."""
    if isinstance(rules.balance, str):
        return
    for i in nodes:
        node = cluster.nodes[i]
        low, high = (1 - rules.balance) * fair[i], (1 + rules.balance) * fair[i]
        slack = ROUNDING * fair[i]
        if (load[i] < low - slack or load[i] > high + slack) and "checkpoints" in node.accepts:
            yield Violation(
                "OVER_BALANCE",
                f"{node.id} holds copies of load {load[i]:.6g}, outside {max(low, 0.0):.6g} to {high:.6g} "
                f"(fair share {fair[i]:.6g}, balance {rules.balance:g})",
                f"node:{node.id}",
            )


def _over_count(copies: list[Copy], cluster: Cluster, rules: CheckpointRules) -> Iterator[Violation]:
    """``count``: at most ⌈copies · cpu / Σ cpu⌉ copies on a node; ``even-count``: at most ⌈copies / nodes⌉."""
    if rules.balance not in ("count", "even-count"):
        return
    held = np.bincount(np.array([c.node for c in copies], dtype=np.int64), minlength=len(cluster.nodes))
    yield from judge_count(range(len(cluster.nodes)), held, most_held(len(copies), cluster, rules), cluster)


def most_held(copies: int, cluster: Cluster, rules: CheckpointRules) -> IntArray:
    """Return how many of this many copies each node may hold by ``count`` or ``even-count``, shape (N,)."""
    accepts = cluster.accepting("checkpoints")
    share = fair_shares(cluster) if rules.balance == "count" else accepts / max(int(accepts.sum()), 1)
    return np.array([ceil(copies * part * (1 - NOISE)) for part in share], dtype=np.int64)


def judge_count(nodes: Iterable[int], held: IntArray, most: IntArray, cluster: Cluster) -> Iterator[Violation]:
    """Judge some nodes by the number of copies that they hold and may hold, both of shape (N,)."""
    for i in nodes:
        node = cluster.nodes[i]
        if held[i] > most[i] and "checkpoints" in node.accepts:
            message = f"{node.id} holds {held[i]} copies, at most {most[i]} allowed"
            yield Violation("OVER_BALANCE", message, f"node:{node.id}")


def _over_memory(
    copies: list[Copy],
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries | None,
    homes: Mapping[str, tuple[str, ...]],
    seen: Mapping[tuple[str, int], str | None],
) -> Iterator[Violation]:
    """R5: known state of primaries and copies on a node within its ``memory_mb``."""
    state = {o.id: np.nan_to_num(key_group_state(o, series)) for o in topology.keyed_operators}
    used = np.zeros(len(cluster.nodes))
    for operator, sizes in state.items():
        for g, size in enumerate(sizes):
            home = homes[operator][g] if g < len(homes.get(operator, ())) else seen.get((operator, g))
            if home is not None and home in cluster.position:
                used[cluster.position[home]] += size
    for copy in copies:
        used[copy.node] += state[copy.operator][copy.key_group]
    yield from judge_memory(range(len(cluster.nodes)), used, cluster)


def judge_memory(nodes: Iterable[int], used: FloatArray, cluster: Cluster) -> Iterator[Violation]:
    """Judge some nodes by the bytes of state that they would hold, shape (N,)."""
    for i in nodes:
        node = cluster.nodes[i]
        if node.memory_mb is not None and used[i] > node.memory_mb * MB * (1 + ROUNDING):
            yield Violation(
                "OVER_CAPACITY",
                f"{node.id} would hold {used[i] / MB:.6g} MB of state, its memory_mb is {node.memory_mb:g}",
                f"node:{node.id}",
            )


def _over_failover(
    copies: list[Copy],
    cluster: Cluster,
    series: KeyGroupSeries | None,
    rules: CheckpointRules,
    homes: Mapping[str, tuple[str, ...]],
    seen: Mapping[tuple[str, int], str | None],
) -> Iterator[Violation]:
    """After any loss, with each group at its first live copy: no survivor above the limit times its fair share."""
    if rules.failover_limit is None or series is None:
        return
    hosts: dict[tuple[str, int], list[int]] = {}
    for copy in copies:
        hosts.setdefault((copy.operator, copy.key_group), []).append(copy.node)
    primary = {
        (name, g): homes[name][g] if g < len(homes.get(name, ())) else stated for (name, g), stated in seen.items()
    }
    groups = sorted(group for group, node in primary.items() if node in cluster.position)
    home = np.array([cluster.position[str(primary[group])] for group in groups], dtype=np.int64)
    columns = [series.position.get(group) for group in groups]
    load = np.array([0.0 if c is None else series.mean_load[c] for c in columns], dtype=np.float64)
    found = takeover(cluster, rules.anti_affinity, home, [hosts.get(group, []) for group in groups], load)
    if not load.any():
        return
    loss, node = found.worst
    ratio = float(found.ratio[loss, node])
    if ratio > rules.failover_limit * (1 + ROUNDING):
        carried = float(found.own[node] + found.taken[loss, node])
        yield Violation(
            "OVER_FAILOVER",
            f"after the loss of {found.names[loss]}, {cluster.nodes[node].id} carries {carried:.6g}, {ratio:.6g} times "
            f"its fair share {found.fair[loss, node]:.6g} (failover limit {rules.failover_limit:g})",
            found.names[loss],
        )

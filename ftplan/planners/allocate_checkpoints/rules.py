"""The rules of a checkpoint allocation, and a checker that any plan can be held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.measures.availability import takeover
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, Topology
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
#: The warning of a plan that leaves rules broken which upkeep had too few moves to restore: it is not held to them.
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


class Copy(NamedTuple):
    """One copy of a known key group on a known node, by its position."""

    operator: str
    key_group: int
    node: int


@dataclass(frozen=True, eq=False)
class RuleInputs:
    """What an allocation is judged by. ``homes`` are the primaries of each keyed operator that the placement knows."""

    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries | None
    rules: CheckpointRules
    homes: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(
        topology: Topology,
        cluster: Cluster,
        series: KeyGroupSeries | None,
        rules: CheckpointRules,
        placement: Placement | None = None,
    ) -> RuleInputs:
        """Return the inputs with the primaries of a placement, default the cluster's."""
        placement = cluster.placement if placement is None else placement
        homes = {}
        if placement is not None:
            homes = {o.id: primaries(o.id, topology, placement) for o in topology.keyed_operators}
        known = {name: nodes for name, nodes in homes.items() if nodes is not None}
        return RuleInputs(topology, cluster, series, rules, known)

    def home(self, operator: str, group: int, stated: str | None) -> str | None:
        """Return the node of a group's primary: by the placement, else as the plan states it."""
        homes = self.homes.get(operator, ())
        return homes[group] if group < len(homes) else stated

    def load(self, operator: str, group: int) -> float:
        """Return the mean load of a key group, 0 where it is not known."""
        return 0.0 if self.series is None else self.series.load_of(operator, group)


@dataclass(frozen=True, eq=False)
class Record:
    """What assignments say: the primary that is stated for each group, None where it is unknown, and the copies."""

    primaries: dict[tuple[str, int], str | None] = field(default_factory=dict)
    copies: list[Copy] = field(default_factory=list)

    def held(self, adds: Callable[[str, int], float], before: FloatArray) -> FloatArray:
        """Return what every node holds with what each copy adds to *before*, shape (N,)."""
        held = before.copy()
        for copy in self.copies:
            held[copy.node] += adds(copy.operator, copy.key_group)
        return held


@dataclass(frozen=True, eq=False)
class NodeRule:
    """A rule about nodes: what each holds, shape (N,), what a copy of a group adds, and what it says of one node.

    ``middle`` (N,) is what a breach is measured from.
    """

    held: FloatArray
    adds: Callable[[str, int], float]
    judge: Callable[[int, float], Violation | None]
    middle: FloatArray


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
    if not isinstance(assignments, (list, tuple)):
        return (Violation("MISSING_KEY_GROUP", "assignments is not a list"),)
    inputs, record = RuleInputs.of(topology, cluster, series, rules, placement), Record()
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


def fair_shares(cluster: Cluster) -> FloatArray:
    """Return each node's fair share of all copies, shape (N,): its part of the cpu of nodes that accept checkpoints.

    They share equally where none of them has any cpu; the others have 0.
    """
    cpu = np.where(cluster.accepting("checkpoints"), cluster.cpu, 0.0)
    if not cpu.any():
        cpu = cluster.accepting("checkpoints").astype(np.float64)
    return cpu / (cpu.sum() or 1.0)


def node_rules(inputs: RuleInputs, record: Record) -> list[NodeRule]:
    """Return the rules about nodes with what the copies on record use. Cost O(copies + key groups)."""
    balance = inputs.rules.balance
    rules = []
    if balance in ("count", "even-count"):
        rules.append(_count(inputs, record))
    elif not isinstance(balance, str) and inputs.series is not None:
        rules.append(_balance(balance, inputs, record))
    if inputs.rules.memory:
        rules.append(_memory(inputs, record))
    return rules


def _balance(balance: float, inputs: RuleInputs, record: Record) -> NodeRule:
    """R4: ``(1 - Δ) fair <= load of the copies on the node <= (1 + Δ) fair`` on every node that accepts checkpoints."""
    cluster = inputs.cluster
    held = record.held(inputs.load, np.zeros(len(cluster.nodes)))
    fair = held.sum() * fair_shares(cluster)

    def judge(i: int, load: float) -> Violation | None:
        node = cluster.nodes[i]
        low, high = (1 - balance) * fair[i], (1 + balance) * fair[i]
        slack = ROUNDING * fair[i]
        if low - slack <= load <= high + slack or "checkpoints" not in node.accepts:
            return None
        message = (
            f"{node.id} holds copies of load {load:.6g}, outside {max(low, 0.0):.6g} to {high:.6g} "
            f"(fair share {fair[i]:.6g}, balance {balance:g})"
        )
        return Violation("OVER_BALANCE", message, f"node:{node.id}")

    return NodeRule(held, inputs.load, judge, fair)


def _count(inputs: RuleInputs, record: Record) -> NodeRule:
    """``count``: at most ⌈copies · cpu / Σ cpu⌉ copies on a node; ``even-count``: at most ⌈copies / nodes⌉."""
    cluster, accepts = inputs.cluster, inputs.cluster.accepting("checkpoints")
    none = np.zeros(len(cluster.nodes))
    share = fair_shares(cluster) if inputs.rules.balance == "count" else accepts / max(int(accepts.sum()), 1)
    most = [ceil(len(record.copies) * part * (1 - NOISE)) for part in share]

    def judge(i: int, held: float) -> Violation | None:
        if held <= most[i] or not accepts[i]:
            return None
        node = cluster.nodes[i].id
        return Violation("OVER_BALANCE", f"{node} holds {held:.0f} copies, at most {most[i]} allowed", f"node:{node}")

    def one(operator: str, group: int) -> float:
        return 1.0

    return NodeRule(record.held(one, none), one, judge, none)


def _memory(inputs: RuleInputs, record: Record) -> NodeRule:
    """R5: known state of primaries and copies on a node within its ``memory_mb``."""
    cluster, none = inputs.cluster, np.zeros(len(inputs.cluster.nodes))
    state = {o.id: np.nan_to_num(key_group_state(o, inputs.series)) for o in inputs.topology.keyed_operators}
    used = none.copy()
    for operator, sizes in state.items():
        for g, size in enumerate(sizes.tolist()):
            home = inputs.home(operator, g, record.primaries.get((operator, g)))
            if home is not None and home in cluster.position:
                used[cluster.position[home]] += size

    def size_of(operator: str, group: int) -> float:
        return float(state[operator][group])

    def judge(i: int, held: float) -> Violation | None:
        node = cluster.nodes[i]
        if node.memory_mb is None or held <= node.memory_mb * MB * (1 + ROUNDING):
            return None
        message = f"{node.id} would hold {held / MB:.6g} MB of state, its memory_mb is {node.memory_mb:g}"
        return Violation("OVER_CAPACITY", message, f"node:{node.id}")

    return NodeRule(record.held(size_of, used), size_of, judge, none)


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

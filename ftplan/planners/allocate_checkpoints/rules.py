"""The rules of a checkpoint allocation: what it promises, and what each node holds and may hold.

:mod:`ftplan.planners.allocate_checkpoints.violations` checks that a plan satisfies them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.cluster import Cluster, primaries
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
    def of(topology: Topology, cluster: Cluster, series: KeyGroupSeries | None, rules: CheckpointRules) -> RuleInputs:
        """Return the inputs with the primaries of the cluster's placement."""
        homes = {}
        if cluster.placement is not None:
            homes = {o.id: primaries(o.id, topology, cluster.placement) for o in topology.keyed_operators}
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
        message = f"{node.id} would hold {held / MB:.6g} MiB of state, its memory_mb is {node.memory_mb:g}"
        return Violation("OVER_CAPACITY", message, f"node:{node.id}")

    return NodeRule(record.held(size_of, used), size_of, judge, none)

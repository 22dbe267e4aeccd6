"""What an allocation would break with one copy on another node, without judging the whole plan again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ftplan.model.checkpoint_rules import (
    CheckpointRules,
    Copy,
    fair_shares,
    judge_balance,
    judge_copies,
    judge_count,
    judge_memory,
    known_homes,
    most_held,
    violations,
)
from ftplan.model.cluster import Cluster
from ftplan.model.key_group_state import key_group_state
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, Topology
from ftplan.model.violation import Violation

#: Rules that one move is judged by on its own; a plan with any other is judged as a whole.
KNOWN = frozenset(
    (
        "copy-not-with-primary",
        "copies-on-distinct-nodes",
        "copies-in-distinct-zones",
        "balance",
        "count",
        "even-count",
        "memory",
    )
)


@dataclass(frozen=True, eq=False)
class Usage:
    """One rule about nodes: what each holds, shape (N,), what a copy of some group adds, and who judges it."""

    held: FloatArray
    adds: Callable[[str, int], float]
    judge: Callable[[Iterable[int], Any], Iterator[Violation]]
    middle: FloatArray  # (N,) what a breach is measured from


@dataclass(frozen=True, eq=False)
class CopyMoves:
    """An allocation in which single copies are tried elsewhere. Made in one pass; a trial costs O(copies of a group).

    ``assignments`` must name known nodes only, as in :func:`ftplan.model.checkpoint_rules.violations`.
    """

    assignments: Sequence[Mapping[str, Any]]
    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries | None
    rules: CheckpointRules
    usages: tuple[Usage, ...]
    homes: Mapping[str, tuple[str, ...]]  # primaries by operator, where the placement says

    @staticmethod
    def of(
        assignments: Sequence[Mapping[str, Any]],
        topology: Topology,
        cluster: Cluster,
        series: KeyGroupSeries | None,
        rules: CheckpointRules,
    ) -> CopyMoves:
        """Add up what every node holds. Cost O(copies + key groups)."""
        usages = []
        homes = {} if cluster.placement is None else known_homes(topology, cluster.placement)
        nodes = len(cluster.nodes)
        first = {(a["operator"], int(a["key_group"])): a for a in reversed(assignments)}
        names = [
            (operator, group, cluster.position[node])
            for (operator, group), item in sorted(first.items())
            if operator in topology.position and 0 <= group < (topology.operator(operator).key_groups or 0)
            for node in item["checkpoints"]
        ]
        hosts = np.array([node for _, _, node in names], dtype=np.int64)

        def usage(adds: Callable[[str, int], float], judge: Any, middle: Any, base: Any = 0.0) -> Usage:
            held = np.bincount(hosts, [adds(operator, group) for operator, group, _ in names], nodes) + base
            return Usage(held, adds, judge, np.broadcast_to(np.asarray(middle, dtype=np.float64), (nodes,)))

        if not isinstance(rules.balance, str) and series is not None:
            load = partial(_load, series)
            fair = sum(load(o, g) for o, g, _ in names) * fair_shares(cluster)
            usages.append(usage(load, lambda some, held: judge_balance(some, held, fair, cluster, rules), middle=fair))
        elif rules.balance in ("count", "even-count"):
            most = most_held(len(names), cluster, rules)
            usages.append(
                usage(lambda o, g: 1.0, lambda some, held: judge_count(some, held.astype(np.int64), most, cluster), 0.0)
            )
        if rules.memory:
            state = {o.id: np.nan_to_num(key_group_state(o, series)) for o in topology.keyed_operators}
            usages.append(
                usage(
                    partial(_state, state),
                    lambda some, held: judge_memory(some, held, cluster),
                    0.0,
                    _primary_state(assignments, homes, cluster, state),
                )
            )
        return CopyMoves(assignments, topology, cluster, series, rules, tuple(usages), homes)

    def broken(self, place: int, copy: int, node: str) -> tuple[Violation, ...]:
        """Return what assignment number *place* breaks with copy number *copy* on *node* and does not break now.

        On a plan that keeps its rules these are exactly its violations after the change, in the same order. A node
        that breaks a limit already is not held against a move that leaves it better.
        """
        item = self.assignments[place]
        nodes = list(item["checkpoints"])
        changed = [*nodes[:copy], node, *nodes[copy + 1 :]]
        if not set(self.rules.names()) <= KNOWN:
            return self._as_a_whole(place, changed)
        now = set(self._group(item, nodes))
        found = [v for v in self._group(item, changed) if v not in now]
        ends = {self.cluster.position[node]: 1.0}
        if copy < len(nodes):
            origin = self.cluster.position[nodes[copy]]
            ends[origin] = ends.get(origin, 0.0) - 1.0
        for usage in self.usages:
            added = usage.adds(item["operator"], int(item["key_group"]))
            after = usage.held.copy()
            for i, sign in ends.items():
                after[i] += sign * added
            for i in sorted(ends):
                farther = abs(after[i] - usage.middle[i]) > abs(usage.held[i] - usage.middle[i])
                if farther or not any(usage.judge((i,), usage.held)):
                    found += usage.judge((i,), after)
        return tuple(found)

    def _group(self, item: Mapping[str, Any], nodes: list[str]) -> list[Violation]:
        """Judge the copies of one key group alone."""
        operator, group = str(item["operator"]), int(item["key_group"])
        homes = self.homes.get(operator, ())
        primary = homes[group] if group < len(homes) else item.get("primary")
        unused: list[Copy] = []
        where = f"key-group:{operator}/{group}"
        return list(
            judge_copies(
                f"{operator}/{group}", where, nodes, primary, self.cluster, self.rules, (operator, group), unused
            )
        )

    def _as_a_whole(self, place: int, nodes: list[str]) -> tuple[Violation, ...]:
        """Judge the whole plan, for rules that are not known here."""
        plan = [*self.assignments]
        now = set(violations(plan, self.topology, self.cluster, self.series, self.rules))
        plan[place] = {**plan[place], "checkpoints": nodes}
        return tuple(v for v in violations(plan, self.topology, self.cluster, self.series, self.rules) if v not in now)


def _load(series: KeyGroupSeries, operator: str, group: int) -> float:
    column = series.position.get((operator, group))
    return 0.0 if column is None else float(series.mean_load[column])


def _state(state: Mapping[str, FloatArray], operator: str, group: int) -> float:
    sizes = state.get(operator)
    return float(sizes[group]) if sizes is not None and group < sizes.size else 0.0


def _primary_state(
    assignments: Sequence[Mapping[str, Any]],
    homes: Mapping[str, tuple[str, ...]],
    cluster: Cluster,
    state: Mapping[str, FloatArray],
) -> FloatArray:
    """Return the bytes of the primaries on each node, shape (N,): by the placement, else by the plan."""
    used = np.zeros(len(cluster.nodes))
    stated: dict[str, dict[int, str]] = {}
    for item in assignments:
        stated.setdefault(item["operator"], {})[int(item["key_group"])] = item["primary"]
    for operator, sizes in state.items():
        where = homes.get(operator, ())
        for g, size in enumerate(sizes.tolist()):
            home = where[g] if g < len(where) else stated.get(operator, {}).get(g)
            if home is not None:
                used[cluster.position[home]] += size
    return used

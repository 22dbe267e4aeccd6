"""Small allocation cases, and an exhaustive search that shares no code with the planners."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.names import natural_key
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build

MB = 2.0**20


@dataclass(frozen=True)
class Case:
    """One operator list with loads and homes, and a list of nodes, in any order."""

    groups: tuple[tuple[str, int], ...]  # (operator, number), sorted
    loads: tuple[tuple[float, ...], ...]  # by group: a load for each window
    homes: tuple[str, ...]
    states_mb: tuple[float, ...]  # 0: unknown
    nodes: tuple[Node, ...]
    estimated: bool = False
    parallelism: int = 0  # 0: a task for every group
    window_s: float = 60.0

    def operators(self) -> list[str]:
        return sorted({operator for operator, _ in self.groups})

    def topology(self) -> Topology:
        made = []
        for name in self.operators():
            count = sum(1 for operator, _ in self.groups if operator == name)
            tasks = self.parallelism or count
            one = np.ones(tasks)
            made.append(Operator(name, tasks, cpu=one, state_bytes=0 * one, priority=one, key_groups=count))
        return Topology(tuple(made), ())

    def cluster(self) -> Cluster:
        return Cluster(tuple(sorted(self.nodes, key=lambda n: natural_key(n.id))), placement=self.placement())

    def placement(self) -> Placement:
        by_operator = {
            name: tuple(h for (o, _), h in zip(self.groups, self.homes, strict=True) if o == name)
            for name in self.operators()
        }
        return Placement(key_groups=by_operator)

    def series(self) -> KeyGroupSeries:
        names = self.operators()
        return KeyGroupSeries(
            tuple(names),
            np.array([names.index(o) for o, _ in self.groups], dtype=np.int64),
            np.array([g for _, g in self.groups], dtype=np.int64),
            np.array(self.loads, dtype=np.float64).T.copy(),
            "records",
            self.window_s,
            np.array([s * MB if s else np.nan for s in self.states_mb]),
            np.full(len(self.groups), self.estimated),
        )

    def problem(self, options: AllocationOptions) -> CheckpointProblem:
        return build(self.topology(), self.cluster(), self.placement(), self.series(), options)

    def with_more_memory(self, growth_mb: float) -> Case:
        grown = [replace(n, memory_mb=None if n.memory_mb is None else n.memory_mb + growth_mb) for n in self.nodes]
        return replace(self, nodes=tuple(grown))


@dataclass(frozen=True)
class Found:
    """One allocation that keeps R1 to R3 and memory, with what the other rules look at."""

    value: float
    deviation: float
    most_over_count: int
    copies: tuple[tuple[str, ...], ...]


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation by numpy, 0 where a series varies by rounding alone."""
    if min(np.ptp(a), np.ptp(b)) <= 1e-9:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def seen_as(case: Case, correlate: str) -> np.ndarray:
    """The series that are correlated, shape (groups, windows), by loops."""
    load = np.array(case.loads)
    seen = load.copy()
    phases = int(86400 // case.window_s)
    for g, w in itertools.product(range(load.shape[0]), range(load.shape[1])):
        if correlate == "share":
            total = sum(load[h, w] for h in range(load.shape[0]))
            seen[g, w] = load[g, w] / total if total else 0.0
        elif correlate == "residual" and 1 < phases < load.shape[1]:
            same = [load[g, v] for v in range(load.shape[1]) if v % phases == w % phases]
            seen[g, w] = load[g, w] - sum(same) / len(same)
    return seen


def costs(case: Case, objective: CheckpointObjective | None = None) -> dict[tuple[int, str], float]:
    """cost(g, i) straight from the definition of each objective, small is good."""
    objective = objective or CheckpointObjective()
    load = np.array(case.loads)
    if objective.name == "usable":
        return {(g, n.id): -float(usable(case, objective, g, n)) for g in range(len(load)) for n in case.nodes}
    seen = seen_as(case, objective.correlate)
    found = {}
    for g, node in itertools.product(range(len(load)), case.nodes):
        there = [h for h in range(len(load)) if case.homes[h] == node.id]
        if objective.name == "correlation":
            corr = sum(correlation(seen[g], seen[h]) for h in there)
        else:
            corr = correlation(seen[g], sum((seen[h] for h in there), np.zeros(load.shape[1])))
        found[g, node.id] = float(load[g].mean() * corr)
    return found


def usable(case: Case, objective: CheckpointObjective, group: int, host: Node) -> int:
    """Windows in which the primary's node is overloaded and the host could take the group without being so itself."""
    load, windows = case.loads, len(case.loads[0])
    per_core = objective.capacity_per_core
    if per_core is None:
        mean = sum(map(sum, load)) / windows
        cores, used = sum(n.cpu for n in case.nodes), sum(n.used_cpu for n in case.nodes)
        spare = 0.7 * cores - used if 0.7 * cores > used else 0.7 * (cores - used)
        per_core = mean / spare / case.window_s
    count = 0
    for w in range(windows):
        on = {
            n.id: n.used_cpu * per_core * case.window_s
            + sum(load[h][w] for h in range(len(load)) if case.homes[h] == n.id)
            for n in case.nodes
        }
        most = {n.id: objective.overload * n.cpu * per_core * case.window_s for n in case.nodes}
        home = case.homes[group]
        if on[home] > most[home] and host.id != home and on[host.id] + load[group][w] <= most[host.id]:
            count += 1
    return count


#: Every objective with every kind of series, with capacities at which small loads overload some nodes.
objectives = st.one_of(
    st.builds(
        CheckpointObjective,
        st.sampled_from(["correlation", "node-correlation"]),
        st.sampled_from(["raw", "share", "residual"]),
    ),
    st.builds(
        CheckpointObjective,
        st.just("usable"),
        capacity_per_core=st.sampled_from([None, 6 / 43200, 7 / 43200, 0.1]),
        overload=st.sampled_from([0.5, 0.85]),
    ),
)


def exhaustive(
    case: Case,
    copies: int,
    anti_affinity: str,
    memory: bool = True,
    objective: CheckpointObjective | None = None,
) -> Iterator[Found]:
    """Every allocation that keeps R1, R2, R3 (with zones) and, where asked for, R5."""
    zone = {n.id: n.zone or f"node {n.id}" for n in case.nodes}
    cpu = {n.id: n.cpu for n in case.nodes if "checkpoints" in n.accepts}
    total_cpu = sum(cpu.values())
    share = {n: c / total_cpu if total_cpu else 1 / len(cpu) for n, c in cpu.items()}
    cost = costs(case, objective)
    mean = [sum(load) / len(load) for load in case.loads]
    total = copies * sum(mean)
    choices = []
    for home in case.homes:
        sets = []
        for chosen in itertools.combinations(sorted(cpu, key=natural_key), copies):
            if home in chosen:
                continue
            if anti_affinity == "zone" and len({zone[n] for n in (*chosen, home)}) < copies + 1:
                continue
            sets.append(chosen)
        choices.append(sets)
    for plan in itertools.product(*choices):
        load = dict.fromkeys(cpu, 0.0)
        count = dict.fromkeys(cpu, 0)
        state = {n.id: 0.0 for n in case.nodes}
        value = 0.0
        for g, chosen in enumerate(plan):
            state[case.homes[g]] += case.states_mb[g]
            for node in chosen:
                load[node] += mean[g]
                count[node] += 1
                state[node] += case.states_mb[g]
                value += cost[g, node]
        if memory and any(n.memory_mb is not None and state[n.id] > n.memory_mb * (1 + 1e-9) for n in case.nodes):
            continue
        deviation = 0.0
        for node, s in share.items():
            fair = total * s
            if fair > 0:
                deviation = max(deviation, abs(load[node] / fair - 1))
            elif load[node] > 0:
                deviation = math.inf
        over = max((count[n] - math.ceil(copies * len(plan) * share[n] * (1 - 1e-12)) for n in cpu), default=0)
        yield Found(value, deviation, over, plan)


def keeps(found: Found, balance: float | str) -> bool:
    if balance == "none":
        return True
    if balance == "count":
        return found.most_over_count <= 0
    assert not isinstance(balance, str)
    return found.deviation <= balance + 1e-9


@st.composite
def cases(draw: Any, max_groups: int = 4, max_nodes: int = 4, memory: bool = True, whole: bool | None = None) -> Case:
    """Small cases with ties, constant series, unequal nodes, zones, nodes that accept nothing, and memory limits."""
    nodes = draw(st.integers(2, max_nodes))
    groups = draw(st.integers(1, max_groups))
    first = draw(st.integers(1, groups))
    windows = draw(st.integers(2, 4))
    integers = draw(st.booleans()) if whole is None else whole
    load = st.integers(0, 6).map(float) if integers else st.floats(0, 10).map(lambda x: round(x, 3))
    limited = memory and draw(st.booleans())
    names = [f"n{i}" for i in draw(st.permutations([1, 2, 3, 10]))[:nodes]]
    made = tuple(
        Node(
            name,
            cpu=draw(st.sampled_from([1.0, 1.0, 2.0, 0.5])),
            memory_mb=draw(st.sampled_from([None, 2.0, 4.0, 6.0])) if limited else None,
            used_cpu=draw(st.sampled_from([0.0, 0.0, 0.0, 0.25])),
            zone=draw(st.sampled_from([None, "a", "b", "c"])),
            accepts=frozenset(draw(st.sampled_from([("tasks", "checkpoints")] * 4 + [("tasks",)]))),
        )
        for name in names
    )
    return Case(
        groups=tuple(("a", g) for g in range(first)) + tuple(("b", g) for g in range(groups - first)),
        loads=tuple(tuple(draw(load) for _ in range(windows)) for _ in range(groups)),
        homes=tuple(draw(st.sampled_from(names)) for _ in range(groups)),
        states_mb=tuple(float(draw(st.sampled_from([0, 1, 2]))) if limited else 0.0 for _ in range(groups)),
        nodes=made,
        window_s=draw(st.sampled_from([60.0, 43200.0])),
    )


def apply_fix(fix: str, case: Case, options: AllocationOptions) -> tuple[Case, AllocationOptions]:
    """Apply a smallest_fix as a user would read it."""
    changed: dict[str, Any] = {}
    if match := re.search(r"--balance (\S+)", fix):
        text = match[1]
        changed["balance"] = text if text in ("auto", "none", "count") else float(text)
    if match := re.search(r"--copies (\d+)", fix):
        changed["copies"] = int(match[1])
    if match := re.search(r"raise memory_mb of every node by (\d+)", fix):
        case = case.with_more_memory(float(match[1]))
    if match := re.match(r"add (\d+) more", fix):
        more = tuple(Node(f"new{i}", 1.0, zone=f"new-zone-{i}") for i in range(int(match[1])))
        case = Case(**{**case.__dict__, "nodes": case.nodes + more})
    values = {name: getattr(options, name) for name in options.__dataclass_fields__}
    return case, AllocationOptions(**{**values, **changed})


def job(groups: int, seed: int, estimated: bool = False) -> tuple[Topology, KeyGroupSeries]:
    """Two keyed operators, eight tasks each, with random loads; if estimated, one series a task."""
    rng = np.random.default_rng(seed)
    one = np.ones(8)
    operators = tuple(
        Operator(name, 8, cpu=one, state_bytes=1e6 * one, priority=one, key_groups=groups) for name in ("join", "agg")
    )
    loads = rng.gamma(2.0, 10.0, size=(24, 2 * groups)).round()
    if estimated:
        loads = np.repeat(rng.gamma(2.0, 10.0, size=(24, 16)), groups // 8, axis=1)
    series = KeyGroupSeries(
        ("agg", "join"),
        np.repeat([0, 1], groups),
        np.tile(np.arange(groups), 2),
        loads,
        "records",
        60.0,
        np.full(2 * groups, np.nan),
        np.full(2 * groups, estimated),
    )
    return Topology(operators, ()), series


def cluster(memory_mb: float | None = None) -> Cluster:
    nodes = tuple(
        Node(f"n{i}", 2.0 if i == 3 else 1.0, memory_mb, zone=f"z{i % 4}", accepts=frozenset(("tasks", "checkpoints")))
        for i in range(1, 9)
    )
    return Cluster((*nodes, Node("n9", 1.0, memory_mb, accepts=frozenset(("tasks",)))))


def placement() -> Placement:
    return Placement(tasks={"agg": tuple(f"n{i}" for i in range(1, 9)), "join": tuple(f"n{i}" for i in range(2, 10))})

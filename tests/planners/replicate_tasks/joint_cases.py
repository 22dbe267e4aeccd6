"""Small jobs in tight clusters at random, and every way to give their tasks replicas.

Nothing here is of the package: rates, fidelity, capacities, zones and failures are computed from the documents as the
description of the files says it, one task at a time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import yaml

import ftplan

Document = Mapping[str, Any]
Task = tuple[str, int]
Array = np.ndarray[Any, np.dtype[Any]]

#: Differences below this are rounding: plans keep 12 digits.
SAME = 1e-9
MAX_CPU = 0.8
MB = 2**20
FORMAT_VERSION = "1.0"


@dataclass(frozen=True)
class JointCase:
    """The inputs of one question, and the options that decide what counts; budgets are asked of it."""

    topology: Document
    cluster: Document
    failure: Document | None = None
    options: Document = field(default_factory=dict)  # fail, worst_case, metric, weight, max_cpu, same_zone

    def problem(self) -> ftplan.Problem:
        """Load the inputs."""
        return ftplan.load(topology=self.topology, cluster=self.cluster, failure=self.failure)

    def plan(self, algorithm: str, **options: Any) -> ftplan.Plan:
        """Ask a planner."""
        return ftplan.plan("replicate-tasks", self.problem(), algorithm=algorithm, **self.options, **options)

    def with_node(self, node: Document) -> JointCase:
        """Return the case with one more node."""
        return replace(self, cluster={**self.cluster, "nodes": [*self.cluster["nodes"], node]})

    def with_replicas(self, replicas: Document | None) -> JointCase:
        """Return the case with replicas in place, by operator and index."""
        placement = {key: value for key, value in self.cluster["placement"].items() if key != "replicas"}
        more = {} if replicas is None else {"replicas": replicas}
        return replace(self, cluster={**self.cluster, "placement": {**placement, **more}})

    def fixed(self, fix: str, **options: Any) -> tuple[JointCase, dict[str, Any]]:
        """Apply the fix of an infeasible plan as a person would."""
        flag = re.fullmatch(r"--([a-z-]+) ([0-9.e+-]+)", fix)
        if flag:
            number: Any = float(flag[2]) if "." in flag[2] else int(flag[2])
            return self, {**options, flag[1].replace("-", "_"): number}
        return self.with_node(yaml.safe_load(fix.removeprefix("add to the nodes of the cluster file: "))), options


# ---------------------------------------------------------------------------------------------- output fidelity


class SlowJob:
    """Rates and fidelity of a topology document, by recursion over its tasks."""

    def __init__(self, topology: Document) -> None:
        self.operators = {o["id"]: o for o in topology["operators"]}
        self.edges = topology["edges"]
        self.tasks: list[Task] = [(id, k) for id in self.operators for k in range(self.parallelism(id))]
        self.out: dict[Task, float] = {}
        self.entering: dict[Task, dict[str, list[tuple[Task, float]]]] = defaultdict(lambda: defaultdict(list))
        waiting = list(self.operators)
        while waiting:
            ready = next(id for id in waiting if not any(e["to"] == id and e["from"] in waiting for e in self.edges))
            waiting.remove(ready)
            self._emit(ready)
        leaving = {e["from"] for e in self.edges}
        self.outputs = [t for t in self.tasks if self.operators[t[0]].get("output", t[0] not in leaving)]

    def parallelism(self, id: str) -> int:
        return int(self.operators[id].get("parallelism", 1))

    def number(self, task: Task, key: str, default: float) -> float:
        """Return a property that is one number for all tasks or a list with one each."""
        given = self.operators[task[0]].get(key, default)
        return float(given[task[1]] if isinstance(given, Sequence) else given)

    def input_rate(self, task: Task) -> float:
        return sum(rate for part in self.entering[task].values() for _, rate in part)

    def is_source(self, id: str) -> bool:
        return not any(e["to"] == id for e in self.edges)

    def _emit(self, id: str) -> None:
        """Set what the tasks of an operator emit, and what each of their substreams carries."""
        for task in [t for t in self.tasks if t[0] == id]:
            derived = 1.0 if self.is_source(id) else self.number(task, "selectivity", 1.0) * self.input_rate(task)
            self.out[task] = self.number(task, "rate_out", derived)
        for edge in [e for e in self.edges if e["from"] == id]:
            if "substreams" in edge:
                for sender, receiver, rate in edge["substreams"]:
                    self.entering[edge["to"], receiver][id].append(((id, sender), float(rate)))
                continue
            senders, receivers = self.parallelism(id), self.parallelism(edge["to"])
            for i in range(senders):
                reached = [
                    (edge["to"], j)
                    for j in range(receivers)
                    if edge["partitioning"] == "full"
                    or (i == j * senders // receivers if senders < receivers else j == i * receivers // senders)
                ]
                share = [self.number(task, "input_share", 1.0) for task in reached]
                for task, part in zip(reached, share, strict=True):
                    self.entering[task][id].append(((id, i), self.out[id, i] * part / sum(share)))

    def fidelity(self, live: frozenset[Task], weight: str = "rate") -> float:
        """Return the output fidelity where only some tasks live."""
        known: dict[Task, float] = {}

        def loss(task: Task) -> float:
            if task not in known:
                known[task] = self._loss(task, live, {s: loss(s) for s in self._senders(task)})
            return known[task]

        weights = [self.number(task, "priority", 1.0) for task in self.outputs]
        if weight == "rate":
            weights = [self.out[task] for task in self.outputs]
            if sum(weights) == 0.0:
                weights = [self.input_rate(task) for task in self.outputs]
        return 1.0 - mean([loss(task) for task in self.outputs], weights)

    def _senders(self, task: Task) -> list[Task]:
        return [sender for part in self.entering[task].values() for sender, _ in part]

    def _loss(self, task: Task, live: frozenset[Task], of: Mapping[Task, float]) -> float:
        if task not in live:
            return 1.0
        streams = list(self.entering[task].values())
        if not streams:
            return 0.0
        losses = [mean([of[sender] for sender, _ in part], [rate for _, rate in part]) for part in streams]
        if self.operators[task[0]].get("inputs") == "correlated":
            return 1.0 - float(np.prod([1.0 - loss for loss in losses]))
        return mean(losses, [sum(rate for _, rate in part) for part in streams])

    def completeness(self, live: frozenset[Task]) -> float:
        """Return the records that live tasks process over those that all tasks do."""
        kept: dict[Task, float] = {}  # the share of its records that a task still emits

        def processed(task: Task) -> float:
            if task not in live:
                return 0.0
            if self.is_source(task[0]):
                return self.out[task]
            return sum(rate * share(sender) for part in self.entering[task].values() for sender, rate in part)

        def share(task: Task) -> float:
            if task not in kept:
                all_of_them = self.out[task] if self.is_source(task[0]) else self.input_rate(task)
                kept[task] = processed(task) / all_of_them if all_of_them > 0.0 else float(task in live)
            return kept[task]

        whole = sum(self.out[t] if self.is_source(t[0]) else self.input_rate(t) for t in self.tasks)
        return sum(processed(task) for task in self.tasks) / whole


def mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean, unweighted where all weights are 0."""
    total = sum(weights)
    if total == 0.0:
        return sum(values) / len(values)
    return sum(w * v for w, v in zip(weights, values, strict=True)) / total


# ---------------------------------------------------------------------------------------- every choice and placement


class Truth:
    """Every way to give tasks a replica on some node that keeps capacities, and what each is worth.

    All arrays have one entry, or row, a way: ``node`` (ways, tasks) with -1 for no replica, ``value``, ``count``,
    ``cores``, ``mb``, ``same_zone`` (replicas in the zone of their primaries) and ``changes`` against those in place.
    """

    def __init__(self, case: JointCase) -> None:
        self.case, self.job = case, SlowJob(case.topology)
        self.nodes: list[str] = [node["id"] for node in case.cluster["nodes"]]
        placed = case.cluster["placement"]["tasks"]
        self.primary = np.array([self.nodes.index(placed[id][k]) for id, k in self.job.tasks])
        self.cpu = np.array([self.job.number(task, "cpu", 1.0) for task in self.job.tasks])
        self.state = np.array([self.job.number(task, "state_bytes", 0.0) for task in self.job.tasks]) / MB
        self.zone = np.array([self._zone(node) for node in case.cluster["nodes"]])
        self.node = self._ways()
        replicated = self.node >= 0
        self.count, self.cores, self.mb = replicated.sum(axis=1), replicated @ self.cpu, replicated @ self.state
        self.same_zone = (replicated & (self.zone[self.node] == self.zone[self.primary])).sum(axis=1)
        self.value = self._values()
        now = self.current
        started, stopped = replicated & (now < 0), ~replicated & (now >= 0)
        moved = replicated & (now >= 0) & (self.node != now)
        self.changes = started.sum(axis=1) + stopped.sum(axis=1) + 2 * moved.sum(axis=1)

    def _zone(self, node: Document) -> int:
        zones = [n.get("zone") for n in self.case.cluster["nodes"]]
        return self.nodes.index(node["id"]) if node.get("zone") is None else zones.index(node["zone"])

    @cached_property
    def current(self) -> Array:
        """Node of each replica in place, -1 for none."""
        replicas = self.case.cluster["placement"].get("replicas", {})
        names = [replicas[id][k] if id in replicas else None for id, k in self.job.tasks]
        return np.array([-1 if name is None else self.nodes.index(name) for name in names])

    @property
    def one_zone(self) -> bool:
        """Whether all nodes fail together, so that no replica could stand outside its primary's zone."""
        return len(set(self.zone.tolist())) == 1

    def _ways(self) -> Array:
        tasks, nodes = len(self.cpu), len(self.nodes)
        every = np.indices((nodes + 1,) * tasks).reshape(tasks, -1).T - 1
        every = every[(every != self.primary).all(axis=1)]
        share = self.case.options.get("max_cpu", MAX_CPU)
        for n, node in enumerate(self.case.cluster["nodes"]):
            here, home = every == n, self.primary == n
            if "tasks" not in node.get("accepts", ["tasks"]):
                every = every[~here.any(axis=1)]
                continue
            cores, mb = here @ self.cpu, here @ self.state
            free = share * node["cpu"] - node.get("used_cpu", 0.0) - self.cpu[home].sum()
            memory = node.get("memory_mb", np.inf) - self.state[home].sum()
            every = every[((cores == 0) | (cores <= free + 1e-7)) & ((mb == 0) | (mb <= memory + 1e-7))]
        return every

    @cached_property
    def scenarios(self) -> list[tuple[float, Array, Array]]:
        """Weight, failed tasks and failed nodes of each case."""
        tasks, nodes = len(self.cpu), len(self.nodes)
        document, options = self.case.failure or {}, self.case.options
        named = [*document.get("fail", ()), *options.get("fail", ())]
        weighted = [(s["probability"], s["fail"]) for s in document.get("scenarios", ())]
        if options.get("worst_case") or not (named or weighted):
            return [(1.0, np.ones(tasks, dtype=bool), np.zeros(nodes, dtype=bool))]
        found = []
        for weight, more in weighted or [(1.0, [])]:
            failed, down = np.zeros(tasks, dtype=bool), np.zeros(nodes, dtype=bool)
            for entry in (*named, *more):
                kind, _, name = (entry["select"] if isinstance(entry, Mapping) else entry).partition(":")
                if kind == "node":
                    down[self.nodes.index(name)] = True
                elif kind == "zone":
                    down |= [node.get("zone") == name for node in self.case.cluster["nodes"]]
                else:
                    failed |= [name in (id, f"{id}/{k}") for id, k in self.job.tasks]
            found.append((weight, failed | down[self.primary], down))
        return found

    def _values(self) -> Array:
        total = np.zeros(len(self.node))
        for probability, failed, down in self.scenarios:
            standing = (self.node >= 0) & ~down[self.node]
            total += probability * self._worth(standing | ~failed)
        return total / sum(probability for probability, _, _ in self.scenarios)

    def _worth(self, live: Array) -> Array:
        """Return the metric for each row of live tasks, shape (ways, tasks)."""
        bit = 1 << np.arange(len(self.cpu))
        options, worth = self.case.options, []
        masks, which = np.unique(live @ bit, return_inverse=True)
        for mask in masks.tolist():
            up = frozenset(t for t, b in zip(self.job.tasks, bit.tolist(), strict=True) if mask & b)
            if options.get("metric", "output-fidelity") == "output-fidelity":
                worth.append(self.job.fidelity(up, options.get("weight", "rate")))
            else:
                worth.append(self.job.completeness(up))
        return np.array(worth)[which]

    def best_anywhere(self, unit: str, limit: float) -> float:
        """Return the most that replicas within a budget are worth which need no room and never fail."""
        chosen = np.indices((2,) * len(self.cpu)).reshape(len(self.cpu), -1).T.astype(bool)
        size = {"budget": np.ones(len(self.cpu)), "budget_cpu": self.cpu, "budget_mb": self.state}[unit]
        chosen = chosen[chosen @ size <= limit + 1e-7]
        total = sum(weight * self._worth(chosen | ~failed) for weight, failed, _ in self.scenarios)
        return float(np.max(total) / sum(weight for weight, _, _ in self.scenarios))

    # ------------------------------------------------------------------------------------------------ questions

    def apart(self) -> Array:
        """Return the ways that keep the rule of zones."""
        rule = self.case.options.get("same_zone", "never")
        free = rule != "never" or self.one_zone
        return np.ones(len(self.node), dtype=bool) if free else self.same_zone == 0

    def within(
        self, budget: Any = None, budget_cpu: Any = None, budget_mb: Any = None, max_changes: int | None = None
    ) -> Array:
        """Return the ways that keep a budget, the rule of zones and the limit of changes."""
        ways = self.apart()
        if budget is not None:
            share = isinstance(budget, str) and budget.endswith("%")
            limit = int(round(float(budget[:-1]) * len(self.cpu), 9) / 100 + SAME) if share else float(budget)
            ways = ways & (self.count <= limit)
        if budget_cpu is not None:
            ways = ways & (self.cores <= budget_cpu + 1e-7)
        if budget_mb is not None:
            ways = ways & (self.mb <= budget_mb + 1e-7)
        return ways if max_changes is None else ways & (self.changes <= max_changes)

    def best(self, ways: Array) -> float:
        """Return the most that one of some ways is worth."""
        return float(self.value[ways].max())

    def way(self, replicas: Iterable[Document]) -> int:
        """Return the number of the way that a plan's replicas are; -1 where no such way keeps capacities."""
        node = np.full(len(self.cpu), -1)
        for item in replicas:
            node[self.job.tasks.index((item["operator"], item["index"]))] = self.nodes.index(item["node"])
        found = np.flatnonzero((self.node == node).all(axis=1))
        return int(found[0]) if len(found) else -1

    @property
    def none(self) -> int:
        """The way without any replica."""
        return self.way(())

    @property
    def now(self) -> int:
        """The way that the replicas in place are, -1 where they do not keep capacities."""
        found = np.flatnonzero((self.node == self.current).all(axis=1))
        return int(found[0]) if len(found) else -1

    def replicas(self, way: int) -> dict[str, list[str | None]]:
        """Return a way as the cluster file has it."""
        made: dict[str, list[str | None]] = {id: [] for id in self.job.operators}
        for (id, _), n in zip(self.job.tasks, self.node[way].tolist(), strict=True):
            made[id].append(self.nodes[n] if n >= 0 else None)
        return made


# ------------------------------------------------------------------------------------------------- random instances


def random_case(seed: int, same_zone: bool = True) -> JointCase:
    """Return a job of at most 6 tasks on at most 4 nodes with little room; *same_zone* draws the rule of zones too."""
    random = np.random.default_rng(seed)
    topology = _topology(random)
    options: dict[str, Any] = {}
    if random.random() < 0.25:
        options["metric"] = "internal-completeness"
    if random.random() < 0.2:
        options["weight"] = "priority"
    if random.random() < 0.3:
        options["max_cpu"] = float(random.choice([0.5, 1.0]))
    cluster = _cluster(random, topology, options.get("max_cpu", MAX_CPU))
    failure = _failure(random, topology, cluster, options)
    if random.random() < 0.4 and same_zone:
        options["same_zone"] = str(random.choice(["allow", "last-resort"]))
    return JointCase(topology, cluster, failure, options)


def random_budget(random: np.random.Generator, case: JointCase) -> dict[str, Any]:
    """Return a budget in one of its units."""
    job = SlowJob(case.topology)
    kind, tasks = random.random(), len(job.tasks)
    has_state = any(job.number(task, "state_bytes", 0.0) for task in job.tasks)
    if kind < 0.15:
        return {"budget": f"{random.choice([0, 20, 34, 50, 70, 100])}%"}
    if kind < 0.4:
        return {"budget_cpu": float(random.choice([0.0, 0.25, 0.75, 1.0, 1.5, 2.5, 4.0]))}
    if kind < 0.5 and has_state:
        return {"budget_mb": float(random.choice([0.0, 1.0, 2.0, 5.0]))}
    return {"budget": int(random.integers(0, tasks + 1))}


def random_current(random: np.random.Generator, truth: Truth) -> JointCase:
    """Return the case with replicas in place that keep capacities and the rule of zones."""
    ways = np.flatnonzero(truth.apart())
    return truth.case.with_replicas(truth.replicas(int(random.choice(ways))))


def _pick(random: np.random.Generator, values: Sequence[float], size: int) -> list[float]:
    return [float(x) for x in random.choice(values, size)]


def _topology(random: np.random.Generator) -> Document:
    while True:
        sizes = random.integers(1, 4, int(random.integers(2, 5))).tolist()
        if sum(sizes) <= 6:
            break
    ids = [f"o{i}" for i in range(len(sizes))]
    edges: list[dict[str, Any]] = []
    feeding: dict[int, list[int]] = {i: [] for i in range(len(sizes))}
    for i in range(1, len(sizes)):
        feeding[i] = [k for k in range(i) if random.random() < 0.5]
        if not feeding[i] and random.random() < 0.9:
            feeding[i] = [int(random.integers(0, i))]
    measured: dict[int, list[float]] = {}
    for i, sources in feeding.items():
        for k in sources:
            edges.append({"from": ids[k], "to": ids[i], **_edge(random, sizes[k], sizes[i])})
            if "substreams" in edges[-1] and k not in measured:
                measured[k] = [sum(r for a, _, r in edges[-1]["substreams"] if a == t) for t in range(sizes[k])]
    operators = []
    for i, size in enumerate(sizes):
        made: dict[str, Any] = {"id": ids[i], "parallelism": size}
        made["cpu"] = _pick(random, [0.25, 0.5, 0.5, 1.0, 1.5], size) if random.random() < 0.7 else 0.5
        if random.random() < 0.05:
            made["cpu"] = 0
        if i in measured:
            made["rate_out"] = measured[i]
        elif random.random() < (0.15 if feeding[i] else 0.7):
            made["rate_out"] = _pick(random, [0.5, 1.0, 2.0, 3.0, 5.0], size)
        if random.random() < 0.3:
            made["selectivity"] = float(random.choice([0.5, 2.0]))
        if random.random() < 0.4:
            made["input_share"] = _pick(random, [1.0, 2.0, 5.0], size)
        if random.random() < 0.4:
            made["inputs"] = "correlated"
        if random.random() < 0.15:
            made["output"] = True
        if random.random() < 0.5:
            made["priority"] = [int(x) for x in random.integers(1, 6, size)]
        if random.random() < 0.5:
            made["state_bytes"] = [float(x) * MB for x in random.integers(0, 4, size)]
        operators.append(made)
    return _document("topology", operators=operators, edges=edges)


def _document(kind: str, **body: Any) -> Document:
    return {"format": f"ftplan/{kind}", "format_version": FORMAT_VERSION, **body}


def _edge(random: np.random.Generator, senders: int, receivers: int) -> dict[str, Any]:
    kind = random.random()
    if kind < 0.2:
        pairs = {(i, i * receivers // senders) for i in range(senders)}
        pairs |= {(j * senders // receivers, j) for j in range(receivers)}
        pairs |= {(i, j) for i in range(senders) for j in range(receivers) if random.random() < 0.3}
        return {"substreams": [[i, j, float(random.choice([0.5, 1.0, 2.5]))] for i, j in sorted(pairs)]}
    if kind < 0.5:
        return {"partitioning": "full"}
    return {"partitioning": "one-to-one" if senders == receivers else "split" if senders < receivers else "merge"}


def _cluster(random: np.random.Generator, topology: Document, max_cpu: float) -> Document:
    job, count = SlowJob(topology), int(random.integers(2, 5))
    ids = [f"n{k + 1}" for k in range(count)]
    taking = ids if count == 2 or random.random() < 0.8 else ids[1:]
    placed = {task: str(random.choice(taking)) for task in job.tasks}
    zones: list[str | None] = [None if random.random() < 0.4 else str(random.choice(["a", "b", "c"])) for _ in ids]
    if random.random() < 0.15:
        zones = ["a"] * count
    nodes = []
    for id, zone in zip(ids, zones, strict=True):
        cores = sum(job.number(task, "cpu", 1.0) for task in job.tasks if placed[task] == id)
        used = float(random.choice([0.0, 0.5, 1.6]))
        room = float(random.choice([0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0]))
        node: dict[str, Any] = {"id": id, "cpu": max(0.125, (cores + used + room) / max_cpu), "used_cpu": used}
        if zone is not None:
            node["zone"] = zone
        if random.random() < 0.4:
            mb = sum(job.number(task, "state_bytes", 0.0) for task in job.tasks if placed[task] == id) / MB
            node["memory_mb"] = max(1.0, mb + float(random.choice([0.0, 1.0, 2.0, 5.0])))
        if id not in taking:
            node["accepts"] = ["checkpoints"]
        nodes.append(node)
    by_operator = {id: [placed[id, k] for k in range(job.parallelism(id))] for id in job.operators}
    return _document("cluster", nodes=nodes, placement={"tasks": by_operator})


def _failure(
    random: np.random.Generator, topology: Document, cluster: Document, options: dict[str, Any]
) -> Document | None:
    """Return a failure file or None; what ``--fail`` names goes into the options."""
    kind = random.random()
    if kind < 0.25:
        return None
    job = SlowJob(topology)
    selectors = [f"node:{node['id']}" for node in cluster["nodes"]] * 2
    selectors += [f"zone:{node['zone']}" for node in cluster["nodes"] if "zone" in node] * 2
    selectors += [f"operator:{id}" for id in job.operators] + [f"task:{id}/{k}" for id, k in job.tasks]

    def some() -> list[str]:
        return [str(x) for x in random.choice(selectors, int(random.integers(1, 3)))]

    if kind < 0.45:
        options["fail"] = some()
        return None
    if kind < 0.55:
        options["fail"] = some()
        return _document("failure", fail=[{"at_s": 5, "select": name} for name in some()])
    if kind < 0.6:
        options["worst_case"] = True
    if kind > 0.9:
        options["fail"] = some()
    scenarios = [
        {"id": f"s{k}", "probability": float(random.choice([0.01, 0.02, 0.1, 0.5])), "fail": some()}
        for k in range(int(random.integers(2, 5)))
    ]
    return _document("failure", scenarios=scenarios)

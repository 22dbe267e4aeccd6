"""Rebalances by inputs and options alone: what moves cost, and which rules they keep.

Knows the file formats, and nothing of the package.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

MB = 2**20
PROTOCOLS = ("cpa", "cpal", "lazy", "direct", "recover", "fetch")
ASSISTED, AFTER_LOSS = {"cpa", "cpal", "recover"}, {"recover", "fetch"}
CRITERIA = ("latency", "completion", "bytes")
ROUNDING = 1e-9

Move = tuple[int, int, str]


class Cost(NamedTuple):
    latency_s: float
    completion_s: float
    bytes: float
    link_s: float


def at_most(value: float, limit: float) -> bool:
    return bool(value <= limit + ROUNDING * max(abs(value), abs(limit)) + 1e-12)


class Oracle:
    """A question of key groups k on nodes n, both by number; *fill* is how far below its share an added node may be."""

    def __init__(self, documents: dict[str, Any], asked: dict[str, Any], fill: float | None = None) -> None:
        self.asked, self.cluster, self.edges = asked, documents["cluster"], documents["topology"]["edges"]
        nodes = sorted(self.cluster["nodes"], key=lambda node: int(node["id"][1:]))
        self.ids = [node["id"] for node in nodes]
        self.N = range(len(nodes))
        self.zone = [node.get("zone", f"only {node['id']}") for node in nodes]
        self.domain = self.zone if asked.get("anti_affinity") == "zone" else self.ids
        self.removed = [name in asked.get("remove", []) for name in self.ids]
        self.added = [name in asked.get("add", []) for name in self.ids]
        takes = [set(node.get("accepts", ["tasks", "checkpoints"])) for node in nodes]
        self.hosts = ["tasks" in takes[n] and not self.removed[n] for n in self.N]
        self.keeps = ["checkpoints" in takes[n] and not self.removed[n] for n in self.N]
        self.memory = [node.get("memory_mb", math.inf) * MB for node in nodes]
        self.within, self.most_pause = asked.get("within_s"), asked.get("max_pause_s")
        self._groups(documents)
        self.protocols: Sequence[str] = ("cpa",) if self.remote else PROTOCOLS[:4]
        if asked.get("protocol", "auto") != "auto":
            self.protocols = (asked["protocol"],)
        per_core = asked["capacity_per_core"] * 60.0
        cpu = np.array([node["cpu"] for node in nodes])
        self.foreign = np.array([node.get("used_cpu", 0.0) for node in nodes]) * per_core
        self.ceiling = asked.get("overload", 0.85) * cpu * per_core
        self._even(cpu, fill)
        self.start = self.loads(self.home)
        self.transient = np.maximum(self.ceiling, self.start)
        self.used = self.bytes_on(self.home, self.copies)

    def _groups(self, documents: dict[str, Any]) -> None:
        """Read what key groups load, where they are, and what their moves cost."""
        asked, rows = self.asked, documents["stats"]["key_groups"]
        windows, placement = documents["stats"]["manifest"]["windows"], self.cluster["placement"]
        self.names: list[tuple[str, int]] = []
        self.task: list[tuple[str, int]] = []
        self.home: list[int] = []
        self.copies: list[list[int]] = []
        self.costs: list[dict[str, Cost]] = []
        loads, states, catch_up = [], [], []
        self.record_bytes: dict[str, float] = {}
        self.remote = asked.get("costs", {}).get("state") == "remote"
        for operator in sorted(documents["topology"]["operators"], key=lambda item: str(item["id"])):
            count, name = operator.get("key_groups", 0), operator["id"]
            mine = rows[rows["operator"] == name]
            total = float(mine["records"].sum())
            record_s = float(mine["cpu_ms"].sum()) / total / 1000.0 if total else operator.get("record_time_s", 0.0)
            self.record_bytes[name] = float(mine["bytes"].sum()) / total if total else 0.0
            tasks = [g * operator["parallelism"] // count for g in range(count)]
            for g in range(count):
                seen = mine[mine["key_group"] == g]
                load = float(seen["records"].sum()) / windows
                stated = operator["state_bytes"] / tasks.count(tasks[g])
                state = float(seen["state_bytes"].max()) if len(seen) else stated
                self.names.append((name, g))
                self.task.append((name, tasks[g]))
                self.home.append(self.ids.index(placement["key_groups"][name][g]))
                self.copies.append(sorted(self.ids.index(node) for node in placement["checkpoints"][name][g]))
                rho = max(load / 60.0 * record_s, 0.5 if "costs" in asked else 0.0)  # 100 of 200 records a second
                catch_up.append(1.0 / (1.0 - rho))
                self.costs.append(self._costs(load / 60.0, rho, state, self.record_bytes[name], operator["checkpoint"]))
                loads.append(load)
                states.append(state)
        self.load, self.state, self.catch_up = np.array(loads), np.array(states), catch_up

    def _costs(self, rate: float, rho: float, state: float, size: float, checkpoint: Any) -> dict[str, Cost]:
        network, stretch = self.cluster["network"], 1.0 / (1.0 - rho)
        speed, serial = network["bandwidth_mb_s"] * MB, self.asked.get("serialisation", math.inf) * MB
        parts = {k: v["value"] for k, v in self.asked.get("costs", {}).get("parameters", {}).items()}
        delay, restart = network["delay_s"], parts.get("restart_s", 0.0)
        queue, detection = self.asked.get("queue_s", delay), parts.get("detection_s", 0.0)
        age = checkpoint["interval_s"] * parts.get("replay_share", 1.0)
        replayed = 0.0 if self.remote else rate * age * size
        replay = replayed / speed + (age * rho if rate else 0.0)
        fetched, sent = state / speed + state / serial, state / speed + 2.0 * state / serial
        loading = state / speed if self.remote else 0.0
        cpa = delay + (restart + loading + replay) * stretch
        pause = queue * stretch
        costs = {
            "cpa": Cost(cpa, cpa, replayed, replayed / speed),
            "cpal": Cost(pause, max(pause, cpa + 2.0 * (delay + queue)), replayed, replayed / speed),
            "recover": Cost(cpa + detection * stretch, cpa + detection * stretch, replayed, replayed / speed),
        }
        if self.remote:
            return costs
        direct, fetch = delay + (restart + sent) * stretch, cpa + (detection + fetched) * stretch
        costs["direct"] = Cost(direct, direct, state, sent)
        costs["fetch"] = Cost(fetch, fetch, replayed + state, replayed / speed + fetched)
        if checkpoint["kind"] == "full":
            later = rate * sent * size
            lazy = delay + (restart + later / speed + (sent * rho if rate else 0.0)) * stretch
            costs["lazy"] = Cost(lazy, lazy + checkpoint["interval_s"] + sent, later, later / speed)
        return costs

    def _even(self, cpu: Any, fill: float | None) -> None:
        able = [self.hosts[n] or self.removed[n] for n in self.N]
        total = sum(load for load, n in zip(self.load, self.home, strict=True) if able[n])
        total += self.foreign[self.hosts].sum()
        fair = np.where(self.hosts, cpu, 0.0) * total / cpu[self.hosts].sum()
        near = self.asked.get("tolerance", "auto")
        self.upper, self.lower = self.ceiling.copy(), np.full(len(cpu), -np.inf)
        if not isinstance(near, str):
            self.upper = np.where(self.hosts, np.minimum(self.ceiling, (1.0 + near) * fair), self.ceiling)
            self.lower = np.where(self.hosts, (1.0 - near) * fair, -np.inf)
        elif near == "auto" and fill is not None:
            self.lower = np.where(self.added, (1.0 - fill) * fair, -np.inf)

    def traffic(self) -> Any:
        """Return the price of each group on each node, its neighbours staying, (K, N)."""
        price = self.asked.get("cross_zone_cost")
        table = np.zeros((len(self.load), len(self.ids)))
        for edge in self.edges if price else ():
            size = self.record_bytes[edge["to"]] / MB
            for a, b, rate in edge["substreams"] if size else ():
                for end, other in (((edge["from"], a), (edge["to"], b)), ((edge["to"], b), (edge["from"], a))):
                    for k, part in self._parts(end):
                        here = [1.0 - self._share(other, self.zone[n]) for n in self.N]
                        table[k] += price * part * rate * size * np.array(here)
        return table

    def _parts(self, task: tuple[str, int]) -> list[tuple[int, float]]:
        """Return the key groups of a task, each with its share of the task's records."""
        mine = [k for k, own in enumerate(self.task) if own == task]
        total = sum(self.load[k] for k in mine)
        return [(k, self.load[k] / total if total else 1.0 / len(mine)) for k in mine]

    def _share(self, task: tuple[str, int], zone: str) -> float:
        parts = self._parts(task)
        if not parts:
            return float(self.zone[self.ids.index(self.cluster["placement"]["tasks"][task[0]][task[1]])] == zone)
        return sum(part for k, part in parts if self.zone[self.home[k]] == zone)

    def loads(self, place: Sequence[int]) -> Any:
        return self.foreign + np.bincount(place, self.load, minlength=len(self.ids))

    def bytes_on(self, place: Sequence[int], copies: Sequence[Sequence[int]]) -> Any:
        used = np.bincount(place, self.state, minlength=len(self.ids))
        for k, held in enumerate(copies):
            used[list(held)] += self.state[k]
        return used

    def copies_after(self, k: int, target: int | None, protocol: str | None) -> list[int]:
        """Return the usable copies: the old host keeps the freshest, and none is near the group or a fresher one."""
        if target is None:
            return [n for n in self.copies[k] if self.keeps[n]]
        left: list[int] = []
        for n in [*([] if protocol in AFTER_LOSS else [self.home[k]]), *self.copies[k]]:
            apart = all(self.domain[n] != self.domain[m] for m in (target, *left))
            if self.keeps[n] and apart and len(left) < len(self.copies[k]):
                left.append(n)
        return left

    def able(self, k: int, target: int) -> list[str]:
        """Return the protocols by which a group can come to a node, alone."""
        lost = self.within is not None and self.removed[self.home[k]]
        near = self.remote or target in self.copies[k]
        kept = any(not self.removed[n] for n in self.copies[k])
        names = []
        for name in PROTOCOLS if self.hosts[target] and target != self.home[k] else ():
            if name not in self.costs[k] or (name in ASSISTED and not near):
                continue
            if name in AFTER_LOSS:
                good = lost and (name == "recover" or (kept and not near))
            else:
                good = name in self.protocols
                good = good and (not lost or at_most(self.costs[k][name].completion_s, self.within))
            if good and (self.most_pause is None or at_most(self.costs[k][name].latency_s, self.most_pause)):
                names.append(name)
        return names

    def value(self, moves: Iterable[Move]) -> float:
        table = self.traffic()
        total = sum(table[k, n] for k, n in enumerate(self.home))
        row = CRITERIA.index(self.asked["objective"])
        return float(
            total + sum(self.costs[k][name][row] + table[k, n] - table[k, self.home[k]] for k, n, name in moves)
        )

    def keeps_rules(self, moves: Sequence[Move]) -> bool:
        """Return whether all rules hold afterwards."""
        by_group = {k: (n, name) for k, n, name in moves}
        place = [by_group.get(k, (n, ""))[0] for k, n in enumerate(self.home)]
        copies = [self.copies_after(k, *by_group.get(k, (None, None))) for k in range(len(place))]
        load, used = self.loads(place), self.bytes_on(place, copies)
        for n in self.N:
            even = at_most(load[n], self.upper[n]) and at_most(self.lower[n], load[n])
            fits = at_most(used[n], self.memory[n]) or at_most(used[n], self.used[n])
            if (n in place) if self.removed[n] else not (even and fits):
                return False
        size = sum(self.costs[k][name].bytes for k, _, name in moves)
        return len(moves) <= self.asked.get("max_moves", math.inf) and at_most(
            size, self.asked.get("max_bytes", math.inf)
        )

    def served(self, moves: Sequence[Move]) -> tuple[list[float], list[float]]:
        """Return the pause and the end of moves that begin together, served in turn on each link."""
        into: dict[int, float] = defaultdict(float)
        out: dict[int, float] = defaultdict(float)
        pauses, ends = [], []
        for k, target, name in moves:
            cost, wait = self.costs[k][name], 0.0
            if cost.link_s > 0.0:
                source = self.home[k] if name == "direct" else None
                if name == "fetch":
                    source = min((n for n in self.copies[k] if not self.removed[n]), key=lambda n: (out[n], n))
                wait = max(into[target], 0.0 if source is None else out[source])
                into[target] = wait + cost.link_s
                if source is not None:
                    out[source] = wait + cost.link_s
            late = wait * self.catch_up[k]
            pauses.append(cost.latency_s + (0.0 if name == "cpal" else late))
            ends.append(cost.completion_s + late)
        return pauses, ends

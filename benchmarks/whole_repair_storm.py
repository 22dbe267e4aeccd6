"""The whole repair on production Storm topologies: a rack lost, ten nodes to come, state to fetch.

Run from the project's root: ``python benchmarks/whole_repair_storm.py FOLDER [--time-limit 30] [--first 40] [--all]``.
FOLDER holds one JSON file a topology, as for recovery_storm.py, whose 40 topologies, loads and priorities these are.
Prints a Markdown table of priority × seconds down: how much less ``auto`` loses than the step-by-step plan of the same
one-step solver, than blocking recovery and than PyJobShop (one worker, the same time limit; the model is
tests/planners/recovery_schedule/algorithms/repair_peer.py), and its gap to the bound that it proves.

Tasks lie round robin on 20 equal nodes in four racks of five that were used to 70 %; rack 0 is lost, survivors take
work up to 80 %. Ten replacements come 2 to 6 minutes after the failure (Su & Zhou, figure 7) whose cores, uniform
within a factor of three, add up to 1.1 × what does not fit on the survivors. State is lognormal around 1 GiB a task
(sigma 0.5), fetched at 100 MiB/s into each node, one restore at a time. The horizon is twice the last arrival.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from recovery_storm import MOST_USED, NODES, TOPOLOGIES, USED, topology_of

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import blocking
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.planners.recovery_schedule.algorithms.repair_peer import by_pyjobshop

RACK, ARRIVALS, STATE, BANDWIDTH = 5, 10, 2.0**30, 100 * 2.0**20


def lost_rack(topology: Topology, seed: int, lanes: int = 1) -> RecoveryProblem:
    """Return the loss of the first rack, with ten replacements to come."""
    random = np.random.default_rng(seed)
    graph = TaskGraph(topology)
    cost = graph.per_task("cpu")
    node = np.arange(graph.tasks) % NODES
    failed = node < RACK
    live = NODES - RACK
    cores = float(cost.sum()) / USED / NODES
    used = np.bincount(node, cost, minlength=NODES)[RACK:]
    room = np.maximum(0.0, MOST_USED * cores - used)
    missing = max(0.0, float(cost[failed].sum()) - float(room.sum()))
    at = np.sort(random.uniform(120.0, 360.0, ARRIVALS))
    coming = random.uniform(0.5, 1.5, ARRIVALS)
    coming *= 1.1 * missing / coming.sum()
    return RecoveryProblem(
        graph,
        cost,
        failed,
        np.where(failed, -1, node - RACK),
        np.full(graph.tasks, -1, dtype=np.int64),
        tuple(Host(f"n{k}", float(free)) for k, free in enumerate((*room, *coming))),
        live_hosts=live,
        arrivals=tuple(ArrivalEvent(float(when), live + k, (float(when),) * 2) for k, when in enumerate(at)),
        state_bytes=STATE * random.lognormal(0.0, 0.5, graph.tasks),
        bandwidth_bytes_s=BANDWIDTH,
        restores_at_once=lanes,
        horizon_s=2.0 * float(at[-1]),
        failed_nodes=RACK,
    )


@dataclass
class Asked:
    """What the peer was asked and answered, kept while its answer is carried out."""

    time_limit_s: float
    bound: float = 0.0
    proven: bool = False
    answered: bool = False

    def __call__(self, instance: RepairInstance, budget: Budget, seed: int) -> RepairPlacement:
        peer = by_pyjobshop(instance, self.time_limit_s)
        self.bound, self.proven, self.answered = peer.bound, peer.proven, peer.placement is not None
        count = len(instance.task)
        return peer.placement or RepairPlacement(np.full(count, NOWHERE, dtype=np.int64), np.arange(count))


def value(result: Result[Schedule], problem: RecoveryProblem) -> float:
    """Return priority × seconds down, that of no recovery at all where there is no schedule."""
    return priority_time_of(nothing_recovered(problem) if result.answer is None else result.answer, problem)


@dataclass(frozen=True)
class Row:
    """What the ways to recover lose after one failure, in priority × seconds."""

    name: str
    tasks: int
    failed: int
    whole: float
    bound: float
    by_step: float
    blocked: float
    peer: float | None
    peer_bound: float
    peer_proven: bool
    seconds: float

    @property
    def gap(self) -> float:
        return 0.0 if self.whole <= self.bound else (self.whole - self.bound) / max(self.whole, 1e-9)

    def gain(self, other: float | None) -> float | None:
        return None if other is None else 1.0 - self.whole / max(other, 1e-9)

    def __str__(self) -> str:
        peer = "none in time" if self.peer is None else f"{self.peer:,.0f}"
        return (
            f"| {self.name} | {self.tasks:,} | {self.failed:,} | {self.whole:,.0f} | {self.bound:,.0f} | "
            f"{self.gap:.2%} | {self.by_step:,.0f} | {self.blocked:,.0f} | {peer} | "
            f"{self.peer_bound:,.0f} | {self.seconds:.1f} |"
        )


def measure(topology: Topology, seed: int, time_limit_s: float, lanes: int) -> Row:
    """Plan the recovery of a topology in each way."""
    problem = lost_rack(topology, seed, lanes)
    options = RecoveryOptions(objective="priority-time", time_limit_s=time_limit_s)
    auto = registry.load(registry.row("recovery-schedule", "auto"))
    began = time.perf_counter()
    whole: Result[Schedule] = auto(problem, options)
    seconds = time.perf_counter() - began
    by_step = auto(problem, replace(options, objective="priority"))
    blocked = construct_schedule(problem, replace(options, objective="priority"), blocking)
    asked = Asked(time_limit_s)
    peer = construct_schedule(problem, options, WholeRepairPolicy(asked))
    return Row(
        topology.name or "",
        problem.graph.tasks,
        int(problem.failed.sum()),
        value(whole, problem),
        whole.bound or 0.0,
        value(by_step, problem),
        value(blocked, problem),
        value(peer, problem) if asked.answered else None,
        asked.bound,
        asked.proven,
        seconds,
    )


def summary(rows: list[Row], lanes: int) -> str:
    """Return the line of all topologies."""
    answered = [row for row in rows if row.peer is not None]
    gains = [[row.gain(other) or 0.0 for row, other in pairs] for pairs in (
        [(row, row.by_step) for row in rows],
        [(row, row.blocked) for row in rows],
        [(row, row.peer) for row in answered],
    )]  # fmt: skip
    told = " | ".join(f"{np.mean(each):.1%} | {min(each):.1%}" if each else "– | –" for each in gains)
    gaps = [row.gap for row in rows]
    return (
        f"| {lanes} | {len(rows)} | {told} | {len(rows) - len(answered)} | {np.median(gaps):.2%} | "
        f"{np.mean(gaps):.2%} | {max(gaps):.2%} | {sum(gap <= 1e-9 for gap in gaps)} | "
        f"{sum(row.peer_proven for row in rows)} | {max(row.seconds for row in rows):.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_STORM_TOPOLOGIES"))
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--first", type=int, default=TOPOLOGIES, help="so many topologies, the largest first")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1])
    parser.add_argument("--all", action="store_true", help="a row for each topology")
    options = parser.parse_args()
    if options.folder is None or not Path(options.folder).is_dir():
        print("Not run: needs the folder of the topologies.")
        return
    read = [topology_of(path, i) for i, path in enumerate(sorted(Path(options.folder).glob("*.json")))]
    large = sorted((t for t in read if t is not None), key=lambda t: (-t.task_count, t.name or ""))
    print(f"{len(read) - len(large)} of {len(read)} files left out: empty or too small.", file=sys.stderr)
    found = large[: options.first]
    lines, listed = [], []
    for lanes in options.lanes:
        rows = []
        for seed, topology in enumerate(found):
            rows.append(measure(topology, seed, options.time_limit, lanes))
            print(rows[-1], file=sys.stderr, flush=True)
        lines.append(summary(rows, lanes))
        listed += [str(row) for row in rows] if options.all else []
    print(
        "| restores at once | topologies | less lost than step by step, mean | least | than blocking, mean | least | "
        "than PyJobShop, mean | least | no answer of PyJobShop in time | gap, median | mean | largest | proved | "
        "proved by PyJobShop | slowest s |\n" + "|---" * 15 + "|"
    )
    print("\n".join(lines), flush=True)
    if listed:
        print(
            "\n| topology | tasks | failed | auto | bound | gap | step by step | blocking | PyJobShop | its bound | "
            "seconds |\n" + "|---" * 11 + "|"
        )
        print("\n".join(listed))


if __name__ == "__main__":
    main()

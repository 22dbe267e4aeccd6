"""Active replicas in clusters, choice and placement as one problem: exact, structure-aware and the plain program.

Run from the project's root: ``python benchmarks/replication_joint.py [FOLDER] [--time-limit 60] [--aware-limit 10]
[--topologies 40] [--loads 0.6 0.8 0.95] [--failures racks all] [--budget 25%] [--only example production]
[--peer-always]``; the folder
may also stand in the environment as ``FTPLAN_STORM_TOPOLOGIES``. Prints Markdown tables.

*example*: ``examples/storm-recovery`` with its three racks' scenarios; then with other cores in use on each node, drawn
from 0.3 to 1.6, and 30 replicas. *production*: the topologies of ``replication_storm.py`` (full edges). An operator's
tasks take 0.25, 0.5, 1 or 2 cores each. N nodes with equal cores in 20 zones; N is what nodes of 16 cores need, at
least 20, but fewer where a node would not hold two of the largest tasks. Load is the primaries' cores over the usable
ones (80 % of all); the largest tasks are placed first, each on a random node with room. Either each zone fails in a
scenario of its own, of unequal probability, or all tasks fail at once. The budget is a share of the tasks.

The plain program (``replication_peer.py``) is solved by SCIP, one thread, in the same time as exact; on the production
topologies only where exact has no proof, unless ``--peer-always`` is given: nothing is above a proven optimum. All
plans are held to ``verify``.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from replication_peer import Answer, instance_of, plain_program
from replication_storm import TOPOLOGIES, topology_of

import ftplan
from ftplan.api import verify
from ftplan.generators.cluster import by_room
from ftplan.model.topology import Topology

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "storm-recovery"
#: Cores of a node, the share of them that may be used, zones, and cores that a task may take.
CORES, MAX_CPU, ZONES, SIZES = 16.0, 0.8, 20, (0.25, 0.5, 1.0, 2.0)
#: A gap that counts as closed, and what a comparison ignores.
CLOSED, SAME = 0.01, 1e-9


@dataclass(frozen=True)
class Run:
    """What the planners made of one instance."""

    name: str
    tasks: int
    exact: ftplan.Plan
    exact_s: float
    aware: ftplan.Plan
    aware_s: float
    plain: Answer | None
    asked_plain: bool

    @property
    def best(self) -> float:
        """The most that anybody reached."""
        return max(value(self.exact), value(self.aware), self.plain.value if self.plain else 0.0)

    @property
    def bound(self) -> float:
        """The bound of exact."""
        return 1.0 if self.exact.objective is None else self.exact.objective.bound

    @property
    def gap(self) -> float:
        """The gap of exact, against its value."""
        return (self.bound - value(self.exact)) / max(value(self.exact), SAME)

    @property
    def closeness(self) -> float:
        """What structure-aware reaches of the best known."""
        return value(self.aware) / self.best if self.best > 0.0 else 1.0

    @property
    def below_plain(self) -> bool:
        """Whether exact found less than the plain program."""
        return self.plain is not None and value(self.exact) < self.plain.value - 1e-7


def value(plan: ftplan.Plan) -> float:
    return 0.0 if plan.objective is None or plan.objective.value is None else plan.objective.value


def document(kind: str, **body: Any) -> dict[str, Any]:
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **body}


def cluster_of(parallelism: dict[str, int], cpu: dict[str, float], load: float, random: np.random.Generator) -> Any:
    """Return a cluster document in which the primaries take a share of the usable cores."""
    need = np.concatenate([np.full(n, cpu[id]) for id, n in parallelism.items()])
    total = float(sum(need.tolist()))
    usable = MAX_CPU * CORES
    count = max(ZONES, math.ceil(total / load / usable))
    count = max(2, min(count, int(total / load / (2.0 * max(cpu.values())))))
    cores = total / load / count
    host = by_room(need, np.lexsort((random.random(len(need)), -need)), np.full(count, cores), random)
    parts = np.split(host, np.cumsum(list(parallelism.values()))[:-1])
    placed = {id: [f"n{n}" for n in part.tolist()] for id, part in zip(parallelism, parts, strict=True)}
    cpu_of_node = round(cores / MAX_CPU, 9)
    nodes = [{"id": f"n{k}", "cpu": cpu_of_node, "zone": f"z{k % ZONES}"} for k in range(count)]
    return document("cluster", nodes=nodes, placement={"tasks": placed})


def racks(cluster: Any, random: np.random.Generator) -> Any:
    """Return a failure document with a scenario for each zone."""
    zones = sorted({node["zone"] for node in cluster["nodes"]})
    scenarios = [
        {"id": zone, "probability": round(float(random.uniform(0.005, 0.02)), 4), "fail": [f"zone:{zone}"]}
        for zone in zones
    ]
    return document("failure", scenarios=scenarios)


def production(topology: Topology, load: float, failure: str) -> ftplan.Problem:
    """Return a topology in a cluster; the same one for the same name and load."""
    random = np.random.default_rng([int(100 * load), *(topology.name or "").encode()])
    parallelism = {operator.id: operator.parallelism for operator in topology.operators}
    cpu = {id: float(random.choice(SIZES)) for id in parallelism}
    operators = []
    for item in topology.operators:
        made: dict[str, Any] = {"id": item.id, "parallelism": item.parallelism, "cpu": cpu[item.id]}
        for key in ("rate_out", "input_share"):
            if getattr(item, key) is not None:
                made[key] = getattr(item, key).tolist()
        operators.append(made)
    ids = list(parallelism)
    edges = [{"from": ids[e.source], "to": ids[e.target], "partitioning": "full"} for e in topology.edges]
    cluster = cluster_of(parallelism, cpu, load, random)
    scenarios = racks(cluster, random) if failure == "racks" else None
    return ftplan.load(
        topology=document("topology", operators=operators, edges=edges), cluster=cluster, failure=scenarios
    )


class NoRoomError(Exception):
    """No node has room for any replica: there is nothing to choose."""


def run(
    name: str, problem: ftplan.Problem, time_limit_s: float, aware_limit_s: float, always: bool = True, **budget: Any
) -> Run:
    """Ask all of them; the plain program only where it may win, or *always*."""
    assert problem.topology is not None

    def ask(algorithm: str, limit_s: float) -> tuple[ftplan.Plan, float]:
        began = time.perf_counter()
        plan = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, time_limit_s=limit_s, **budget)
        seconds = time.perf_counter() - began
        if plan.infeasible is not None and plan.infeasible.limit == "room on a node":
            raise NoRoomError(f"{name}: no replica finds a node")
        assert plan.status in ("optimal", "feasible"), (name, algorithm, plan.status, plan.reason)
        assert verify(plan, problem).violations == (), (name, algorithm, verify(plan, problem).violations)
        return plan, seconds

    tasks = problem.topology.task_count
    asked = budget.get("budget", tasks)
    number = int(float(asked[:-1]) * tasks / 100 + SAME) if isinstance(asked, str) else asked
    exact, exact_s = ask("exact", time_limit_s)
    aware, aware_s = ask("structure-aware", aware_limit_s)
    needed = always or exact.status != "optimal"
    plain = plain_program(instance_of(problem), number, budget.get("budget_cpu"), time_limit_s) if needed else None
    return Run(name, tasks, exact, exact_s, aware, aware_s, plain, needed)


def rows(runs: list[Run]) -> None:
    print(
        "| instance | tasks | exact | bound | gap | seconds | structure-aware | of the best | seconds | "
        "plain program | its gap | its seconds |\n|---" + "|--:" * 11 + "|"
    )
    for item in runs:
        plain = "too large | | |" if item.asked_plain else "not asked | | |"
        if item.plain is not None:
            gap = (item.plain.bound - item.plain.value) / max(item.plain.value, SAME)
            plain = f"{item.plain.value:.6g} | {min(gap, 99.99):.2%} | {item.plain.seconds:.1f} |"
        print(
            f"| {item.name} | {item.tasks:,} | {value(item.exact):.6g} | {item.bound:.6g} | {min(item.gap, 99.99):.2%} "
            f"| {item.exact_s:.1f} | {value(item.aware):.6g} | {item.closeness:.1%} | {item.aware_s:.1f} | {plain}",
            flush=True,
        )


def example(time_limit_s: float, aware_limit_s: float, seeds: int) -> Iterator[Run]:
    """Yield the example with several budgets, and with other cores in use."""
    files = {name: yaml.safe_load((EXAMPLE / f"{name}.yaml").read_text()) for name in ("topology", "cluster", "racks")}
    problem = ftplan.load(topology=files["topology"], cluster=files["cluster"], failure=files["racks"])
    for budget in ({"budget": 5}, {"budget": 10}, {"budget": 20}, {"budget": 30}, {"budget_cpu": 1.9}):
        (unit, number), *_ = budget.items()
        yield run(f"{number} {'cores' if unit == 'budget_cpu' else 'replicas'}", problem, time_limit_s, aware_limit_s,
                  **budget)  # fmt: skip
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        nodes = [{**node, "used_cpu": round(float(random.uniform(0.3, 1.6)), 2)} for node in files["cluster"]["nodes"]]
        other = ftplan.load(
            topology=files["topology"], cluster={**files["cluster"], "nodes": nodes}, failure=files["racks"]
        )
        yield run(f"30 replicas, other cores in use {seed}", other, 25.0, aware_limit_s, budget=30)


def summary(name: str, runs: list[Run]) -> str:
    """Return a row on all topologies of one setting."""
    proven, closed = (sum(x) for x in zip(*((r.exact.status == "optimal", r.gap <= CLOSED) for r in runs), strict=True))
    seconds, close = [r.exact_s for r in runs], [r.closeness for r in runs]
    built, below = sum(r.plain is not None for r in runs), sum(r.below_plain for r in runs)
    plain = sum(r.plain is not None and r.plain.bound <= r.plain.value * (1.0 + CLOSED) + SAME for r in runs)
    gaps = [r.gap for r in runs]
    return (
        f"| {name} | {len(runs)} | {proven} | {closed / len(runs):.0%} | {np.median(seconds):.1f} | "
        f"{max(seconds):.1f} | {np.median(gaps):.2%} | {min(99.99, max(gaps)):.2%} | {below} of {built} | {plain} | "
        f"{min(close):.1%} | {sum(x >= 0.97 for x in close)} | {max(r.aware_s for r in runs):.1f} |"
    )


def run_production(folder: Path, given: argparse.Namespace) -> None:
    read = [topology_of(path) for path in sorted(folder.glob("*.json"))]
    found = sorted(read, key=lambda t: (-t.task_count, t.name or ""))[:TOPOLOGIES]
    step = max(1.0, len(found) / given.topologies)
    some = [found[int(k * step)] for k in range(min(given.topologies, len(found)))]
    print(
        "\n| load, what fails | topologies | proven | gap ≤ 1 % | median s | slowest s | median gap | largest gap | "
        "below the plain program | plain with gap ≤ 1 % | structure-aware, least of the best | at least 97 % | "
        "slowest s |\n|---" + "|--:" * 12 + "|"
    )
    every = []
    for load in given.loads:
        for failure in given.failures:
            runs = []
            for topology in some:
                name = f"{topology.name}, {load:.0%}, {failure}"
                asked = production(topology, load, failure), given.time_limit, given.aware_limit, given.peer_always
                try:
                    runs.append(run(name, *asked, budget=given.budget))
                except NoRoomError as error:  # counted by no column
                    print(error, file=sys.stderr)
            print(summary(f"{load:.0%}, {failure}", runs), flush=True)
            every += runs
    print()
    rows(every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_STORM_TOPOLOGIES"))
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--aware-limit", type=float, default=10.0)
    parser.add_argument("--topologies", type=int, default=TOPOLOGIES, help="fewer are taken evenly, from the largest")
    parser.add_argument("--loads", type=float, nargs="+", default=[0.6, 0.8, 0.95])
    parser.add_argument("--failures", nargs="+", default=["racks", "all"], choices=["racks", "all"])
    parser.add_argument("--budget", default="25%")
    parser.add_argument("--peer-always", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=["example", "production"], choices=["example", "production"])
    given = parser.parse_args()
    if "example" in given.only:
        rows(list(example(given.time_limit, given.aware_limit, given.seeds)))
    if "production" in given.only:
        if given.folder is None or not Path(given.folder).is_dir():
            print("\nProduction topologies: not run, needs their folder.")
            return
        run_production(Path(given.folder), given)


if __name__ == "__main__":
    main()

"""What real bursts of failures cost: priority × seconds down, mean and tail, by algorithm.

Run from the project's root: ``python benchmarks/bursts.py [--draws 1000] [--iterations 2] [--time-limit 60]``. Prints
two Markdown tables. ``--extract FOLDER`` writes ssd_bursts.csv anew from Alibaba's SSD failure log instead
(FOLDER/ssd_failures.csv.gz, named by FTPLAN_FAILURES).

A burst is what fails in one rack within 30 minutes of a first failure there, at least two nodes; the log has 384 of 2
to 42 nodes. Each draw takes one of them, all alike probable, and a job: six racks as large as the burst needs, four
nodes at least, with ten tasks a node, placed in turn, which use 70 % of the cores. Queries of 3 to 8 tasks share them
as in recovery_priority_time.py; priorities are 1 to 10. Survivors take work up to 80 %. Failures within ten seconds are
one, as a heartbeat timeout would see them; later ones strike while the repair is under way, unforeseen. Each failed
node is replaced by one as large after 2 to 6 minutes (Su & Zhou, figure 7). State is lognormal around 1 GiB a task
(sigma 0.5), fetched at 100 MiB/s into each node, one restore at a time. A query that is not back by twice the last
arrival counts as down until then.

``auto`` plans for priority × time, with so many rounds of search; ``best-density`` and ``operator-centric`` go step by
step for the priority of each step, as [SuZhouTR] has them; blocking waits until everything fits.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from instances import popular_queries

from ftplan.model.failure import FailureEvent
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import blocking
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

BURSTS = Path(__file__).resolve().parent / "ssd_bursts.csv"
WITHIN_S, HEARTBEAT_S = 1800, 10
RACKS, LEAST_NODES, TASKS_A_NODE, USED, MOST_USED = 6, 4, 10, 0.7, 0.8
STATE, BANDWIDTH = 2.0**30, 100 * 2.0**20
SOURCE = (
    "# Bursts of failures in one rack: seconds from the first failure to that of each node. Derived from Alibaba's SSD",
    "# failure log (alibaba-edu/dcbrain at e89a310, ssd_open_data/ssd_failure_tag.csv, FAST 2021, Apache-2.0).",
)


class Burst(NamedTuple):
    """What failed in a rack: when the first node did, and seconds from then for each node."""

    rack: str
    began: str
    seconds: tuple[int, ...]


def extracted(folder: Path) -> Iterator[Burst]:
    """Yield the bursts of the log by rack and time."""
    with gzip.open(folder / "ssd_failures.csv.gz", "rt") as file:
        rows = sorted((r["rack_id"], r["failure_time"], r["node_id"]) for r in csv.DictReader(file))
    for rack, failed in groupby(rows, key=lambda row: row[0]):
        first: dict[str, int] = {}
        began = ""
        for _, at, node in [*failed, ("", "9999-01-01 00:00:00", "")]:
            after = _seconds(at) - _seconds(began) if began else WITHIN_S + 1
            if after > WITHIN_S:
                if len(first) > 1:
                    yield Burst(rack, began, tuple(sorted(first.values())))
                first, began, after = {}, at, 0
            first.setdefault(node, after)


def _seconds(at: str) -> int:
    return int((datetime.fromisoformat(at) - datetime(1970, 1, 1)).total_seconds())


def bursts() -> list[Burst]:
    """Return the bursts that lie beside this file."""
    with BURSTS.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [Burst(r["rack"], r["began"], tuple(map(int, r["seconds"].split()))) for r in rows]


def problem_of(burst: Burst, seed: int) -> RecoveryProblem:
    """Return a burst that strikes the first rack of a random job's cluster."""
    random = np.random.default_rng(seed)
    a_rack = max(LEAST_NODES, len(burst.seconds))
    nodes = RACKS * a_rack
    graph = TaskGraph(popular_queries(max(4, nodes * TASKS_A_NODE * 2 // 7), random))
    cost = graph.per_task("cpu")
    home = random.permutation(np.arange(graph.tasks) % nodes)
    cores = float(cost.sum()) / USED / nodes
    free = np.maximum(0.0, MOST_USED * cores - np.bincount(home, cost, minlength=nodes))
    down_s = _together(burst.seconds)
    at_once = sum(at == 0 for at in down_s)  # nodes are taken in the order in which they fail
    failed = home < at_once
    live = nodes - at_once
    back_s = np.array([at + random.uniform(120.0, 360.0) for at in down_s])
    order = np.argsort(back_s, kind="stable")
    later = sorted({at for at in down_s if at > 0})
    return RecoveryProblem(
        graph,
        cost,
        failed,
        np.where(failed, -1, home - at_once),
        np.full(graph.tasks, -1, dtype=np.int64),
        tuple(Host(f"n{k}", float(free[k])) for k in range(at_once, nodes))
        + tuple(Host(f"new{k}", MOST_USED * cores) for k in range(len(down_s))),
        live_hosts=live,
        arrivals=tuple(ArrivalEvent(float(back_s[i]), live + k, (float(back_s[i]),) * 2) for k, i in enumerate(order)),
        failures=tuple(_failure(at, [k for k, when in enumerate(down_s) if when == at]) for at in later),
        state_bytes=STATE * random.lognormal(0.0, 0.5, graph.tasks),
        bandwidth_bytes_s=BANDWIDTH,
        horizon_s=2.0 * float(back_s.max()),
        failed_nodes=at_once,
    )


def _together(seconds: tuple[int, ...]) -> list[int]:
    """Return when each failure is seen: with the first that it follows within a heartbeat timeout."""
    seen: list[int] = []
    for at in seconds:
        seen.append(seen[-1] if seen and at - seen[-1] <= HEARTBEAT_S else at)
    return seen


def _failure(at: int, nodes: list[int]) -> FailureEvent:
    names = [f"n{k}" for k in nodes]
    return FailureEvent(float(at), f"node:{names[0]}", frozenset(names), np.zeros(0, dtype=np.int64))


def _planned(name: str, problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    plan = registry.load(registry.row("recovery-schedule", name))
    result: Result[Schedule] = plan(problem, options)
    return result


def ways(iterations: int, time_limit_s: float) -> dict[str, Callable[[RecoveryProblem], Result[Schedule]]]:
    """Return what is compared, by name."""
    by_step = RecoveryOptions(objective="priority", time_limit_s=time_limit_s)
    in_time = RecoveryOptions(objective="priority-time", time_limit_s=time_limit_s, iterations=iterations)
    return {
        "auto": lambda problem: _planned("auto", problem, in_time),
        "best-density": lambda problem: _planned("best-density", problem, by_step),
        "operator-centric": lambda problem: _planned("operator-centric", problem, by_step),
        "blocking": lambda problem: construct_schedule(problem, by_step, blocking),
    }


def lost(draw: int, iterations: int, time_limit_s: float) -> list[float]:
    """Return what each way loses in a draw: priority × seconds down; then what is proven to be lost; and seconds."""
    random = np.random.default_rng(draw)
    known = bursts()
    problem = problem_of(known[int(random.integers(len(known)))], draw)
    bound, seconds, values = 0.0, 0.0, []
    for name, way in ways(iterations, time_limit_s).items():
        began = time.perf_counter()
        result = way(problem)
        if name == "auto":
            bound, seconds = result.bound or 0.0, time.perf_counter() - began
        assert result.answer is not None, (draw, name, result.reason)
        values.append(priority_time_of(result.answer, problem))
    return [*values, bound, seconds]


def tail(values: FloatArray) -> str:
    """Return mean, percentiles and worst as cells."""
    return " | ".join(f"{x:,.0f}" for x in (values.mean(), *np.percentile(values, (50, 95, 99)), values.max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--extract", type=Path, nargs="?", const=os.environ.get("FTPLAN_FAILURES"))
    asked = parser.parse_args()
    if asked.extract is not None:
        lines = [f"{b.rack},{b.began},{' '.join(map(str, b.seconds))}" for b in extracted(Path(asked.extract))]
        BURSTS.write_text("\n".join((*SOURCE, "rack,began,seconds", *lines)) + "\n")
        return
    one = partial(lost, iterations=asked.iterations, time_limit_s=asked.time_limit)
    with ProcessPoolExecutor(asked.processes) as processes:
        table = np.array(list(processes.map(one, range(asked.draws), chunksize=10)))
    names = list(ways(0, 1.0))
    print("| priority × seconds down | mean | median | p95 | p99 | worst | auto loses less, mean | p99 |")
    print("|---" * 8 + "|")
    auto = table[:, 0]
    for k, name in enumerate(names):
        other = table[:, k]
        less = "– | –"
        if k:
            less = " | ".join(f"{1.0 - f(auto) / f(other):.1%}" for f in (np.mean, partial(np.percentile, q=99)))
        print(f"| {name} | {tail(other)} | {less} |")
    print(f"| proven: nothing loses less | {tail(table[:, -2])} | – | – |")
    gaps = np.maximum(0.0, auto - table[:, -2]) / np.maximum(auto, 1e-9)
    print(
        "\n| draws | auto loses more than another way | gap of auto, mean | p95 | largest | seconds of auto, mean | "
        "slowest |\n" + "|---" * 7 + "|"
    )
    worse = int((auto > table[:, 1 : len(names)].min(axis=1) * (1 + 1e-9)).sum())
    print(
        f"| {len(table):,} | {worse} | {gaps.mean():.2%} | {np.percentile(gaps, 95):.2%} | {gaps.max():.2%} | "
        f"{table[:, -1].mean():.2f} | {table[:, -1].max():.1f} |"
    )


if __name__ == "__main__":
    main()

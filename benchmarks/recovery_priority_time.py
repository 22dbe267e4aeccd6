"""Least priority × time over 20 arrivals against the step-by-step plan: never worse, the gain, the gap to the bound.

Run from the project's root: ``python benchmarks/recovery_priority_time.py [--queries 50 500 5000] [--seeds 3]
[--time-limit 30] [--algorithm auto] [--lanes 0 1 4] [--no-fidelity]``. Prints Markdown.

Each topology has Q queries of 3 to 8 failed tasks, of 1 to 10 cores each, which they share: task i of 2.5 Q is needed
in proportion to 1 / sqrt(i); priorities are 1 to 10. Everything failed. 20 replacements come 2 to 6 minutes after the
failure (Su & Zhou, figure 7) with 30 or 60 % of the cores that the queries need in all; the horizon is twice the last
arrival. Each replacement is one node, so that tasks are small beside it at all but the smallest size.

With one restore at once or more (``--lanes``; 0: state is there at once) tasks have lognormal state (sigma 0.5), and
each node gets 100 MiB/s, as much for each restore as there are at once. All state that fits takes the nodes two minutes
on average: with many queries tasks are that much smaller. Both schedules are placed in full and judged by the same
metric. "Fidelity" is the integral of output fidelity over the horizon, of the schedule planned for it, against step by
step, with its bound.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from instances import popular_queries

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.plan import Objective
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem

ARRIVALS, RESTORES_S, BANDWIDTH = 20, 120.0, 100 * 2.0**20

HEADING = (
    "| queries | cores | restores at once | gain over step by step, least | mean | most | gap to the bound, mean | "
    "most | proved | seconds | fidelity gained | fidelity gap |\n" + "|---" * 12 + "|"
)


def sparse(queries: int, share: float, seed: int, lanes: int = 0) -> RecoveryProblem:
    """Return a failure of everything, with replacements for a share of the cores; no lanes: restores take no time."""
    random = np.random.default_rng(seed)
    graph = TaskGraph(popular_queries(queries, random))
    cost = graph.per_task("cpu")
    needed = float(cost[graph.upstream(graph.output)].sum())
    at = np.sort(random.uniform(120.0, 360.0, ARRIVALS))
    room = random.uniform(0.5, 1.5, ARRIVALS)
    room *= share * needed / room.sum()
    down = np.ones(graph.tasks, dtype=np.bool_)
    nowhere = np.full(graph.tasks, -1, dtype=np.int64)
    state = random.lognormal(0.0, 0.5, graph.tasks)
    state *= ARRIVALS * RESTORES_S * BANDWIDTH / (share * state.sum())
    return RecoveryProblem(
        graph,
        cost,
        down,
        nowhere,
        nowhere,
        tuple(Host(f"n{k}", float(cores)) for k, cores in enumerate(room)),
        live_hosts=0,
        arrivals=tuple(ArrivalEvent(float(when), k, (float(when),) * 2) for k, when in enumerate(at)),
        state_bytes=state if lanes else None,
        bandwidth_bytes_s=BANDWIDTH if lanes else None,
        restores_at_once=max(lanes, 1),
        horizon_s=2.0 * float(at[-1]),
        failed_nodes=2,
    )


def row(
    queries: int, share: float, lanes: int, seeds: int, time_limit_s: float, algorithm: str, fidelity: bool = True
) -> str:
    """Return one line of the table, the mean over the seeds."""
    plan = registry.load(registry.row("recovery-schedule", algorithm))
    gains, gaps, seconds, proved, output, room = [], [], [], 0, [], []
    for seed in range(seeds):
        problem = sparse(queries, share, seed, lanes)
        options = RecoveryOptions(objective="priority-time", time_limit_s=time_limit_s)
        alone = plan(problem, replace(options, objective="priority"))
        began = time.perf_counter()
        whole = plan(problem, options)
        seconds.append(time.perf_counter() - began)
        value = priority_time_of(whole.answer, problem)
        gains.append(1.0 - value / priority_time_of(alone.answer, problem))
        gaps.append(Objective.of("priority-time", "min", value, whole.bound).gap or 0.0)
        proved += whole.status == "optimal"
        if fidelity:
            model = fidelity_model(problem.graph, rates(problem.graph))
            for_output = plan(problem, replace(options, objective="fidelity-time"))
            intact = fidelity_time_of(for_output.answer, problem, model)
            output.append(intact / fidelity_time_of(alone.answer, problem, model) - 1.0)
            room.append(for_output.bound / intact - 1.0)
    least, mean, most = f"{min(gains):.2%}", f"{np.mean(gains):.2%}", f"{max(gains):.2%}"
    told = f"{np.mean(output):.2%} | {np.mean(room):.2%}" if fidelity else "– | –"
    return (
        f"| {queries:,} | {share:.0%} | {lanes or 'no restores'} | {least} | {mean} | {most} | {np.mean(gaps):.2%} | "
        f"{max(gaps):.2%} | {proved} of {seeds} | {np.mean(seconds):.1f} | {told} |"
    )


def rows(
    queries: Iterable[int],
    shares: Iterable[float],
    lanes: Iterable[int],
    seeds: int,
    time_limit_s: float,
    algorithm: str = "auto",
    fidelity: bool = True,
) -> None:
    """Print the table."""
    print(HEADING)
    for size in queries:
        for share in shares:
            for count in lanes:
                print(row(size, share, count, seeds, time_limit_s, algorithm, fidelity), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 500, 5000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.3, 0.6])
    parser.add_argument("--lanes", type=int, nargs="+", default=[0], help="restores at once, 0: state is there at once")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--fidelity", action=argparse.BooleanOptionalAction, default=True)
    asked = parser.parse_args()
    rows(asked.queries, asked.shares, asked.lanes, asked.seeds, asked.time_limit, asked.algorithm, asked.fidelity)


if __name__ == "__main__":
    main()

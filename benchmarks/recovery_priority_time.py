"""Least priority × time over 20 arrivals against the step-by-step plan: never worse, the gain, the gap to the bound.

Run from the project's root: ``python benchmarks/recovery_priority_time.py [--queries 50 500 5000] [--seeds 3]
[--time-limit 30] [--solver best-density]``. Prints Markdown.

Each topology has Q queries of 3 to 8 failed tasks, of 1 to 10 cores each, which they share: task i of 2.5 Q is needed
in proportion to 1 / sqrt(i); priorities are 1 to 10. Everything failed. 20 replacements come 2 to 6 minutes after the
failure (Su & Zhou, figure 7) with 30 or 60 % of the cores that the queries need in all; the horizon is twice the last
arrival. Each replacement is one node, so that tasks are small beside it at all but the smallest size. Both schedules
are placed in full and judged by the same metric. "Fidelity" is the integral of output fidelity over the horizon, of the
schedule planned for it, against step by step, with the bound of its linear relaxation where that was solved.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from ftplan.generators.experiments import popular_queries
from ftplan.metrics.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.recovery.best_density import best_density_step
from ftplan.planners.recovery.knapsack.instance import StepSolver
from ftplan.planners.recovery.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_objective import by_objective
from ftplan.planners.recovery.schedule.by_queries import by_queries
from ftplan.planners.recovery.schedule.construction import construct_schedule
from ftplan.planners.recovery.schedule.score import fidelity_time_of, priority_time_of

ARRIVALS = 20


def sparse(queries: int, share: float, seed: int) -> RecoveryProblem:
    """Return a failure of everything, with replacements for a share of the cores."""
    random = np.random.default_rng(seed)
    graph = TaskGraph(popular_queries(queries, random))
    cost = graph.per_task("cpu")
    needed = float(cost[graph.upstream(graph.output)].sum())
    at = np.sort(random.uniform(120.0, 360.0, ARRIVALS))
    room = random.uniform(0.5, 1.5, ARRIVALS)
    room *= share * needed / room.sum()
    down = np.ones(graph.tasks, dtype=np.bool_)
    nowhere = np.full(graph.tasks, -1, dtype=np.int64)
    return RecoveryProblem(
        graph,
        cost,
        down,
        nowhere,
        nowhere,
        tuple(Host(f"n{k}", float(cores)) for k, cores in enumerate(room)),
        live_hosts=0,
        arrivals=tuple(ArrivalEvent(float(when), k, (float(when),) * 2) for k, when in enumerate(at)),
        horizon_s=2.0 * float(at[-1]),
        failed_nodes=2,
    )


def row(queries: int, share: float, seeds: int, time_limit_s: float, solver: StepSolver) -> str:
    """Return one line of the table, the mean over the seeds."""
    gains, gaps, seconds, proved, fidelity, room = [], [], [], 0, [], []
    for seed in range(seeds):
        problem = sparse(queries, share, seed)
        options = RecoveryOptions(objective="priority-time", time_limit_s=time_limit_s)
        alone = construct_schedule(problem, replace(options, objective="priority"), by_queries(solver))
        began = time.perf_counter()
        whole = by_objective(problem, options, solver)
        seconds.append(time.perf_counter() - began)
        assert alone.answer is not None
        assert whole.answer is not None
        assert whole.bound is not None
        value = priority_time_of(whole.answer, problem)
        gains.append(1.0 - value / priority_time_of(alone.answer, problem))
        gaps.append(value / whole.bound - 1.0)
        proved += whole.status == "optimal"
        for_output = by_objective(problem, replace(options, objective="fidelity-time"), solver)
        model = fidelity_model(problem.graph, rates(problem.graph))
        assert for_output.answer is not None
        assert for_output.bound is not None
        intact = fidelity_time_of(for_output.answer, problem, model)
        fidelity.append(intact / fidelity_time_of(alone.answer, problem, model) - 1.0)
        room.append(for_output.bound / intact - 1.0)
    least, mean, most = f"{min(gains):.2%}", f"{np.mean(gains):.2%}", f"{max(gains):.2%}"
    return (
        f"| {queries} | {share:.0%} | {least} | {mean} | {most} | {np.mean(gaps):.2%} | {max(gaps):.2%} | "
        f"{proved} of {seeds} | {np.mean(seconds):.1f} | {np.mean(fidelity):.2%} | {np.mean(room):.2%} |"
    )


def named(solver: str) -> StepSolver:
    """Return a one-step solver by name."""
    if solver == "auto":
        from ftplan.planners.recovery.auto import auto_step

        return auto_step
    return best_density_step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 500, 5000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.3, 0.6])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--solver", choices=["auto", "best-density"], default="best-density")
    arguments = parser.parse_args()
    print(
        "| queries | cores | gain over step by step, least | mean | most | gap to the bound, mean | most | proved | "
        "seconds | fidelity gained | fidelity gap |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for queries in arguments.queries:
        for share in arguments.shares:
            print(row(queries, share, arguments.seeds, arguments.time_limit, named(arguments.solver)), flush=True)


if __name__ == "__main__":
    main()

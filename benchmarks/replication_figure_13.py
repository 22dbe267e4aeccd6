"""Su & Zhou's figure 13: dynamic programming, structure-aware and greedy on the topologies of their queries.

Run: ``python benchmarks/replication_figure_13.py``. Prints a Markdown table. Parallelisms are assumed (the paper gives
none): Q1 8, 4, 1 tasks, Q2 8, 4, 4, 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from replication_instances import RATIOS, query_1, query_2, worst_case

from ftplan.planners.replicate_tasks.algorithms.dynamic_programming import dynamic_programming
from ftplan.planners.replicate_tasks.algorithms.greedy import greedy
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware

PLANNERS = (dynamic_programming, structure_aware, greedy)


def fidelities() -> Iterator[tuple[str, float, int, float, float, float]]:
    """Yield query, ratio, replicas, and the output fidelity that each of the planners keeps."""
    for name, topology in (("Q1", query_1()), ("Q2", query_2())):
        for ratio in RATIOS:
            problem = worst_case(topology, float(int(ratio * topology.task_count)))
            plans = (planner(problem, ReplicationOptions()).answer.replicated for planner in PLANNERS)
            optimum, aware, low = map(problem.value, plans)
            yield name, ratio, int(problem.budget), optimum, aware, low


def main() -> None:
    print("| query | ratio | replicas | dynamic-programming | structure-aware | greedy |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, ratio, replicas, *kept in fidelities():
        values = " | ".join(f"{value:.4f}" for value in kept)
        print(f"| {name} | {ratio} | {replicas} | {values} |", flush=True)


if __name__ == "__main__":
    main()

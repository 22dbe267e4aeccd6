"""Structure-aware and greedy on 100,000 tasks, structured and full edges mixed, a tenth of them replicated.

Run: ``python benchmarks/replication_at_scale.py [--tasks 100000] [--ratio 0.1]``. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import time

from instances import mixture
from replication_instances import worst_case

from ftplan.planners.replicate_tasks.algorithms.greedy import greedy
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--ratio", type=float, default=0.1)
    given = parser.parse_args()
    topology = mixture(given.tasks)
    print("| algorithm | tasks | replicas | output fidelity | seconds | peak memory GiB | to reach |")
    print("|---|--:|--:|--:|--:|--:|---|")
    for planner in (greedy, structure_aware):
        problem = worst_case(topology, float(int(given.ratio * topology.task_count)))
        began = time.perf_counter()
        plan = planner(problem, ReplicationOptions()).answer.replicated
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        target = "≤ 30 s, ≤ 4 GiB" if planner is structure_aware else ""
        name = planner.__name__.replace("_", "-")
        print(
            f"| {name} | {problem.tasks:,} | {plan.sum():,} | {problem.value(plan):.5f} | "
            f"{seconds:.2f} | {peak:.2f} | {target} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

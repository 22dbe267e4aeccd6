"""How far the best replicas during an outage and the best ones for the recovery after it differ, on the examples.

Run from the project's root: ``python benchmarks/replication_then_recover.py [--iterations 100] [--shares 5 10 20]``.
Prints Markdown.

For each failure and budget two plans: of most output fidelity while the failure lasts (``replicate-tasks``,
structure-aware) and of least priority x seconds down in the recovery schedules that follow (``--then-recover``). Each
is judged by both, beside no replicas at all. "Shared" is the Jaccard index of the replicated tasks. Two changes of the
example tell what decides: "without state" no task has any, so that restores take no time; with "half the other load"
the nodes' other services take half the cores, so that there is room for replicas and restores.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import yaml

import ftplan
from ftplan.planners.replicate_tasks.from_plan import nodes_by_task, options_of, question_of
from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STATELESS, HALF = "without state", "half the other load"
#: Example, failure file, and what is changed.
JOBS = (
    ("storm-recovery", "racks.yaml", ""),
    ("storm-recovery", "failure.yaml", ""),
    ("storm-recovery", "racks.yaml", STATELESS),
    ("storm-recovery", "racks.yaml", HALF),
    ("figure-2", "failure.yaml", ""),
)


def inputs(example: str, failure: str, changed: str) -> ftplan.Problem:
    folder = EXAMPLES / example
    topology, cluster = (yaml.safe_load((folder / f"{name}.yaml").read_text()) for name in ("topology", "cluster"))
    if changed == STATELESS:
        for operator in topology["operators"]:
            operator.pop("state_bytes", None)
    if changed == HALF:
        for node in cluster["nodes"]:
            node["used_cpu"] /= 2
    return ftplan.load(topology=topology, cluster=cluster, failure=folder / failure)


def row(name: str, problem: ftplan.Problem, share: float, iterations: int) -> str:
    """Return the figures of both plans for a budget of a share of all tasks."""
    asked = {"budget": f"{share:g}%", "iterations": iterations, "time_limit_s": 3600.0}
    by_fidelity = ftplan.plan("replicate-tasks", problem, **asked)
    start = time.perf_counter()
    plan = ftplan.plan("replicate-tasks", problem, then_recover=True, **asked)
    seconds = time.perf_counter() - start
    prepared = question_of(plan, problem)
    recovery = FollowingRecovery.of(prepared, problem, options_of(plan))
    # Without room for any replica there is no plan by fidelity: then there are none.
    nodes = [{} if one.plan is None else nodes_by_task(one, prepared.graph) for one in (by_fidelity, plan)]
    down = [recovery.expected(node) for node in ({}, *nodes)]
    fidelity = [prepared.problem.value_on(node) for node in ({}, *nodes)]
    union = set(nodes[0]) | set(nodes[1])
    shared = f"{len(set(nodes[0]) & set(nodes[1])) / len(union):.2f}" if union else "–"
    assert plan.objective is not None
    return (
        f"| {name} | {share:g} % = {plan.options['budget_limit']:g} | {len(nodes[0])} | {len(nodes[1])} | {shared} | "
        f"{fidelity[0]:.4f} | {fidelity[1]:.4f} | {fidelity[2]:.4f} | "
        f"{down[0]:,.0f} | {down[1]:,.0f} | {down[2]:,.0f} | {plan.objective.bound:,.0f} | {seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--shares", type=float, nargs="+", default=[5.0, 10.0, 20.0])
    options = parser.parse_args()
    print(
        "| failure | budget | replicas by fidelity | by recovery | shared | fidelity with none | by fidelity | "
        "by recovery | priority x seconds down with none | by fidelity | by recovery | its bound | s |"
    )
    print("|---|---|" + "---:|" * 11)
    for example, failure, changed in JOBS:
        problem = inputs(example, failure, changed)
        name = f"{example}, {failure}" + (f", {changed}" if changed else "")
        for share in options.shares:
            print(row(name, problem, share, options.iterations), flush=True)


if __name__ == "__main__":
    main()

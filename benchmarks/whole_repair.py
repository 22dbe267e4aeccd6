"""The whole repair: the storm example, and 20 arrivals with and without state to fetch.

Run from the project's root: ``python benchmarks/whole_repair.py [--time-limit 20] [--seeds 3] [--queries 50 500]``.
Prints two Markdown tables. The first is ``recovery-schedule --objective priority-time`` on examples/storm-recovery as
it is, where two more nodes fail during the recovery; with four restores at once on a node; with its recovery costs;
with all four nodes lost at once; and with everything down: priority × seconds down beside the step-by-step plan,
blocking recovery and random orders, and the gap to the bound. The second is that of recovery_priority_time.py, where
restores take no time, go one by one, or four at a time.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from recovery_priority_time import rows

import ftplan

STORM = Path(__file__).resolve().parent.parent / "examples" / "storm-recovery"
#: What is asked of the example, by name.
CASES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "four restores at once": {"lanes": 4},
    "with recovery costs": {"costs": STORM / "recovery.yaml"},
    "four nodes at once": {"at_once": True},
    "everything fails": {"complete_failure": True},
}


def storm(name: str, time_limit_s: float, algorithm: str) -> str:
    """Return a line of the first table."""
    asked = dict(CASES[name])
    problem = ftplan.load(**{role: STORM / f"{role}.yaml" for role in ("topology", "cluster", "failure")})
    if asked.pop("at_once", False):
        assert problem.failure is not None
        fail = tuple(replace(item, at_s=0.0) for item in problem.failure.fail)
        problem = replace(problem, failure=replace(problem.failure, fail=fail))
    lanes = asked.pop("lanes", 1)
    assert problem.cluster is not None
    network = replace(problem.cluster.network, restores_at_once=lanes)
    problem = replace(problem, cluster=replace(problem.cluster, network=network))
    asked |= {"objective": "priority-time", "time_limit_s": time_limit_s}
    began = time.perf_counter()
    plan = ftplan.plan("recovery-schedule", problem, algorithm=algorithm, **asked)
    seconds = time.perf_counter() - began
    assert plan.objective is not None
    beside = [(plan.summary.get(part) or {}).get("priority_time") for part in ("step_by_step", "before", "random")]
    told = " | ".join("–" if value is None else f"{value:,.0f}" for value in beside)
    last = (plan.summary["after"] or {}).get("last_back_s")
    gap = "–" if plan.objective.gap is None else f"{plan.objective.gap:.2%}"
    bound = "–" if plan.objective.bound is None else f"{plan.objective.bound:,.0f}"
    return (
        f"| {name} | {plan.summary['failed_tasks']} | {plan.objective.value:,.0f} | {bound} | {gap} | {plan.status} | "
        f"{told} | {'–' if last is None else f'{last:.0f}'} | {seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--queries", type=int, nargs="*", default=[50, 500, 5000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.3, 0.6])
    parser.add_argument("--lanes", type=int, nargs="+", default=[0, 1, 4])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--algorithm", default="auto")
    asked = parser.parse_args()
    print(
        "| storm example | failed tasks | priority × seconds down | bound | gap | status | step by step | blocking | "
        "random order | last query back, s | seconds |\n" + "|---" * 11 + "|"
    )
    for name in CASES:
        print(storm(name, asked.time_limit, asked.algorithm), flush=True)
    print()
    rows(asked.queries, asked.shares, asked.lanes, asked.seeds, asked.time_limit, asked.algorithm, fidelity=False)


if __name__ == "__main__":
    main()

"""One recovery step on sparse instances: value and proven bound, beside HiGHS alone on the same model and clock.

Run from the project's root: ``python benchmarks/recovery_sparse.py [--time-limit 30] [--only QUERIES]``. Prints a
Markdown table. Each run is a process of its own, whose peak memory is reported. HiGHS runs by OR-Tools' MathOpt with
its default options on x_q <= y_b, w y <= capacity. *Zipf* is the skew of sharing: at 0.5 and two tasks a query
most queries hang together and the linear relaxation says little.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import astuple, dataclass
from datetime import timedelta

from recovery_instances import sparse

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack


@dataclass(frozen=True)
class Run:
    queries: int
    tasks: int
    zipf: float
    capacity: float
    peer: bool = True


RUNS = (
    *(Run(500, 1_000, zipf, capacity) for zipf in (1.0, 0.8, 0.5) for capacity in (0.1, 0.3, 0.6)),
    *(Run(500, 500, 0.5, capacity) for capacity in (0.1, 0.3)),
    *(Run(5_000, 10_000, zipf, capacity) for zipf in (1.0, 0.8, 0.5) for capacity in (0.1, 0.3, 0.6)),
    *(Run(10_000, 50_000, zipf, 0.3, peer=False) for zipf in (0.8, 0.0)),
)


def highs(knapsack: SetUnionKnapsack, time_limit_s: float) -> tuple[float, float]:
    """Return value and bound by HiGHS alone."""
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    x = [model.add_binary_variable() for _ in range(knapsack.queries)]
    y = [model.add_binary_variable() for _ in range(knapsack.elements)]
    for q, b in zip(knapsack.row.tolist(), knapsack.member.tolist(), strict=True):
        model.add_linear_constraint(x[q] - y[b] <= 0)
    weighed = [w * v for w, v in zip(knapsack.weight.tolist(), y, strict=True)]
    model.add_linear_constraint(mathopt.LinearSum(weighed) <= knapsack.capacity)
    model.maximize(mathopt.LinearSum([p * v for p, v in zip(knapsack.priority.tolist(), x, strict=True)]))
    parameters = mathopt.SolveParameters(time_limit=timedelta(seconds=time_limit_s))
    bounds = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters).termination.objective_bounds
    return max(bounds.primal_bound, 0.0), min(bounds.dual_bound, float(knapsack.priority.sum()))


def measure(run: Run, algorithm: str, time_limit_s: float) -> dict[str, float]:
    """Return value, bound, seconds and peak memory of one run in this process."""
    knapsack = sparse(run.queries, run.tasks, run.capacity, 1, run.zipf)
    start = time.perf_counter()
    if algorithm == "exact":
        choice = exact_step(knapsack, Budget(time_limit_s))
        assert knapsack.fits(choice.queries)
        assert choice.bound is not None
        value, bound = knapsack.value(choice.queries), choice.bound
    else:
        value, bound = highs(knapsack, time_limit_s)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"value": value, "bound": bound, "seconds": seconds, "gib": peak}


def in_process(run: Run, algorithm: str, time_limit_s: float) -> dict[str, float]:
    """Return what :func:`measure` does in a process of its own."""
    asked = json.dumps([astuple(run), algorithm, time_limit_s])
    done = subprocess.run([sys.executable, __file__, "--measure", asked], stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def gap(found: dict[str, float]) -> str:
    return f"{found['bound'] / found['value'] - 1:.2%}" if found["value"] > 0 else "no plan"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--only", type=int, help="only instances of so many queries")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        run, algorithm, time_limit_s = json.loads(options.measure)
        print(json.dumps(measure(Run(*run), algorithm, time_limit_s)))
        return
    head = (
        "queries",
        "tasks",
        "Zipf",
        "capacity",
        "value",
        "bound",
        "gap",
        "seconds",
        "GiB",
        "HiGHS' gap",
        "its seconds",
    )
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for run in RUNS:
        if options.only not in (None, run.queries):
            continue
        found = in_process(run, "exact", options.time_limit)
        row = f"| {run.queries:,} | {run.tasks:,} | {run.zipf:g} | {run.capacity:.0%} | {found['value']:.6g} | "
        row += f"{found['bound']:.6g} | {gap(found)} | {found['seconds']:.1f} | {found['gib']:.2f} | "
        if run.peer:
            peer = in_process(run, "highs", options.time_limit)
            row += f"{gap(peer)} | {peer['seconds']:.1f} |"
        else:
            row += "| |"
        print(row, flush=True)


if __name__ == "__main__":
    main()

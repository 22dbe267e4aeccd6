"""Allocation planners at size, beside raw CP-SAT and raw HiGHS on the same model with the same time limit.

Run from the project's root: ``python benchmarks/allocation_at_scale.py [--only NAME ...] [--objective NAME ...]
[--time-limit S]``. Prints a Markdown table; every run is made for each objective. The series follow the day with
random phases: the load of a key group is Poisson around ``size (1.2 + sin(2π t / 144 + phase))`` with lognormal sizes.
Each run is a process of its own, whose peak memory is reported; the largest run takes the least Δ that there is
(``auto``), since its heaviest key group is more than a node's fair share. Generating the series and loading are not
planning, building the cost matrix is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from instances import daily_loads

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules

WINDOWS = 288
OBJECTIVES = ("usable", "correlation")


@dataclass(frozen=True)
class Run:
    name: str
    groups: int
    nodes: int
    zones: int
    algorithm: str
    time_limit_s: float
    target: str
    balance: float | Literal["auto"] = 0.05
    objective: Literal["usable", "correlation"] = "usable"


RUNS = (
    Run("default", 32_768, 400, 0, "correlated", 60.0, "≤ 5 s, ≤ 4 GB"),
    Run("large", 32_768, 400, 0, "exact", 60.0, "gap ≤ 0.1 % in ≤ 60 s"),
    Run("largest", 65_536, 2_048, 21, "exact", 90.0, "gap ≤ 1 % in ≤ 120 s, ≤ 12 GB", "auto"),
    *(
        Run(name, groups, nodes, 0, algorithm, 20.0, target)
        for name, groups, nodes in (("small-peers", 1_024, 50), ("peers", 4_096, 100))
        for algorithm, target in (("exact", "no worse than both below"), ("cp-sat", "peer"), ("highs", "peer"))
    ),
)


def problem_of(series: np.ndarray, nodes: int, zones: int, options: AllocationOptions) -> CheckpointProblem:
    groups, one = series.shape[1], np.ones(series.shape[1])
    operator = Operator("op", groups, cpu=one, state_bytes=0 * one, priority=one, key_groups=groups)
    ids = tuple(f"n{i + 1}" for i in range(nodes))
    home = tuple(ids[g * nodes // groups] for g in range(groups))
    statistics = KeyGroupSeries(
        ("op",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        series,
        "records",
        600.0,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=np.bool_),
    )
    machines = Cluster(tuple(Node(i, 1.0, zone=f"z{k % zones}" if zones else None) for k, i in enumerate(ids)))
    return build(Topology((operator,), ()), machines, Placement(key_groups={"op": home}), statistics, options)


def cp_sat(problem: CheckpointProblem, limits: Limits, time_limit_s: float) -> tuple[float | None, float]:
    """Return value and bound by CP-SAT with two workers. Weights and costs become integers of about 1e9."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    weight = np.round(limits.weight[0] * problem.windows).astype(np.int64)
    unit = float(np.abs(problem.cost).max()) / 1e9
    price = np.round(problem.cost / unit).astype(np.int64)
    columns: list[list[tuple[int, object]]] = [[] for _ in problem.nodes]
    objective = []
    for u in range(problem.load.size):
        row = []
        for node in np.flatnonzero(problem.allowed[u]).tolist():
            variable = model.new_bool_var("")
            row.append(variable)
            columns[node].append((u, variable))
            objective.append((variable, int(price[u, node])))
        model.add_exactly_one(row)
    for node, column in enumerate(columns):
        total = cp_model.LinearExpr.weighted_sum([v for _, v in column], [int(weight[u]) for u, _ in column])
        low, up = (float(x[0, node]) * problem.windows for x in (limits.lower, limits.upper))
        model.add_linear_constraint(total, int(np.ceil(low)), int(np.floor(up)))
    model.minimize(cp_model.LinearExpr.weighted_sum([v for v, _ in objective], [c for _, c in objective]))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 2, time_limit_s
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return solver.objective_value * unit if found else None, solver.best_objective_bound * unit


def highs(problem: CheckpointProblem, limits: Limits, time_limit_s: float) -> tuple[float | None, float]:
    """Return value and bound by OR-Tools' HiGHS with its default options."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("HIGHS")
    rows = [solver.Constraint(float(low), float(up)) for low, up in zip(limits.lower[0], limits.upper[0], strict=True)]
    objective = solver.Objective()
    for u in range(problem.load.size):
        once = solver.Constraint(1.0, 1.0)
        for node in np.flatnonzero(problem.allowed[u]).tolist():
            variable = solver.BoolVar("")
            once.SetCoefficient(variable, 1.0)
            rows[node].SetCoefficient(variable, float(limits.weight[0, u]))
            objective.SetCoefficient(variable, float(problem.cost[u, node]))
    solver.SetTimeLimit(int(1000 * time_limit_s))
    status = solver.Solve()
    found = status in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE)
    return objective.Value() if found else None, objective.BestBound()


def measured(run: Run, seed: int) -> dict[str, object]:
    series = daily_loads(run.groups, WINDOWS, seed)
    options = AllocationOptions(
        balance=run.balance,
        anti_affinity="zone" if run.zones else "node",
        time_limit_s=run.time_limit_s,
        objective=CheckpointObjective(run.objective),
    )
    start = time.perf_counter()
    problem = problem_of(series, run.nodes, run.zones, options)
    value: float | None
    bound: float | None
    if run.algorithm in ("cp-sat", "highs"):
        limits = limits_of(problem, CheckpointRules(1, "node", 0.05))
        value, bound = (cp_sat if run.algorithm == "cp-sat" else highs)(problem, limits, run.time_limit_s)
    else:
        result = registry.load(registry.row("allocate-checkpoints", run.algorithm))(problem, options)
        value, bound = None if result.answer is None else result.answer.value, result.bound
    seconds = time.perf_counter() - start
    gap = None if value is None or bound is None or not np.isfinite(bound) else problem.gap(value, bound)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "memory": memory, "value": value, "bound": bound, "gap": gap}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=sorted({run.name for run in RUNS}))
    parser.add_argument("--objective", nargs="*", choices=OBJECTIVES, default=OBJECTIVES)
    parser.add_argument("--time-limit", type=float, help="seconds, for every run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(Run(**json.loads(asked.one)), asked.seed)))
        return
    print(
        "| key groups × nodes | objective | algorithm | seconds of planning | peak memory | value | bound | gap | "
        "to reach |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for run, objective in itertools.product(RUNS, asked.objective):
        if asked.only and run.name not in asked.only:
            continue
        fields = {**run.__dict__, "time_limit_s": asked.time_limit or run.time_limit_s, "objective": objective}
        command = [sys.executable, __file__, "--one", json.dumps(fields), "--seed", str(asked.seed)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        shown = {k: "" if found[k] is None else f"{found[k]:.7g}" for k in ("value", "bound")}
        gap = "" if found["gap"] is None else f"{found['gap']:.3%}"
        zones = f", {run.zones} zones" if run.zones else ""
        print(
            f"| {run.groups:,} × {run.nodes:,}{zones} | {objective} | {run.algorithm} | {found['seconds']:.1f} | "
            f"{found['memory']:.1f} GiB | {shown['value']} | {shown['bound']} | {gap} | {run.target} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

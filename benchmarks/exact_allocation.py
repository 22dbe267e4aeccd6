"""How good and how fast the four allocation planners are: Madsen & Zhou's own limit, and Houston by destination.

Run from the project's root: ``python benchmarks/exact_allocation.py [--time-limit 60]``. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build

LOG = Path(__file__).parent.parent / "examples" / "flights" / "hflights.csv.gz"


def problem_of(loads: np.ndarray, nodes: int, options: AllocationOptions) -> CheckpointProblem:
    """Return the problem of one operator whose key groups have these loads (windows, groups), on equal nodes."""
    groups = loads.shape[1]
    one = np.ones(groups)
    operator = Operator("flights", groups, cpu=one, state_bytes=0 * one, priority=one, key_groups=groups)
    ids = tuple(f"n{i + 1}" for i in range(nodes))
    home = tuple(ids[g * nodes // groups] for g in range(groups))
    series = KeyGroupSeries(
        ("flights",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        loads,
        "records",
        3600.0,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=np.bool_),
    )
    cluster = Cluster(tuple(Node(i, 1.0) for i in ids))
    return build(Topology((operator,), ()), cluster, Placement(key_groups={"flights": home}), series, options)


def houston() -> np.ndarray:
    """Return hourly departures of 2011 by destination, shape (8760, 116)."""
    log = pd.read_csv(LOG, usecols=["Year", "Month", "DayofMonth", "DepTime", "Dest"]).dropna(subset=["DepTime"])
    hour = (log.DepTime // 100).astype(int) % 24
    day = pd.to_datetime({"year": log.Year, "month": log.Month, "day": log.DayofMonth})
    counts = log.assign(window=day + pd.to_timedelta(hour, unit="h")).groupby(["window", "Dest"]).size()
    windows = pd.date_range("2011-01-01", "2011-12-31 23:00", freq="h")
    return counts.unstack(fill_value=0).reindex(windows, fill_value=0).to_numpy(dtype=np.float64)


def run(title: str, loads: np.ndarray, nodes: int, balances: tuple[object, ...], time_limit_s: float) -> None:
    print(f"\n### {title}\n")
    print("| balance | algorithm | value | bound | gap | expected random | status | Δ used | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for balance in balances:
        for row in registry.rows("allocate-checkpoints"):
            options = AllocationOptions(balance=balance, time_limit_s=time_limit_s, bound=True)
            problem = problem_of(loads, nodes, options)
            start = time.perf_counter()
            result = registry.load(row)(problem, options)
            seconds = time.perf_counter() - start
            if result.answer is None:
                print(f"| {balance} | {row.name} | | | | | {result.status}: {result.infeasible} | | {seconds:.2f} |")
                continue
            value = result.answer.value
            print(
                f"| {balance} | {row.name} | {value:.6g} | {result.bound:.6g} | "
                f"{problem.gap(value, result.bound):.2%} | {problem.random_value:.6g} | {result.status} | "
                f"{result.answer.rules.balance} | {seconds:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    time_limit_s = parser.parse_args().time_limit
    small = np.random.default_rng(0).gamma(2.0, 50.0, size=(60, 7))
    run(
        "7 checkpoints × 20 nodes (Madsen & Zhou 2015's limit)",
        small,
        20,
        ("auto", "none", "count"),
        time_limit_s,
    )
    run("Houston 2011, 116 destinations × 20 nodes, hourly", houston(), 20, (0.05, 0.35, 1.0), time_limit_s)


if __name__ == "__main__":
    main()

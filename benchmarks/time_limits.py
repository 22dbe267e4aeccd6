"""Whether ``--time-limit`` bounds each planning command, and an interrupt ends it: prints Markdown tables.

    python benchmarks/time_limits.py [--quick] [--only TEXT ...] [--limits 1 10] [--folder FOLDER]
    [--no-limits] [--no-interrupts]

Every planner of every planning command runs on the largest inputs of the other benchmarks, each run a process of its
own. ``plan`` is the time within :func:`ftplan.plan`, so all that is neither starting, reading nor writing; ``rest`` is
the wall time of the process beside it. To reach: ``plan`` at most 2 s above the limit. The second table interrupts a
command in the middle of planning; to reach: exit 130 within 2 s, nothing on standard output.

Inputs (all seeded): an allocation of 32,768 key groups on 400 nodes over 288 windows and one of 2,048 on 48; topologies
of about 1,000 tasks (in a cluster with scenarios), 6,500 (measured substreams) and 100,000 tasks; failures of all
1,000 tasks that feed 1,000 dense queries, and of 50,000 tasks that feed 10,000 sparse ones.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LATE_S = 2.0
FOLDER_OF_CHILD = "FTPLAN_BENCH_TIMES"
#: Runs a command line, and writes how long ``ftplan.plan`` took and when it began.
CHILD = f"""
import json, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script that runs in the background has it ignored
import ftplan
from ftplan.cli import main
plan = ftplan.plan
def timed(*args, **options):
    print("planning begins", file=sys.stderr, flush=True)
    began = time.perf_counter()
    try:
        return plan(*args, **options)
    finally:
        with open(os.environ["{FOLDER_OF_CHILD}"], "w") as file:
            json.dump(time.perf_counter() - began, file)
ftplan.plan = timed
sys.argv = ["ftplan", *sys.argv[1:]]
main.main()
"""


@dataclass(frozen=True)
class Case:
    """One input and the options that go with it; ``heavy``: left out by ``--quick``."""

    name: str
    command: str
    options: tuple[str, ...]
    algorithms: tuple[str, ...]
    heavy: bool = False


ALLOCATE, REPLICATE, RECOVER = "allocate-checkpoints", "replicate-tasks", "recovery-schedule"
REBALANCE = "rebalance"
PLANNERS = {
    ALLOCATE: ("baseline", "even", "correlated", "exact"),
    REPLICATE: ("greedy", "dynamic-programming", "structure-aware", "exact"),
    RECOVER: ("operator-centric", "best-density", "dynamic-programming", "local-search", "exact", "auto"),
}


def _allocation(size: str) -> tuple[str, ...]:
    return ("-t", f"{size}-topology.json", "-c", f"{size}-cluster.json", "-s", f"{size}-stats")


def _job(name: str, *more: str) -> tuple[str, ...]:
    return ("-t", f"{name}-topology.json", *more)


def cases() -> tuple[Case, ...]:
    """Return every case."""
    exact, some, rebalancing = ("exact",), ("correlated", "exact"), ("adaptive", "exact")
    large, middle = _allocation("large"), _allocation("middle")
    placed = _job("placed", "-c", "placed-cluster.json", "-f", "placed-failure.json")
    arrivals = _job("placed", "-c", "placed-cluster.json", "-f", "placed-arrivals.json")
    dense = _job("dense", "--fail", "operator:task", "--capacity", "250")
    sparse = _job("sparse", "--fail", "operator:task", "--capacity", "3000")
    streams = _job("streams", "--budget", "5%")
    growing = ("structure-aware", "exact")
    timed = ("best-density", "local-search", "exact", "auto")
    return (
        Case("32,768 × 400", ALLOCATE, large, PLANNERS[ALLOCATE], heavy=True),
        Case("32,768 × 400, usable", ALLOCATE, (*large, "--objective", "usable"), some, heavy=True),
        Case("32,768 × 400, count", ALLOCATE, (*large, "--balance", "count"), exact, heavy=True),
        Case("2,048 × 48", ALLOCATE, middle, PLANNERS[ALLOCATE]),
        Case("2,048 × 48, 5 copies", ALLOCATE, (*middle, "--copies", "5"), some),
        Case("2,048 × 48, bound", ALLOCATE, (*middle, "--bound"), ("baseline", "even", "correlated")),
        Case("2,048 × 48, holdout", ALLOCATE, (*middle, "--holdout", "0.3"), ("correlated",)),
        Case("2,048 × 48, failover", ALLOCATE, (*middle, "--minimise", "failover"), some),
        Case("2,048 × 48, upkeep", ALLOCATE, (*middle, "--max-moves", "500"), some),
        Case("32,768 × 400", REBALANCE, large, rebalancing, heavy=True),
        Case("32,768 × 400, even", REBALANCE, (*large, "--tolerance", "0.1"), rebalancing, heavy=True),
        Case("32,768 × 400, drained", REBALANCE, (*large, "--remove", "zone:z0", "--within", "60s"), rebalancing, True),
        Case("2,048 × 48", REBALANCE, middle, rebalancing),
        Case("2,048 × 48, even", REBALANCE, (*middle, "--tolerance", "0.1", "--suggest"), rebalancing),
        Case("2,048 × 48, drained", REBALANCE, (*middle, "--remove", "zone:z0", "--within", "60s"), rebalancing),
        Case("2,048 × 48, none", REBALANCE, (*middle, "--overload", "0.6"), rebalancing),
        Case("1,000 tasks, cluster", REPLICATE, (*placed, "--budget", "20%"), ("greedy", "structure-aware", "exact")),
        Case("1,000 tasks, cluster, curve", REPLICATE, (*placed, "--budget", "20%", "--curve"), growing),
        Case("1,000 tasks, cluster, target", REPLICATE, (*placed, "--target", "0.6"), growing),
        Case("6,500 tasks", REPLICATE, streams, PLANNERS[REPLICATE]),
        Case("6,500 tasks, curve", REPLICATE, (*streams, "--curve"), growing, heavy=True),
        Case("6,500 tasks, target", REPLICATE, _job("streams", "--target", "0.6"), growing, heavy=True),
        Case("100,000 tasks", REPLICATE, _job("wide", "--budget", "10%"), ("greedy", *growing), heavy=True),
        Case("dense, 1,000 × 1,000", RECOVER, dense, PLANNERS[RECOVER]),
        Case("sparse, 10,000 × 50,000", RECOVER, sparse, PLANNERS[RECOVER], heavy=True),
        Case("placed, parallel", RECOVER, (*arrivals, "--parallel-recovery"), PLANNERS[RECOVER]),
        Case("placed, priority-time", RECOVER, (*arrivals, "--objective", "priority-time"), timed),
        Case("placed, fidelity-time", RECOVER, (*arrivals, "--objective", "fidelity-time"), ("best-density", "auto")),
    )


def _write(path: Path, kind: str, **body: Any) -> None:
    path.write_text(json.dumps({"format": f"ftplan/{kind}", "format_version": "1.0", **body}))


def _allocation_inputs(folder: Path, name: str, groups: int, nodes: int, windows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from instances import daily_loads

    rng = np.random.default_rng(0)
    records = daily_loads(groups, windows, rng).T.ravel()
    ids = [f"n{k + 1}" for k in range(nodes)]
    operator = {"id": "op", "parallelism": groups, "key_groups": groups, "state_bytes": 1e6}
    _write(folder / f"{name}-topology.json", "topology", operators=[operator], edges=[])
    home = [ids[g * nodes // groups] for g in range(groups)]
    copies = [
        [ids[(g * nodes // groups + 1 + int(step)) % nodes]]
        for g, step in enumerate(rng.integers(0, nodes - 1, groups))
    ]
    placement = {"key_groups": {"op": home}, "checkpoints": {"op": copies}}
    machines = [{"id": i, "cpu": 1.0, "zone": f"z{k % 8}"} for k, i in enumerate(ids)]
    _write(folder / f"{name}-cluster.json", "cluster", nodes=machines, placement=placement)
    rows = groups * windows
    starts = np.tile(np.arange(windows, dtype=np.int64) * 600_000_000, groups)
    columns = {
        "operator": pa.array(["op"]).take(pa.array(np.zeros(rows, dtype=np.int32))),
        "key_group": np.repeat(np.arange(groups, dtype=np.int32), windows),
        "window_start": pa.array(starts, pa.timestamp("us", tz="UTC")),
        "records": records,
        "resolution": pa.array(["key_group"]).take(pa.array(np.zeros(rows, dtype=np.int32))),
        "estimated": np.zeros(rows, dtype=bool),
    }  # fmt: skip
    stats = folder / f"{name}-stats"
    stats.mkdir()
    pq.write_table(pa.table(columns), stats / "key_groups.parquet")
    end = f"1970-01-{1 + windows // 144:02}T00:00:00Z"
    start = "1970-01-01T00:00:00Z"
    operators = {"op": {"key_groups": groups}}
    _write(stats / "manifest.json", "stats", window_s=600, start=start, end=end, operators=operators)


def _layers(tasks: int, layers: int, seed: int) -> dict[str, Any]:
    """Return a topology of layers with measured substreams: each operator feeds two of the next layer."""
    from instances import LayerSizes, layered

    from ftplan.io.model_entries import topology_entry

    made = topology_entry(layered(LayerSizes(layers, 2, tasks // layers // 2, 3), seed, key_groups=128, joins_every=3))
    return {part: made[part] for part in ("operators", "edges")}


def _placed_inputs(folder: Path) -> None:
    """Write a job of 1,000 tasks on 40 nodes in 8 racks that have room for few replicas."""
    job = _layers(1_000, 10, 1)
    _write(folder / "placed-topology.json", "topology", **job)
    nodes = [f"n{k + 1}" for k in range(40)]
    placement, following = {}, 0
    for operator in job["operators"]:
        count = operator["parallelism"]
        placement[operator["id"]] = [nodes[(following + k) % 40] for k in range(count)]
        following += count
    machines = [{"id": n, "cpu": 9.0 + k % 3, "zone": f"z{k % 8}"} for k, n in enumerate(nodes)]
    _write(folder / "placed-cluster.json", "cluster", nodes=machines, placement={"tasks": placement})
    scenarios = [{"id": n, "probability": 0.02, "fail": [f"node:{n}"]} for n in nodes]
    scenarios += [{"id": f"z{k}", "probability": 0.01, "fail": [f"zone:z{k}"]} for k in range(8)]
    _write(folder / "placed-failure.json", "failure", scenarios=scenarios)
    new = [{"at_s": 60 * (k + 1), "node": {"id": f"r{k}", "cpu": 8.0, "zone": f"z{k % 8}"}} for k in range(10)]
    _write(folder / "placed-arrivals.json", "failure", fail=["zone:z0", "zone:z1", "zone:z2"], arrivals=new)


def _queries(folder: Path, name: str, queries: int, needs: list[list[int]], tasks: int) -> None:
    """Write a job whose queries need some of the tasks of one operator."""
    import numpy as np

    rng = np.random.default_rng(2)
    cpu = [round(float(c), 4) for c in 0.25 * rng.lognormal(0.0, 0.5, tasks)]
    priority = [int(p) for p in rng.integers(1, 11, queries)]
    operators = [
        {"id": "task", "parallelism": tasks, "cpu": cpu, "selectivity": 1.0},
        {"id": "query", "parallelism": queries, "cpu": 0.0, "priority": priority},
    ]
    streams = [[t, q, 1.0] for q, need in enumerate(needs) for t in need]
    _write(folder / f"{name}-topology.json", "topology", operators=operators,
           edges=[{"from": "task", "to": "query", "substreams": streams}])  # fmt: skip


def _recovery_inputs(folder: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(3)
    dense = [np.flatnonzero(row).tolist() for row in rng.random((1_000, 1_000)) < 0.1]
    _queries(folder, "dense", 1_000, dense, 1_000)
    rank = 1.0 / (rng.permutation(50_000) + 1.0) ** 0.8
    sparse = [
        sorted(set(rng.choice(50_000, count, p=rank / rank.sum()).tolist())) for count in rng.integers(3, 9, 10_000)
    ]
    _queries(folder, "sparse", 10_000, sparse, 50_000)


def write_inputs(folder: Path) -> None:
    """Write all inputs."""
    from instances import mixture

    _allocation_inputs(folder, "middle", 2_048, 48, 288)
    _allocation_inputs(folder, "large", 32_768, 400, 288)
    _placed_inputs(folder)
    _write(folder / "streams-topology.json", "topology", **_layers(6_500, 13, 4))
    wide = mixture(100_000)
    operators = [
        {"id": o.id, "parallelism": o.parallelism, "inputs": o.inputs, "output": o.output}
        | ({} if o.rate_out is None else {"rate_out": o.rate_out.tolist()})
        | ({} if o.input_share is None else {"input_share": o.input_share.tolist()})
        for o in wide.operators
    ]
    edges = [
        {"from": wide.operators[e.source].id, "to": wide.operators[e.target].id, "partitioning": e.partitioning}
        for e in wide.edges
    ]
    _write(folder / "wide-topology.json", "topology", operators=operators, edges=edges)
    _recovery_inputs(folder)


def started(case: Case, algorithm: str, limit: float, folder: Path) -> subprocess.Popen[str]:
    """Start one command as a process of its own."""
    line = [case.command, *case.options, "--algorithm", algorithm, "--time-limit", f"{limit:g}s", "-v"]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *line], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, FOLDER_OF_CHILD: str(folder / "seconds.json")},
    )  # fmt: skip


def measured(case: Case, algorithm: str, limit: float, folder: Path) -> tuple[int, float, float | None, str]:
    """Return exit code, wall time, the part of it in ``ftplan.plan``, and what the answer says of its end."""
    times = folder / "seconds.json"
    times.unlink(missing_ok=True)
    began = time.perf_counter()
    process = started(case, algorithm, limit, folder)
    try:
        out, err = process.communicate(timeout=limit + 240.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return process.returncode, time.perf_counter() - began, None, "killed"
    wall = time.perf_counter() - began
    inside = json.loads(times.read_text()) if times.exists() else None
    if process.returncode in (0, 1):
        plan = json.loads(out)
        codes = sorted({w["code"] for w in plan["warnings"]} & {"TIME_LIMIT", "COMPARISON_CUT", "CURVE_CUT"})
        return process.returncode, wall, inside, " ".join((plan["status"], *codes))
    return process.returncode, wall, inside, err.strip().splitlines()[-1][-90:]


def interrupted(case: Case, algorithm: str, folder: Path, after_s: float) -> tuple[int, float, bool]:
    """Return exit code, seconds from signal to exit, and whether standard output stayed empty."""
    process = started(case, algorithm, 120.0, folder)
    assert process.stderr is not None
    for line in process.stderr:
        if "planning begins" in line:
            break
    time.sleep(after_s)
    sent = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    return process.returncode, time.perf_counter() - sent, out == ""


def chosen(only: list[str] | None, quick: bool) -> Iterator[tuple[Case, str]]:
    """Return the cases and algorithms that were asked for."""
    for case in cases():
        for algorithm in case.algorithms:
            name = f"{case.command} {case.name} {algorithm}"
            if (not quick or not case.heavy) and (not only or any(text in name for text in only)):
                yield case, algorithm


def run(folder: Path, asked: argparse.Namespace) -> None:
    limits = [] if asked.no_limits else asked.limits or ([1.0] if asked.quick else [1.0, 5.0])
    if limits:
        columns = "command | input | algorithm | limit (s) | wall (s) | plan (s) | rest (s) | above the limit (s)"
        print(f"| {columns} | answer |")
        print("|---|---|---|--:|--:|--:|--:|--:|---|")
    late = count = 0
    for case, algorithm in chosen(asked.only, asked.quick):
        for limit in limits:
            code, wall, inside, said = measured(case, algorithm, limit, folder)
            over = None if inside is None else max(0.0, inside - limit)
            count, late = count + 1, late + ((over is None and code not in (0, 1, 2)) or (over or 0.0) > LATE_S)
            shown = ("–", "–", "–") if inside is None else (f"{inside:.1f}", f"{wall - inside:.1f}", f"{over:.1f}")
            print(
                f"| {case.command} | {case.name} | {algorithm} | {limit:g} | {wall:.1f} | {' | '.join(shown)} | "
                f"{said if code in (0, 1) else f'exit {code}: {said}'} |",
                flush=True,
            )
    if count:
        print(f"\n{count - late} of {count} runs end within {LATE_S:g} s of their limit.")
    if asked.no_interrupts:
        return
    print("\n| command | input | algorithm | interrupted after (s) | ends after (s) | exit | output empty |")
    print("|---|---|---|--:|--:|--:|---|")
    for case, algorithm in chosen(asked.only, True):
        for after in (1.0,) if asked.quick else (1.0, 4.0):
            code, seconds, empty = interrupted(case, algorithm, folder, after)
            print(
                f"| {case.command} | {case.name} | {algorithm} | {after:g} | {seconds:.2f} | "
                f"{'ended before' if code in (0, 1, 2) and not empty else code} | {'yes' if empty else 'no'} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the largest inputs, one limit")
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="cases whose command, name and algorithm hold a text")
    parser.add_argument("--limits", nargs="*", type=float, metavar="S")
    parser.add_argument("--no-limits", action="store_true", help="interrupts only")
    parser.add_argument("--folder", type=Path, help="keep the inputs here, and use those that are there")
    parser.add_argument("--no-interrupts", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "sparse-topology.json").exists():
            write_inputs(folder)
        run(folder, asked)


if __name__ == "__main__":
    main()

"""Scale-outs at size, as whole commands: many key groups, many operators and nodes, long statistics.

Run from the project's root: ``python benchmarks/scale_out_at_scale.py [--seeds 1] [--only TEXT] [--time-limit 8]
[--quick]``. Prints a Markdown table.

- key groups: one operator of 32,768 key groups and 256 tasks that lacks as many again.
- cores: 50 operators of 10 jobs, half of them keyed, on 400 nodes whose free cores do for a third of what is needed, in
  tasks of five sizes; a tenth of the operators has tasks to spare.
- statistics: 10,000 tasks of 100 operators over 1,000 windows, with the forecast.

Each row is a process of its own: seconds are those of the command from start to end, reading its files included, the
peak is that of its memory. The gap is that of the sustained load.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ftplan.model.units import MB

ROOT = Path(__file__).resolve().parent.parent
WINDOW_S = 600
#: Cores of tasks, records/s that a task takes, and the longest that a command is to take.
CORES, RATE, TARGET_S = (0.25, 0.5, 1.0, 1.5, 2.0), 1000.0, 10.0


class Chain(NamedTuple):
    """A source and the operators behind it, each (id, parallelism, cores, key groups, tasks that demand keeps busy)."""

    source: str
    operators: Sequence[tuple[str, int, float, int, float]]


def write_inputs(folder: Path, jobs: Sequence[Chain], windows: int, nodes: Sequence[float], seed: int) -> None:
    """Write topology, cluster and statistics; *nodes* are free cores, none without a cluster."""
    rng = np.random.default_rng(seed)
    operators: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    tasks: list[pa.Table] = []
    groups: list[pa.Table] = []
    for job in jobs:
        operators.append({"id": job.source, "parallelism": 1, "cpu": 0.5})
        day = 0.75 + 0.25 * np.sin(np.arange(windows) * 2.0 * np.pi * WINDOW_S / 86400.0)
        day /= day.max()
        offered = day * WINDOW_S * RATE
        tasks.append(_rows(job.source, np.zeros((windows, 1)), offered[:, None], np.zeros((windows, 1))))
        before = job.source
        for number, (name, count, cpu, keyed, use) in enumerate(job.operators):
            last = number == len(job.operators) - 1
            operators.append({"id": name, "parallelism": count, "cpu": cpu, "output": last})
            if keyed:
                operators[-1] |= {"key_groups": keyed}
            edges.append({"from": before, "to": name, "partitioning": "full"})
            part = np.full(count, 1.0 / count)
            if keyed:
                weight = rng.lognormal(0.0, 0.3, keyed)
                part = np.bincount(np.arange(keyed) * count // keyed, weight / weight.sum(), minlength=count)
                groups.append(_group_rows(name, weight / weight.sum() * offered.sum()))
            read = offered[:, None] * part
            # A task is busy for as long as its records take, at most all the time; it keeps up with them all the same.
            busy = 1000.0 * use * day[:, None] * part * WINDOW_S
            tasks.append(_rows(name, read, read, busy))
            before = name
    names = [f"n{k + 1}" for k in range(len(nodes))]
    _write(folder / "topology.json", "topology", operators=operators, edges=edges)
    if names:
        used, placed = np.zeros(len(names)), {}
        for item in operators:
            at = rng.integers(0, len(names), item["parallelism"])
            np.add.at(used, at, item["cpu"])
            placed[item["id"]] = [names[k] for k in at.tolist()]
        machines = [{"id": n, "cpu": float(u + f)} for n, u, f in zip(names, used, nodes, strict=True)]
        network = {"bandwidth_mb_s": 100.0, "delay_s": 0.001}
        _write(folder / "cluster.json", "cluster", nodes=machines, network=network, placement={"tasks": placed})
    _write_stats(folder / "stats", windows, operators, tasks, groups)


def _rows(name: str, read: np.ndarray, wrote: np.ndarray, busy_ms: np.ndarray) -> pa.Table:
    """Return rows of tasks from columns (W, T)."""
    windows, count = read.shape
    columns = {
        "operator": pa.array([name]).take(pa.array(np.zeros(windows * count, dtype=np.int64))),
        "task": np.tile(np.arange(count, dtype=np.int32), windows),
        "window_start": _starts(np.repeat(np.arange(windows), count)),
        "records_in": read.ravel(),
        "records_out": wrote.ravel(),
        "busy_ms": busy_ms.ravel(),
        "queue_length": np.zeros(windows * count),
    }
    return pa.table(columns)


def _group_rows(name: str, records: np.ndarray) -> pa.Table:
    """Return rows of key groups (K,), without a window: what counts is their share."""
    count = len(records)
    columns = {
        "operator": pa.array([name] * count, pa.string()),
        "key_group": np.arange(count, dtype=np.int32),
        "records": records,
        "bytes": 100.0 * records,
        "state_bytes": MB * records * count / max(records.sum(), 1.0),
        "resolution": pa.array(["key_group"] * count, pa.string()),
        "estimated": np.zeros(count, dtype=bool),
    }
    return pa.table(columns)


def _starts(window: np.ndarray) -> pa.Array:
    return pa.array(window * WINDOW_S * 1_000_000, pa.timestamp("us", "UTC"))


def _write(path: Path, kind: str, **body: Any) -> None:
    path.write_text(json.dumps({"format": f"ftplan/{kind}", "format_version": "1.0", **body}))


def _write_stats(
    stats: Path, windows: int, operators: Sequence[dict[str, Any]], tasks: list[pa.Table], groups: list[pa.Table]
) -> None:
    stats.mkdir()
    pq.write_table(pa.concat_tables(tasks), stats / "tasks.parquet")
    table = pa.concat_tables(groups or [_group_rows("", np.zeros(0))])
    last = _starts(np.full(len(table), windows - 1))
    pq.write_table(table.add_column(2, "window_start", last), stats / "key_groups.parquet")
    facts = {o["id"]: {"key_groups": o["key_groups"]} if "key_groups" in o else {} for o in operators}
    end = datetime.fromtimestamp(windows * WINDOW_S, UTC).isoformat()
    _write(stats / "manifest.json", "stats", window_s=WINDOW_S, start="1970-01-01T00:00:00Z", end=end,
           operators=facts)  # fmt: skip


def key_groups(folder: Path, seed: int, part: int) -> list[str]:
    """Write one operator with many key groups; return what is asked for."""
    write_inputs(folder, [Chain("in", [("keys", 256, 1.0, 32_768 // part, 350.0)])], 24, [], seed)
    return []


def cores(folder: Path, seed: int, part: int) -> list[str]:
    """Write many operators on many nodes that are nearly full."""
    rng = np.random.default_rng([seed, 1])
    jobs = []
    for job in range(10):
        chain = []
        for number in range(5):
            tasks = int(rng.integers(4, 40))
            # One in ten has tasks to spare; the others need up to three times what they have.
            use = tasks * float(rng.uniform(0.05, 0.1) if rng.random() < 0.1 else rng.uniform(0.6, 2.1))
            groups = int(rng.choice([128, 256, 1024])) if number % 2 else 0
            chain.append((f"op{job}-{number}", tasks, float(rng.choice(CORES)), groups, use))
        jobs.append(Chain(f"in{job}", chain))
    write_inputs(folder, jobs, 24, rng.choice([0.0, 0.25, 0.75, 1.25, 2.5], 400 // part).tolist(), seed)
    return ["-c", "cluster.json"]


def statistics(folder: Path, seed: int, part: int) -> list[str]:
    """Write long statistics of many tasks."""
    rng = np.random.default_rng([seed, 2])
    jobs = [
        Chain(f"in{job}", [(f"op{job}-{n}", 100, 0.5, 0, float(rng.uniform(20.0, 120.0))) for n in range(10)])
        for job in range(10)
    ]
    write_inputs(folder, jobs, 1000 // part, [], seed)
    return []


#: Name, what there is of it, and who writes it.
CASES: tuple[tuple[str, str, Callable[[Path, int, int], list[str]]], ...] = (
    ("key groups", "32,768 key groups, 256 tasks", key_groups),
    ("cores", "50 operators, 400 nodes", cores),
    ("statistics", "10,000 tasks, 1,000 windows", statistics),
)


def measured(folder: Path, asked: list[str], algorithm: str, limit_s: float) -> tuple[float, float, dict[str, Any]]:
    """Return the seconds of a command, its peak memory in GiB, and its plan."""
    words = ["scale-out", "-t", "topology.json", "-s", "stats", *asked, "--algorithm", algorithm,
             "--time-limit", f"{limit_s:g}s", "-o", "plan.json", "--force", "--no-progress", "-q"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "ftplan", *words], cwd=folder, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return seconds, usage.ru_maxrss / 2**20, json.loads((folder / "plan.json").read_text())


def row(what: str, algorithm: str, seed: int, seconds: float, gib: float, plan: dict[str, Any]) -> str:
    """Return one row of the table."""
    goal, after, before = plan["objective"], plan["summary"]["after"], plan["summary"]["before"]
    changed = sum(item["parallelism_from"] != item["parallelism_to"] for item in plan["plan"]["operators"])
    cells = (
        what, algorithm, str(seed), f"{seconds:.1f}", f"{gib:.2f} GiB", f"{before['sustained_load']:.3f}",
        f"{goal['value']:.3f}", f"{goal['gap']:.2%}", f"{after['extra_cpu']:.6g}", str(changed), plan["status"],
        f"≤ {TARGET_S:g} s",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Scale-outs at size.")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="cases whose name has it")
    parser.add_argument("--time-limit", type=float, default=8.0, help="seconds")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, exact alone")
    asked = parser.parse_args()
    print(
        "| size | algorithm | seed | seconds | peak memory | sustained now | sustained | gap | cores more | "
        "operators changed | status | to reach |"
    )
    print("|---" * 12 + "|", flush=True)
    for name, what, written in CASES:
        if asked.only and not any(text in name for text in asked.only):
            continue
        for seed in range(asked.seeds):
            with tempfile.TemporaryDirectory() as path:
                words = written(Path(path), seed, 10 if asked.quick else 1)
                for algorithm in ("exact",) if asked.quick else ("exact", "ds2", "doubling"):
                    run = measured(Path(path), words, algorithm, asked.time_limit)
                    print(row(f"{what}{' / 10' if asked.quick else ''}", algorithm, seed, *run), flush=True)


if __name__ == "__main__":
    main()

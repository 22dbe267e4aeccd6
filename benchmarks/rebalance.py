"""Rebalances at size: 32,768 key groups on 400 nodes by adaptive, 1,024 on 50 by exact, as whole commands.

Run from the project's root: ``python benchmarks/rebalance.py [--seeds 3] [--only TEXT ...] [--time-limit 30]
[--quick]``. Prints Markdown tables. A tenth of the nodes are 95 % to 120 % full, the others 50 % to 80 %; no node may
be above 85 % afterwards. Each key group has a checkpoint on one other node, its load follows the day with lognormal
sizes, and eight operators have 16 MB to 2 GB of state. Asked is that alone; that load is within 20 % of even; that the
least is transferred; that 1 % of the nodes are drained; and that 5 % more nodes, which are empty, are filled.

Each row is a process of its own: seconds are those of the command from start to end, reading its files included, and
the peak is that of its memory. Cold is the first command of all on a machine, with no compiled function in the cache
and Python's bytecode not written. The second table says where the time of a command goes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from instances import daily_loads

from ftplan.model.units import MB

ROOT = Path(__file__).resolve().parent.parent
OPERATORS, WINDOWS, WINDOW_S = 8, 24, 600
#: Records per second and core, and the share of nodes that are overloaded, drained, and added.
PER_CORE, HOT, DRAINED, NEW = 1000.0, 0.1, 0.01, 0.05
#: What is wrapped to see where time goes: a name, a module, and its functions.
PARTS = (
    ("read files", "ftplan.cli.inputs", ("problem_given",)),
    ("costs and limits", "ftplan.planners.rebalance.make", ("prepare",)),
    ("pairings", "ftplan.planners.rebalance.algorithms.adaptive", ("pairing",)),
    ("bound", "ftplan.planners.rebalance.algorithms.adaptive", ("lower_bound",)),
    ("search", "ftplan.planners.rebalance.algorithms.adaptive", ("improved_starts", "chosen")),
    ("integer program", "ftplan.planners.rebalance.algorithms.exact", ("least_cost", "fewest", "impossible_moves")),
    ("phases", "ftplan.planners.rebalance.algorithms.adaptive", ("outcome",)),
    ("phases ", "ftplan.planners.rebalance.algorithms.exact", ("outcome",)),
    ("summary and front", "ftplan.planners.rebalance.make", ("_summary", "body")),
)
#: Runs a command line, and writes how long its parts took to a file.
CHILD = """
import importlib, json, os, sys, time
began, parts, inside = time.perf_counter(), {}, []
def wrapped(name, function):
    def timed(*args, **options):
        start = time.perf_counter()
        inside.append(0.0)
        try:
            return function(*args, **options)
        finally:
            took, within = time.perf_counter() - start, inside.pop()
            parts[name] = parts.get(name, 0.0) + took - within
            if inside:
                inside[-1] += took
    return timed
for name, module, functions in json.loads(os.environ["FTPLAN_BENCH_PARTS"]):
    module = importlib.import_module(module)
    for function in functions:
        setattr(module, function, wrapped(name.strip(), getattr(module, function)))
from ftplan.cli import main
parts["start"] = time.perf_counter() - began
sys.argv = ["ftplan", *sys.argv[1:]]
try:
    main.main()
finally:
    with open(os.environ["FTPLAN_BENCH_TIMES"], "w") as file:
        json.dump(parts, file)
"""


@dataclass(frozen=True)
class Case:
    """One question; ``asked`` is words of the command line, or ``remove`` or ``add``."""

    groups: int
    nodes: int
    algorithm: str
    asked: str
    target: str


LARGE, SMALL = "≤ 10 s", "gap ≤ 1 % in 30 s"
ASKED = ("", "--tolerance 0.2", "--objective bytes", "remove", "add")
CASES = tuple(
    Case(groups, nodes, algorithm, asked, target)
    for groups, nodes, algorithm, target in ((32_768, 400, "adaptive", LARGE), (1_024, 50, "exact", SMALL))
    for asked in ASKED
)


def write_inputs(folder: Path, groups: int, nodes: int, seed: int) -> int:
    """Write topology, cluster and statistics; return how many nodes are added to those that have load."""
    rng = np.random.default_rng(seed)
    new = max(1, round(NEW * nodes))
    names = [f"n{k + 1}" for k in range(nodes + new)]
    each = groups // OPERATORS
    records = daily_loads(groups, WINDOWS, seed)
    load = records.mean(axis=0)
    aim = rng.uniform(0.5, 0.8, nodes)
    hot = rng.choice(nodes, round(HOT * nodes), replace=False)
    aim[hot] = rng.uniform(0.95, 1.2, len(hot))
    home = filled(load, aim)
    copy = (home + rng.integers(1, nodes, groups)) % nodes
    cpu = load.sum() / aim.sum() / PER_CORE / WINDOW_S
    ids = [f"op{k}" for k in range(OPERATORS)]
    operators = [
        {"id": name, "parallelism": 16, "key_groups": each, "state_bytes": MB * 2.0**k, "record_time_s": 1e-5,
         "checkpoint": {"interval_s": 10, "kind": "full" if k % 4 == 3 else "incremental"}}
        for k, name in enumerate(ids)
    ]  # fmt: skip
    of = [slice(k * each, (k + 1) * each) for k in range(OPERATORS)]
    placement = {
        "key_groups": {i: [names[n] for n in home[part]] for i, part in zip(ids, of, strict=True)},
        "checkpoints": {i: [[names[n]] for n in copy[part]] for i, part in zip(ids, of, strict=True)},
    }
    machines = [{"id": name, "cpu": round(float(cpu), 6), "zone": f"z{k % 8}"} for k, name in enumerate(names)]
    _write(folder / "topology.json", "topology", operators=operators, edges=[])
    network = {"bandwidth_mb_s": 100.0, "delay_s": 0.001}
    _write(folder / "cluster.json", "cluster", nodes=machines, network=network, placement=placement)
    _write_stats(folder / "stats", ids, records)
    return new


def filled(load: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Return a node for each key group, (K,), so that load on nodes is in proportion to *aim*, (N,): largest first."""
    left = aim * (load.sum() / aim.sum())
    home = np.zeros(len(load), dtype=np.int64)
    for group in np.argsort(-load, kind="stable").tolist():
        home[group] = int(np.argmax(left))
        left[home[group]] -= load[group]
    return home


def _write(path: Path, kind: str, **body: Any) -> None:
    path.write_text(json.dumps({"format": f"ftplan/{kind}", "format_version": "1.0", **body}))


def _write_stats(stats: Path, ids: list[str], records: np.ndarray) -> None:
    """Write the records of each key group in each window, (W, K), as statistics."""
    stats.mkdir()
    windows, groups = records.shape
    each = groups // len(ids)
    columns = {
        "operator": pa.array(ids).take(pa.array(np.repeat(np.arange(len(ids)), each * windows))),
        "key_group": np.repeat(np.tile(np.arange(each, dtype=np.int32), len(ids)), windows),
        "window_start": pa.array(np.tile(np.arange(windows) * WINDOW_S * 1_000_000, groups), pa.timestamp("us", "UTC")),
        "records": records.T.ravel(),
        "bytes": 100.0 * records.T.ravel(),
        "resolution": pa.array(["key_group"] * records.size),
        "estimated": np.zeros(records.size, dtype=bool),
    }
    pq.write_table(pa.table(columns), stats / "key_groups.parquet")
    operators = {name: {"key_groups": each} for name in ids}
    end = f"1970-01-01T{windows * WINDOW_S // 3600:02}:00:00Z"
    _write(stats / "manifest.json", "stats", window_s=WINDOW_S, start="1970-01-01T00:00:00Z", end=end,
           operators=operators)  # fmt: skip


def command(case: Case, new: int, seed: int, limit_s: float) -> list[str]:
    """Return the words of a command line after ``ftplan``."""
    words = {
        "remove": [word for k in range(round(DRAINED * case.nodes) or 1) for word in ("--remove", f"n{k + 1}")],
        "add": [word for k in range(new) for word in ("--add", f"n{case.nodes + k + 1}")],
    }.get(case.asked, case.asked.split())
    # the empty nodes take nothing where they are not asked for
    return [
        "rebalance", "-t", "topology.json", "-c", "cluster.json" if case.asked == "add" else "without.json",
        "-s", "stats", "--algorithm", case.algorithm, "--capacity-per-core", f"{PER_CORE:g}",
        "--time-limit", f"{limit_s:g}s", "--seed", str(seed), "-o", "plan.json", "--no-progress", "-q", *words,
    ]  # fmt: skip


def measured(case: Case, seed: int, folder: Path, limit_s: float, cache: Path | None = None) -> dict[str, Any]:
    """Return what one command took and what came of it; *cache* is an empty one."""
    new = write_inputs(folder, case.groups, case.nodes, seed)
    cluster = json.loads((folder / "cluster.json").read_text())
    (folder / "without.json").write_text(json.dumps({**cluster, "nodes": cluster["nodes"][: case.nodes]}))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "FTPLAN_BENCH_PARTS": json.dumps(PARTS),
        "FTPLAN_BENCH_TIMES": str(folder / "times.json"),
        **({} if cache is None else {"NUMBA_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache)}),
    }
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, *command(case, new, seed, limit_s)], cwd=folder, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    plan = json.loads((folder / "plan.json").read_text())
    return {
        "seconds": seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "memory": _peak_gib(usage),
        "plan": plan,
        "parts": json.loads((folder / "times.json").read_text()),
    }


def _peak_gib(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 2**20


def line(case: Case, seed: int, cold: bool, run: dict[str, Any]) -> str:
    """Return one row of the first table."""
    plan = run["plan"]
    goal, body = plan["objective"], plan["plan"]
    assisted = sum(move["protocol"] in ("cpa", "cpal") for move in body["moves"]) if body else 0
    moves = f"{len(body['moves']):,} ({assisted:,}) | {len(body['phases']):,}" if body else "none | "
    asked = case.asked or "no overload"
    gap = "" if goal["gap"] is None else f"{goal['gap']:.3%}"
    value = "" if goal["value"] is None else f"{goal['value']:.6g}"
    cells = (
        f"{case.groups:,} × {case.nodes}", asked, case.algorithm, f"{seed}{', cold' if cold else ''}",
        f"{run['seconds']:.1f}", f"{run['processor']:.1f}", f"{run['memory']:.2f} GiB", moves, value, gap,
        plan["status"], case.target,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def shares(case: Case, run: dict[str, Any], names: list[str]) -> str:
    """Return one row of the second table; what is in no part is printing, checking and writing."""
    parts = {**run["parts"], "rest": run["seconds"] - sum(run["parts"].values())}
    cells = [f"{parts.get(name, 0.0) / run['seconds']:.0%}" for name in names]
    return (
        f"| {case.groups:,} × {case.nodes} | {case.asked or 'no overload'} | {case.algorithm} | {' | '.join(cells)} |"
    )


def runs(asked: argparse.Namespace) -> Iterator[tuple[Case, int, bool]]:
    """Yield what is run: the first question of each size on a cold machine too."""
    for case in CASES:
        name = f"{case.groups:,} × {case.nodes} {case.asked or 'no overload'} {case.algorithm}"
        if asked.only and not any(text in name for text in asked.only):
            continue
        if case.asked == "":
            yield case, 0, True
        for seed in range(1 if asked.quick else asked.seeds):
            yield case, seed, False


def main() -> None:
    parser = argparse.ArgumentParser(description="Rebalances at size.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="cases whose size, question or algorithm has it")
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--quick", action="store_true", help="one seed")
    asked = parser.parse_args()
    print(
        "| key groups × nodes | asked | algorithm | seed | seconds | of processor | peak memory | moves (assisted) | "
        "phases | value | gap | status | to reach |"
    )
    print("|---" * 13 + "|", flush=True)
    last: dict[Case, dict[str, Any]] = {}
    for case, seed, cold in runs(asked):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
            run = measured(case, seed, Path(folder), asked.time_limit, Path(cache) if cold else None)
        last[case] = run
        print(line(case, seed, cold, run), flush=True)
    names = list(dict.fromkeys(["start", *(name.strip() for name, *_ in PARTS), "rest"]))
    print(f"\n| key groups × nodes | asked | algorithm | {' | '.join(names)} |\n{'|---' * (3 + len(names))}|")
    for case, run in last.items():
        print(shares(case, run, names))


if __name__ == "__main__":
    main()

"""How long large topologies take to load and validate, and how much memory: prints a Markdown table.

    python benchmarks/large_inputs.py [FOLDER]

Each case runs in a process of its own, so that peak memory is its own; imports are not counted in the time.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

OPERATORS, EDGES = 10_000, 200_000
WIDE_OPERATORS, WIDE_TASKS = 20, 4_000
GROUPS, WINDOWS = 32_768, 360
REPEATS = 3


def many_operators() -> dict[str, Any]:
    """A random acyclic graph whose edges have all kinds of partitioning."""
    rng = random.Random(0)
    sizes = [rng.choice((2, 4, 8)) for _ in range(OPERATORS)]
    operators = [
        {"id": f"op-{i}", "parallelism": size, "cpu": 0.5, "selectivity": 0.9, "key_groups": 64}
        for i, size in enumerate(sizes)
    ]
    edges = []
    for _ in range(EDGES):
        a, b = sorted(rng.sample(range(OPERATORS), 2))
        special = "one-to-one" if sizes[a] == sizes[b] else "split" if sizes[a] < sizes[b] else "merge"
        edges.append({"from": f"op-{a}", "to": f"op-{b}", "partitioning": rng.choice(("full", special))})
    return {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}


def wide_operators() -> dict[str, Any]:
    """Every operator feeds every later one by a full edge: 190 edges, 3 billion pairs of tasks."""
    operators = [{"id": f"op-{i}", "parallelism": WIDE_TASKS, "key_groups": WIDE_TASKS} for i in range(WIDE_OPERATORS)]
    edges = [
        {"from": f"op-{a}", "to": f"op-{b}", "partitioning": "full"}
        for a in range(WIDE_OPERATORS)
        for b in range(a + 1, WIDE_OPERATORS)
    ]
    return {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}


def write_inputs(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    many = many_operators()
    (folder / "many.json").write_text(json.dumps(many, indent=1))
    (folder / "many.yaml").write_text(yaml.dump(many, Dumper=dumper, sort_keys=False))
    (folder / "wide.json").write_text(json.dumps(wide_operators(), indent=1))
    rows = GROUPS * WINDOWS
    stats = folder / "stats"
    stats.mkdir(exist_ok=True)
    starts = np.tile(np.arange(WINDOWS, dtype=np.int64) * 60_000_000, GROUPS)
    columns = {
        "operator": pa.array(["by-plane"]).take(pa.array(np.zeros(rows, dtype=np.int32))),
        "key_group": np.repeat(np.arange(GROUPS, dtype=np.int32), WINDOWS),
        "window_start": pa.array(starts, pa.timestamp("us", tz="UTC")),
        "records": np.random.default_rng(0).random(rows),
        "resolution": pa.array(["key_group"]).take(pa.array(np.zeros(rows, dtype=np.int32))),
        "estimated": np.zeros(rows, dtype=bool),
    }
    pq.write_table(pa.table(columns), stats / "key_groups.parquet")
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": 60,
        "start": "1970-01-01T00:00:00Z",
        "end": "1970-01-01T06:00:00Z",
        "operators": {"by-plane": {"key_groups": GROUPS}},
    }
    (stats / "manifest.json").write_text(json.dumps(manifest))


def run_case(case: str, path: Path) -> None:
    """Run one case and print seconds, cpu seconds and peak MB."""
    if case == "series":
        from ftplan.io.stats_store import load_stats
        from ftplan.model.measures.key_group_series import key_group_series

        tables = load_stats(path).value
        start = time.perf_counter(), time.process_time()
        key_group_series(tables, "records")
    elif case == "stats":
        from ftplan.io.stats_store import load_stats

        start = time.perf_counter(), time.process_time()
        load_stats(path)
    else:
        from ftplan.io.topology_file import load_topology

        start = time.perf_counter(), time.process_time()
        load_topology(path)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - start[0], time.process_time() - start[1], peak_mb)


def main(folder: Path) -> None:
    # In a process of its own: a child's peak memory begins at that of the process that starts it.
    subprocess.run([sys.executable, __file__, "--write", str(folder)], check=True)
    cases = [
        (f"{OPERATORS:,} operators, {EDGES:,} edges, JSON", "topology", "many.json", 5.0),
        (f"{OPERATORS:,} operators, {EDGES:,} edges, YAML", "topology", "many.yaml", 20.0),
        (f"{WIDE_OPERATORS} x {WIDE_TASKS:,} tasks, all full edges", "topology", "wide.json", 5.0),
        (f"statistics, {GROUPS:,} groups x {WINDOWS} windows: load", "stats", "stats", None),
        ("statistics: matrix of loads", "series", "stats", 2.0),
    ]
    print(
        f"| load and validate (median of {REPEATS}) | file (MB) | seconds | cpu seconds | to reach | peak memory (MB) |"
    )
    print("|---|---|---|---|---|---|")
    for title, case, name, limit in cases:
        path = folder / name
        command = [sys.executable, __file__, "--case", case, str(path)]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(REPEATS)]
        seconds, cpu, peak = (statistics.median(float(run.split()[i]) for run in runs) for i in range(3))
        size = sum(file.stat().st_size for file in [path, *path.glob("*")] if file.is_file()) / 2**20
        print(f"| {title} | {size:.1f} | {seconds:.2f} | {cpu:.2f} | {limit or '–'} | {peak:.0f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        run_case(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:2] == ["--write"]:
        write_inputs(Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))

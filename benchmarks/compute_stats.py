"""How fast ``compute-stats`` aggregates, beside DuckDB and Polars, and how long the Houston log takes end to end.

    python benchmarks/compute_stats.py --rows 20000000

Part (a): a generated Parquet log (key group by xxhash64 of a text key, 1,024 groups, 360 windows), summed up by key
group and window on each engine in one run, warm, median of several rounds. DuckDB and Polars have other hashes, so
they hash with their own; the work is the same. Part (b): examples/flights in a fresh process with session start.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ftplan.spark_stats.inputs import inspect_files
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import known_operators
from ftplan.spark_stats.passes import run_passes
from ftplan.spark_stats.readers import read_log
from ftplan.spark_stats.session import open_session

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data"
GROUPS, WINDOWS, WINDOW_S, KEYS = 1024, 360, 60, 200_000
TARGETS = {"sail": 1.5, "spark": 5.0}
END_TO_END_TARGETS_S = {"spark": 15.0, "sail": 4.0}


def generated_log(rows: int) -> Path:
    """Write (once) a log of *rows* records: time in milliseconds, key, bytes."""
    path = DATA / f"log-{rows}.parquet"
    if path.exists():
        return path
    DATA.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    names = np.array([f"user-{i:06d}" for i in range(KEYS)])
    schema = pa.schema([("time_ms", pa.int64()), ("key", pa.string()), ("bytes", pa.int64())])
    start = 1_700_006_400_000
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema) as out:
        for first in range(0, rows, 1_000_000):
            n = min(1_000_000, rows - first)
            keys = names[np.minimum((rng.random(n) ** 2 * KEYS).astype(np.int64), KEYS - 1)]
            times = start + rng.integers(0, WINDOWS * WINDOW_S * 1000, n)
            out.write_table(pa.table([times, pa.array(keys), rng.integers(40, 1500, n)], schema=schema))
    unfinished.rename(path)
    return path


@contextmanager
def _duckdb(path: Path) -> Iterator[Callable[[], int]]:
    import duckdb

    connection = duckdb.connect()
    query = f"""SELECT hash(key) % {GROUPS} AS key_group, time_ms // {WINDOW_S * 1000} AS w, count(*) AS records,
                sum(bytes) AS bytes FROM '{path}' GROUP BY ALL"""
    yield lambda: len(connection.sql(query).to_arrow_table())
    connection.close()


@contextmanager
def _polars(path: Path) -> Iterator[Callable[[], int]]:
    import polars as pl

    def run() -> int:
        frame = pl.scan_parquet(path).select(
            (pl.col("key").hash() % GROUPS).alias("key_group"),
            (pl.col("time_ms") // (WINDOW_S * 1000)).alias("w"),
            "bytes",
        )
        sums = frame.group_by("key_group", "w").agg(pl.len(), pl.col("bytes").sum())
        return sums.collect(engine="streaming").height

    yield run


@contextmanager
def _ftplan(path: Path, engine: str, key_hash: str) -> Iterator[Callable[[], int]]:
    """The passes of compute-stats in a session that is already open, tables put together included."""
    mapping = LogMapping(
        time_columns=("time_ms",), time_format="epoch-ms", window_s=WINDOW_S, operator="users", key_columns=("key",),
        key_groups=GROUPS, key_hash=key_hash, bytes_column="bytes",
    )  # fmt: skip
    files = inspect_files([(str(path), False)])
    operators = known_operators(mapping, None)
    with open_session(engine) as session:
        yield lambda: run_passes(read_log(session, files, mapping), mapping, operators).tables["key_groups"].num_rows


def aggregation(rows: int, rounds: int) -> list[str]:
    path = generated_log(rows)
    runs = {
        "duckdb": lambda: _duckdb(path),
        "polars": lambda: _polars(path),
        "sail": lambda: _ftplan(path, "sail", "xxhash64"),
        "sail, flink": lambda: _ftplan(path, "sail", "flink"),
        "spark": lambda: _ftplan(path, "spark", "xxhash64"),
        "spark, flink": lambda: _ftplan(path, "spark", "flink"),
    }
    seconds = {}
    for name, run in runs.items():
        with run() as once:
            once()
            times = []
            for _ in range(rounds):
                began = time.perf_counter()
                once()
                times.append(time.perf_counter() - began)
            seconds[name] = statistics.median(times)
            print(f"{name}: {', '.join(f'{t:.2f}' for t in times)}", file=sys.stderr)
    lines = [f"| {rows:,} rows, {GROUPS} groups, {WINDOWS} windows | s | × DuckDB | target |", "|---|---|---|---|"]
    for name, s in seconds.items():
        target = f"≤ {TARGETS[name]:g}" if name in TARGETS else ""
        lines.append(f"| {name} | {s:.2f} | {s / seconds['duckdb']:.2f} | {target} |")
    return lines


def end_to_end(rounds: int) -> list[str]:
    lines = ["| Houston log, 227,496 rows, end to end | s | target |", "|---|---|---|"]
    for engine, target in END_TO_END_TARGETS_S.items():
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            subprocess.run([sys.executable, __file__, "--houston", engine], check=True, cwd=ROOT, env=os.environ)
            times.append(time.perf_counter() - began)
        lines.append(f"| {engine} | {statistics.median(times):.2f} | ≤ {target:g} |")
    return lines


def houston(engine: str) -> None:
    import tempfile

    from ftplan.spark_stats.pipeline import compute

    mapping = LogMapping(
        time_columns=("Year", "Month", "DayofMonth", "DepTime"), window_s=3600, key_groups=64, max_rejects=0.02,
        keys=(("by-plane", ("TailNum",)), ("by-destination", ("Dest",))), key_hash="flink",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        compute(mapping, [str(ROOT / "examples/flights/hflights.csv.gz")], engine=engine, folder=Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--houston", choices=sorted(END_TO_END_TARGETS_S), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.houston:
        houston(arguments.houston)
        return
    print("\n".join(aggregation(arguments.rows, arguments.rounds)))
    print()
    print("\n".join(end_to_end(arguments.rounds)))


if __name__ == "__main__":
    main()

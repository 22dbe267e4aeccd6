"""What ``compute-stats`` moves on a cluster: time, shuffles and memory by the number of cores and the size of the log.

    python benchmarks/compute_stats_cluster.py --copies 1 6

The Houston log, its rows repeated, on Spark with one core, with two, and on a standalone cluster of two workers of one
core each on this machine. Shuffles and memory are from the event log that Spark writes. The statistics of one log must
be the same to the byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compute_stats_logs import HOUSTON, OPTIONS, ROOT

sys.path.insert(0, str(ROOT))

from tests.spark_stats.cluster import standalone


def houston(copies: int, path: Path) -> Path:
    header, _, rows = gzip.decompress(HOUSTON.read_bytes()).partition(b"\n")
    with path.open("wb") as out:
        out.write(header + b"\n")
        for _ in range(copies):
            out.write(rows)
    return path


def measured(log: Path, master: str, place: Path) -> tuple[float, dict[str, float]]:
    """Return the seconds of the command, and what its tasks moved and held."""
    events = place / "events"
    events.mkdir()
    settings = {"enabled": "true", "dir": f"file://{events}", "compress": "false", "rolling.enabled": "false"}
    arguments = " ".join(f"--conf spark.eventLog.{name}={value}" for name, value in settings.items())
    command = [sys.executable, "-m", "ftplan", "compute-stats", str(log), "-o", str(place / "out"), "--master", master]
    command += [*OPTIONS["flights"], "--engine", "spark"]
    variables = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1"}
    began = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, env=variables, capture_output=True)
    seconds = time.perf_counter() - began
    totals = {"tasks": 0.0, "task_s": 0.0, "shuffled": 0.0, "records": 0.0, "memory": 0.0}
    for file in events.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] != "SparkListenerTaskEnd":
                continue
            metrics = event["Task Metrics"]
            totals["tasks"] += 1
            totals["task_s"] += metrics["Executor Run Time"] / 1000
            totals["shuffled"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            totals["records"] += metrics["Shuffle Write Metrics"]["Shuffle Records Written"]
            totals["memory"] = max(totals["memory"], metrics["Peak Execution Memory"])
    return seconds, totals


def written(folder: Path) -> dict[str, bytes]:
    """Return the tables, and the rejected rows."""
    return {p.name: p.read_bytes() for p in folder.rglob("*") if p.suffix in (".parquet", ".jsonl")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 6, 24])
    sizes = parser.parse_args().copies
    columns = ("log, MB", "where", "whole command, s", "tasks", "in tasks, s", "shuffled, MB", "records shuffled")
    print(f"| {' | '.join((*columns, 'largest task, MB'))} |\n|{'---|' * 8}")
    for copies in sizes:
        found = []
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            log = houston(copies, folder / "log.csv")
            for name in ("1 core", "2 cores", "2 workers of 1 core"):
                place = folder / name.replace(" ", "-")
                place.mkdir()
                if "workers" in name:
                    with standalone(place, cores=(1, 1)) as master:
                        seconds, of = measured(log, master, place)
                else:
                    seconds, of = measured(log, f"local[{name[0]}]", place)
                found.append(written(place / "out"))
                figures = (f"{log.stat().st_size / 1e6:.0f}", name, f"{seconds:.1f}", f"{of['tasks']:.0f}")
                moved = (f"{of['task_s']:.1f}", f"{of['shuffled'] / 1e6:.1f}", f"{of['records']:,.0f}")
                memory = f"{of['memory'] / 1e6:.0f}"
                print(f"| {' | '.join((*figures, *moved, memory))} |", flush=True)
        if any(other != found[0] for other in found):
            sys.exit("the statistics differ")


if __name__ == "__main__":
    main()

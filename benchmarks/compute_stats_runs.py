"""Runs of ``compute-stats`` and its peers as whole processes: seconds, peak memory, and what they counted."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compute_stats_logs import OPTIONS, Log

HERE = Path(__file__).resolve().parent
ENGINES = ("sail", "spark")
CORES = 2


@dataclass
class Run:
    """What one engine or peer took for a log: seconds of each round, bytes at the most, and what it counted."""

    seconds: list[float] = field(default_factory=list)
    memory: int = 0
    counted: Any = None
    refused: str = ""

    @property
    def median(self) -> float:
        """Median seconds of the rounds."""
        return statistics.median(self.seconds)


def resident(pid: int) -> int:
    """Return the bytes in memory of a process and all below it (Linux); what they share counts for each."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = " ".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:  # it has ended
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return (int(found[1]) * 1024 if found else 0) + sum(resident(int(child)) for child in children.split())


def measure(command: list[str]) -> tuple[float, int, subprocess.CompletedProcess[str]]:
    """Run a command on two cores; return its seconds, the peak memory of its process tree in bytes, and its output."""
    own = set(sorted(os.sched_getaffinity(0))[:CORES])
    peak, ended = 0, threading.Event()

    def watch(pid: int) -> None:
        nonlocal peak
        while not ended.wait(0.1):
            peak = max(peak, resident(pid))

    began = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, own),
    ) as process:
        watcher = threading.Thread(target=watch, args=(process.pid,))
        watcher.start()
        out, err = process.communicate()
        taken = time.perf_counter() - began
        ended.set()
        watcher.join()
    return taken, peak, subprocess.CompletedProcess(command, process.returncode, out, err)


def run(log: Log, tool: str, result: Run) -> None:
    """Add a round of an engine or peer; zstd may be refused, which is noted."""
    folder = Path(tempfile.mkdtemp(prefix="ftplan-bench-"))
    try:
        if tool in ENGINES:
            command = [sys.executable, "-m", "ftplan", "compute-stats", *log.files(), "-o", str(folder / "stats")]
            command += [*OPTIONS[log.rows], "--engine", tool, "--quiet"]
        elif tool == "gzip -dc":
            command = ["sh", "-c", 'gzip -dc "$1" | wc -l', "sh", log.path]
        else:
            command = [sys.executable, str(HERE / "compute_stats_peers.py"), tool, log.rows, log.path]
        seconds, memory, done = measure(command)
        if done.returncode == 2 and tool in ENGINES and log.name == "csv.zst":
            result.refused = done.stderr.strip().splitlines()[-1]
        elif done.returncode:
            sys.exit(f"{log.name}, {tool}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        else:
            result.seconds.append(seconds)
            result.memory = max(result.memory, memory)
            if tool != "gzip -dc":
                result.counted = (
                    counted(folder / "stats") if tool in ENGINES else json.loads(done.stdout.splitlines()[-1])
                )
    finally:
        shutil.rmtree(folder)
    print(f"{log.name}, {log.size / 1e6:,.0f} MB, {tool}: {result.refused or f'{seconds:.2f} s'}", file=sys.stderr)


def counted(folder: Path) -> dict[str, Any]:
    """Return what a statistics folder counts, as peers print it."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "key_groups.parquet", columns=["operator", "window_start", "records", "bytes"])
    table = table.set_column(1, "window_start", pc.cast(table["window_start"], pa.timestamp("s", tz="UTC")))
    sums = table.group_by(["operator", "window_start"]).aggregate([("records", "sum"), ("bytes", "sum")])
    counts: dict[str, dict[str, list[int]]] = defaultdict(dict)
    starts = pc.cast(sums["window_start"], "int64").to_pylist()
    names, records, sizes = (sums[name].to_pylist() for name in ("operator", "records_sum", "bytes_sum"))
    for name, start, n, size in zip(names, starts, records, sizes, strict=True):
        if n:
            counts[name][str(start)] = [round(n), round(size or 0)]
    summary, rejects = folder / "rejects" / "summary.json", defaultdict(int)
    if summary.exists():
        for each in json.loads(summary.read_text())["reasons"]:
            rejects[each["reason"]] += each["rows"]
    return {"counts": counts, "rejects": rejects}

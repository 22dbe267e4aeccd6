"""How fast ``compute-stats --input-format spark-eventlog`` goes through a large event log, command start included.

    python benchmarks/event_log.py --mb 1000

The log is that of examples/spark, repeated with shifted stages, batches, tasks and times, as one plain file. Each
engine runs in a process of its own, restricted to two cores; the sums are checked against the sample's. To reach: 30
megabytes a second for the whole command.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from ftplan.engines.spark.log_files import event_lines, find_event_logs

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data"
SAMPLE = ROOT / "examples" / "spark" / "eventlog"
#: What differs between one round of the sample and the next: numbers of batches, stages, jobs, tasks, and times.
_BATCH = re.compile(rb'("streaming\.sql\.batchId":"|"batchId":|batch = )(\d+)')
_STAGE = re.compile(rb'("Stage ID":)(\d+)')
_STAGES = re.compile(rb'("Stage IDs":\[|"Parent IDs":\[)([\d,]+)(\])')
_JOB = re.compile(rb'("Job ID":)(\d+)')
_TASK = re.compile(rb'("Task ID":)(\d+)')
_TIME = re.compile(rb'("(?:Submission|Completion|Launch|Finish) Time":|"[tT]ime":)(\d{13})')
BATCHES, STAGES, JOBS, TASKS, SPAN_MS = 12, 24, 12, 118, 60_000
RECORDS = 290_000  # that the source of the sample gave
TARGET_MB_S = 30.0


def repeated_log(mb: int) -> tuple[Path, int]:
    """Write (once) a log of about *mb* megabytes; return it, and how often it has the sample."""
    lines = [line for log in find_event_logs([str(SAMPLE)]) for line in event_lines(log)]
    begin = next(i for i, line in enumerate(lines) if b"SQLExecutionStart" in line[:80])
    end = next(i for i, line in enumerate(lines) if b"QueryTerminatedEvent" in line[:120])
    body = b"".join(lines[begin:end])
    rounds = max(1, round(mb * 1e6 / len(body)))
    path = DATA / f"eventlog-{mb}"
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as out:
            out.writelines(lines[:begin])
            for n in range(rounds):
                out.write(_shifted(body, n))
        unfinished.rename(path)
    return path, rounds


def _shifted(body: bytes, n: int) -> bytes:
    def by(step: int):  # type: ignore[no-untyped-def]
        return lambda m: m[1] + b"%d" % (int(m[2]) + n * step)

    for pattern, step in ((_BATCH, BATCHES), (_STAGE, STAGES), (_JOB, JOBS), (_TASK, TASKS), (_TIME, SPAN_MS)):
        body = pattern.sub(by(step), body)
    return _STAGES.sub(lambda m: m[1] + b",".join(b"%d" % (int(i) + n * STAGES) for i in m[2].split(b",")) + m[3], body)


def seconds(log: Path, engine: str, cores: int) -> tuple[float, Path]:
    """Run the command in a process of its own on so many cores; return its seconds and the folder that it wrote."""
    folder = Path(tempfile.mkdtemp(prefix="ftplan-bench-")) / "stats"
    command = [sys.executable, "-m", "ftplan", "compute-stats", str(log), "--input-format", "spark-eventlog"]
    own = set(sorted(os.sched_getaffinity(0))[:cores])
    began = time.perf_counter()
    subprocess.run(
        [*command, "-o", str(folder), "--engine", engine, "--quiet"],
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, own),
    )
    return time.perf_counter() - began, folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000, help="size of the log in megabytes")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--engine", choices=["spark", "sail"], action="append", help="repeatable; both by default")
    options = parser.parse_args()
    log, rounds = repeated_log(options.mb)
    size = log.stat().st_size
    print("| engine | log | seconds | MB a second | to reach | tasks |\n|---|---|---|---|---|---|")
    for engine in options.engine or ("sail", "spark"):
        taken, folder = seconds(log, engine, options.cores)
        batches = pq.read_table(folder / "batches.parquet", columns=["operator", "records"])
        source = batches.filter(pc.ends_with(batches["operator"], "MicroBatchScan"))
        assert batches.num_rows == rounds * TASKS
        assert pc.sum(source["records"]).as_py() == rounds * RECORDS
        speed = size / 1e6 / taken
        print(
            f"| {engine} | {size / 1e6:,.0f} MB | {taken:.1f} | {speed:.0f} | {TARGET_MB_S:.0f} | {rounds * TASKS:,} |"
        )


if __name__ == "__main__":
    main()

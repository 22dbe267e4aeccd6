"""How fast ``compute-stats --input-format spark-eventlog`` goes through a large event log, command start included.

    python benchmarks/event_log.py --mb 1000

The log is that of examples/spark, repeated with shifted stages, batches, tasks and times, as one plain file. Each
engine runs in a process of its own, restricted to two cores; the sums are checked against the sample's. To reach: 30
megabytes a second for the whole command.
"""

from __future__ import annotations

import re
from pathlib import Path

from ftplan.model.spark_log_files import event_lines, find_event_logs

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
RECORDS_PER_ROUND = 22_204_0  # replaced by what the first round says


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

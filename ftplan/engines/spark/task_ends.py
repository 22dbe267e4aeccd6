"""What of Spark's event logs an import needs: jobs of micro-batches, tasks that succeeded, and executors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ftplan.engines.spark.stages import Job, job_of_event
from ftplan.errors import FtplanError

_STATE = "memory used by state"
_EVENTS = ("JobStart", "TaskEnd", "ExecutorAdded", "ExecutorRemoved")
_BEGINNINGS = tuple(f'{{"Event":"SparkListener{name}"'.encode() for name in _EVENTS)
#: What a line that is not what Spark writes makes of reading it.
_SHAPE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


class TaskEnd(NamedTuple):
    """A task that succeeded; ``state`` is None where it keeps none."""

    application: int
    stage: int
    partition: int
    executor: str
    host: str
    finished_ms: int
    cpu_s: float
    records_in: float
    records_out: float
    state: float | None


@dataclass
class EventLog:
    """What the lines of event logs say: jobs of micro-batches, tasks, and cores by (host, executor) at the end."""

    jobs: list[Job] = field(default_factory=list)
    tasks: list[TaskEnd] = field(default_factory=list)
    executors: dict[tuple[str, str], float] = field(default_factory=dict)


def read_lines(lines: Iterable[bytes], application: int, name: str, log: EventLog) -> None:
    """Add what the lines of one application say to *log*.

    Raises FtplanError for a line that begins as one of Spark and is none, unless it is the last and was cut off.
    """
    for number, line in enumerate(lines, 1):
        if not line.startswith(_BEGINNINGS):
            continue
        try:
            event = json.loads(line)
            kind = event["Event"].removeprefix("SparkListener")
            if kind == "JobStart":
                if (job := job_of_event(event, application)) is not None:
                    log.jobs.append(job)
            elif kind == "TaskEnd":
                if event["Task End Reason"]["Reason"] == "Success":
                    log.tasks.append(_task(event, application))
            elif kind == "ExecutorAdded":
                info = event["Executor Info"]
                log.executors[str(info["Host"]), str(event["Executor ID"])] = float(info["Total Cores"])
            else:
                gone = str(event["Executor ID"])
                log.executors = {key: cores for key, cores in log.executors.items() if key[1] != gone}
        except _SHAPE as error:
            if not line.endswith(b"\n"):
                return  # a last line that was cut off
            raise FtplanError(f"{name}: line {number}: is no event of Spark ({type(error).__name__})") from None


def _task(event: Mapping[str, Any], application: int) -> TaskEnd:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    read, write = metrics.get("Shuffle Read Metrics") or {}, metrics.get("Shuffle Write Metrics") or {}
    output = metrics.get("Output Metrics") or {}
    state = [float(item["Update"]) for item in info.get("Accumulables") or () if item.get("Name") == _STATE]
    records_in = float((metrics.get("Input Metrics") or {}).get("Records Read") or 0)
    return TaskEnd(
        application,
        int(event["Stage ID"]),
        int(info.get("Partition ID", info["Index"])),
        str(info["Executor ID"]),
        str(info["Host"]),
        int(info["Finish Time"]),
        float(metrics.get("Executor CPU Time") or 0) / 1e9,
        records_in + float(read.get("Total Records Read") or 0),
        float(write.get("Shuffle Records Written") or 0) + float(output.get("Records Written") or 0),
        sum(state) if state else None,
    )

"""Spark event logs of Structured Streaming queries: a row for each operator, partition and batch.

An operator is a stage (:mod:`ftplan.engines.spark.stages`); shuffle partitions are its tasks and its key groups,
those of a source are tasks only. All of a batch counts at the time when its first job was submitted, so that partitions
that waited for a free core stand beside those that did not. Load is ``Executor CPU Time``: run time holds the writing
of state too. Of failed, speculative and repeated attempts, and of a batch that a restarted query ran again, the one
that counts is the first to succeed in the last run. Triggers without data repeat the state of the batch before in what
Spark reports; they have no tasks, so that they count for nothing here.

Lines are told apart by their beginnings and parsed once, natively and with the few fields that are needed; what is left
(a row for each task) is put together on the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from ftplan.engines.log_rows import arrow_frame, engine_log, rejected_rows
from ftplan.engines.spark.log_files import EVENTS, NAME_WITHIN, applications, readable
from ftplan.engines.spark.stages import Job, StageOperators, execution, job_of_event, stage_operators
from ftplan.errors import FtplanError
from ftplan.model.statistics import BATCHES_TABLE
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.session import Session

_FAULTS = (
    "a line of the event log that is no JSON",
    "a task of a stage that no job announced",
    "a task with a number out of range",
)
_STATE = {"state_rows": "number of total state rows", "state": "memory used by state"}
#: What is read of a line, as a Spark schema.
_SCHEMA = """`Event` string, `Stage ID` bigint, `Task End Reason` struct<`Reason`: string>,
`Task Info` struct<`Task ID`: bigint, `Index`: bigint, `Partition ID`: bigint, `Host`: string, `Finish Time`: bigint,
  `Accumulables`: array<struct<`Name`: string, `Update`: string>>>,
`Task Metrics` struct<`Executor Run Time`: bigint, `Executor CPU Time`: bigint, `Peak Execution Memory`: bigint,
  `Shuffle Read Metrics`: struct<`Remote Bytes Read`: bigint, `Local Bytes Read`: bigint,
    `Total Records Read`: bigint>,
  `Shuffle Write Metrics`: struct<`Shuffle Records Written`: bigint>,
  `Input Metrics`: struct<`Bytes Read`: bigint, `Records Read`: bigint>,
  `Output Metrics`: struct<`Records Written`: bigint>>,
`Job ID` bigint, `Submission Time` bigint,
`Stage Infos` array<struct<`Stage ID`: bigint, `Number of Tasks`: bigint, `Parent IDs`: array<bigint>,
  `RDD Info`: array<struct<`RDD ID`: bigint, `Name`: string, `Scope`: string, `Parent IDs`: array<bigint>>>>>,
`Properties` struct<`streaming.sql.batchId`: string, `sql.streaming.queryId`: string, `spark.job.description`: string>
"""


def read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the log behind Spark event logs; its table ``batches`` has a row for each partition and batch.

    Raises FtplanError if a file is damaged, or no task of a micro-batch has ended in the log.
    """
    with TemporaryDirectory(prefix="ftplan-") as folder:
        events = _frame(session, applications(logs), Path(folder)).toArrow()
    starts = pc.equal(events["event"], EVENTS[1])
    jobs, elsewhere = _jobs(events.filter(starts), files[0].path)
    known = stage_operators(jobs)
    ends = events.filter(pc.equal(events["event"], EVENTS[0]))
    tasks, strangers, odd = _of_batches(ends, _stages(jobs, known), elsewhere)
    if not tasks.num_rows:
        raise FtplanError(f"{files[0].path}: no task of a micro-batch of Structured Streaming has ended in the log")
    broken = events.filter(pc.equal(events["event"], ""))["raw"].to_pylist()
    rejected = [rejected_rows(fault, texts) for fault, texts in enumerate((broken, strangers, odd))]
    rows = pa.concat_tables([_rows(tasks), *rejected], promote_options="default")
    key_groups = {o.name: o.key_groups for o in known.operators.values() if o.key_groups}
    log, completed = engine_log(arrow_frame(session, rows), files, mapping, key_groups, _FAULTS)
    # The log says who has key groups: a number for all would give them to sources too.
    return replace(log, tables={"batches": _batches(tasks)}), replace(completed, key_groups=None)


def _frame(session: Session, found: Sequence[tuple[tuple[str, ...], bool]], folder: Path) -> Any:
    """Return the frame of all applications: of a task's end what counts, of a job's start all that is read."""
    frame = None
    for application, (paths, remote) in enumerate(found):
        plain = [(path, None) if remote else readable(path, folder) for path in paths]
        uris = [LogFile(p, "spark-eventlog", remote).uri(session.kind == "sail") for p, _ in plain]
        lines = session.spark.read.text(uris)
        start = F.substring("value", 1, NAME_WITHIN + len(EVENTS[1]))
        lines = lines.filter(start.contains(EVENTS[0]) | start.contains(EVENTS[1]))
        for _, cut in plain:
            if cut is not None:
                lines = lines.filter(F.col("value") != cut)
        part = lines.select(F.lit(application).alias("application"), "value")
        frame = part if frame is None else frame.unionByName(part)
    assert frame is not None
    parsed = frame.select("application", "value", F.from_json("value", _SCHEMA).alias("event"))
    return parsed.select("application", *(column.alias(name) for name, column in _columns().items()))


def _columns() -> dict[str, Any]:
    event = F.col("event")
    info, metrics = event.getField("Task Info"), event.getField("Task Metrics")
    shuffle, source = metrics.getField("Shuffle Read Metrics"), metrics.getField("Input Metrics")
    written, output = metrics.getField("Shuffle Write Metrics"), metrics.getField("Output Metrics")
    broken = event.getField("Event").isNull()
    job = F.struct(*(event.getField(name).alias(name) for name in _JOB_FIELDS))
    return {
        "event": F.coalesce(event.getField("Event"), F.lit("")),
        "raw": F.when(broken, F.substring("value", 1, 4000)),
        "stage": event.getField("Stage ID"),
        "success": event.getField("Task End Reason").getField("Reason") == "Success",
        "partition": F.coalesce(info.getField("Partition ID"), info.getField("Index")),  # no Partition ID before 3.3
        "attempt": info.getField("Task ID"),
        "finished_ms": info.getField("Finish Time"),
        "node": info.getField("Host"),
        "cpu_ns": metrics.getField("Executor CPU Time"),
        "busy": metrics.getField("Executor Run Time"),
        "memory": metrics.getField("Peak Execution Memory"),
        "records": _sum(shuffle.getField("Total Records Read"), source.getField("Records Read")),
        "bytes": _sum(
            *(shuffle.getField(f"{p} Bytes Read") for p in ("Remote", "Local")), source.getField("Bytes Read")
        ),
        "records_out": _sum(written.getField("Shuffle Records Written"), output.getField("Records Written")),
        "accumulators": F.filter(info.getField("Accumulables"), lambda a: a.getField("Name").isin(*_STATE.values())),
        "job": F.when(event.getField("Event") == EVENTS[1], job),
    }


_JOB_FIELDS = ("Job ID", "Submission Time", "Stage Infos", "Properties")


def _sum(*values: Any) -> Any:
    total = F.lit(0).cast("bigint")
    for value in values:
        total = total + F.coalesce(value, F.lit(0).cast("bigint"))
    return total


def _states(found: Any) -> dict[str, Any]:
    """Return state rows and bytes of each task, from its accumulators of these names.

    There is one for each stateful operator of the stage, and none where it would be zero.
    """
    flat = found.combine_chunks()
    task = pc.list_parent_indices(flat).to_numpy()
    names, updates = flat.flatten().field("Name"), flat.flatten().field("Update")
    numbers = pc.if_else(pc.match_substring_regex(updates, r"^\d{1,15}$"), updates, "0").cast(pa.float64())
    numbers = pc.fill_null(numbers, 0.0).to_numpy()
    masks = {column: pc.equal(names, name).to_numpy(zero_copy_only=False) for column, name in _STATE.items()}
    return {c: pa.array(np.bincount(task[m], numbers[m], len(flat))) for c, m in masks.items()}


def _jobs(starts: Any, path: str) -> tuple[list[Job], set[tuple[int, int]]]:
    """Return the jobs of micro-batches, and the (application, stage) of all other jobs."""
    jobs: list[Job] = []
    elsewhere: set[tuple[int, int]] = set()
    for application, event in zip(starts["application"].to_pylist(), starts["job"].to_pylist(), strict=True):
        try:
            job = job_of_event(event, application)
            if job is None:
                elsewhere.update((application, int(stage["Stage ID"])) for stage in event["Stage Infos"] or ())
            else:
                jobs.append(job)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            number = event.get("Job ID")
            raise FtplanError(f"{path}: job {number} has not the shape that Spark 3 and 4 give it") from error
    return jobs, elsewhere


def _stages(jobs: Sequence[Job], known: StageOperators) -> Any:
    """Return what is known of each (application, stage): operator, batch, when the batch began, and its kind."""
    began: dict[Any, int] = {}
    for job in jobs:
        began[execution(job)] = min(job.submitted_ms, began.get(execution(job), job.submitted_ms))
    facts = {}
    for job in jobs:
        for stage in job.stages:
            operator = known.operators[known.of_stage[job.application, stage.id]]
            time_us, keyed = began[execution(job)] * 1000, operator.key_groups is not None
            facts[job.application, stage.id] = (operator.name, job.batch, time_us, keyed, operator.stateful)
    rows = [(*stage, *fact) for stage, fact in facts.items()]
    columns = zip(*rows, strict=True) if rows else [()] * len(_STAGES)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, _STAGES, strict=True)], _STAGES)


_STAGES = pa.schema(
    {
        "application": pa.int32(), "stage": pa.int64(), "operator": pa.string(), "batch": pa.int64(),
        "time_us": pa.int64(), "keyed": pa.bool_(), "stateful": pa.bool_(),
    }
)  # fmt: skip


def _of_batches(tasks: Any, stages: Any, elsewhere: set[tuple[int, int]]) -> tuple[Any, list[str], list[str]]:
    """Return one successful task for each operator, partition and batch, and the tasks that are rejected.

    These are, as text, those whose stage nobody announced, and those with numbers that cannot be.
    """
    tasks = tasks.filter(pc.fill_null(tasks["success"], False))
    for name, values in _states(tasks["accumulators"]).items():
        tasks = tasks.append_column(name, values)
    tasks = tasks.drop_columns(["event", "raw", "success", "job", "accumulators"])
    tasks = tasks.join(stages, ["application", "stage"])
    unknown = tasks.filter(pc.is_null(tasks["operator"]))
    of = zip(unknown["application"].to_pylist(), _places(unknown), unknown["stage"].to_pylist(), strict=True)
    strangers = [place for application, place, stage in of if (application, stage) not in elsewhere]
    tasks = tasks.filter(pc.is_valid(tasks["operator"]))
    good = _between(tasks["partition"], 2**31 - 1)
    for name in ("records", "records_out", "bytes", "cpu_ns", "busy", "memory"):
        good = pc.and_(good, _between(pc.fill_null(tasks[name], 0), 2**53))
    odd = _places(tasks.filter(pc.invert(good)))
    tasks = tasks.filter(good)
    order = [("operator", "ascending"), ("batch", "ascending"), ("partition", "ascending"), ("time_us", "descending")]
    tasks = tasks.sort_by([*order, ("finished_ms", "ascending"), ("attempt", "ascending")]).combine_chunks()
    names = tasks["operator"].combine_chunks().dictionary_encode().indices.to_numpy()
    place = np.stack([names, tasks["batch"].to_numpy(), tasks["partition"].to_numpy()])
    first = np.ones(tasks.num_rows, np.bool_)
    first[1:] = (place[:, 1:] != place[:, :-1]).any(axis=0)
    return tasks.filter(pa.array(first)), strangers, odd


def _places(tasks: Any) -> list[str]:
    listed = zip(tasks["stage"].to_pylist(), tasks["partition"].to_pylist(), strict=True)
    return [f"stage {stage}, partition {partition}" for stage, partition in listed]


def _between(values: Any, largest: int) -> Any:
    """Whether numbers are from 0 to *largest*; null is not."""
    return pc.fill_null(pc.and_(pc.greater_equal(values, 0), pc.less_equal(values, largest)), False)


def _rows(tasks: Any) -> Any:
    """Return the tasks as rows of an engine's log."""
    return pa.table(
        {
            **{c: tasks[c] for c in ("time_us", "operator", "node")},
            **{c: tasks[c].cast(pa.float64()) for c in ("records", "records_out", "bytes", "busy", "memory")},
            "task": tasks["partition"].cast(pa.int32()),
            "key_group": pc.if_else(tasks["keyed"], tasks["partition"], None).cast(pa.int32()),
            "cpu": pc.divide(tasks["cpu_ns"].cast(pa.float64()), 1e6),
            "state": pc.if_else(tasks["stateful"], tasks["state"], None).cast(pa.float64()),
        }
    )


def _batches(tasks: Any) -> Any:
    """Return the table of batches, see :data:`ftplan.model.statistics.BATCHES_TABLE`."""
    columns = {
        "operator": tasks["operator"],
        "batch": tasks["batch"],
        "task": tasks["partition"],
        "batch_start": tasks["time_us"],
        "records": tasks["records"],
        "bytes": tasks["bytes"],
        "cpu_ms": pc.divide(tasks["cpu_ns"].cast(pa.float64()), 1e6),
        "state_rows": pc.if_else(tasks["stateful"], tasks["state_rows"], None),
        "state_bytes": pc.if_else(tasks["stateful"], tasks["state"], None),
    }
    schema = pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in BATCHES_TABLE])
    return pa.Table.from_arrays([columns[f.name].cast(f.type).combine_chunks() for f in schema], schema=schema)

"""Structured Streaming queries of Spark, from event logs.

An operator is a stage (:mod:`ftplan.engines.spark.stages`), under the name that statistics have for it; its tasks
are partitions, and those of a shuffle are its key groups. Rates are means over the time that the log covers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftNode, DraftOperator, ImportOptions
from ftplan.engines.importing.source import EngineSource
from ftplan.engines.spark.log_files import event_lines, find_event_logs
from ftplan.engines.spark.stages import Job, StageOperator, execution, job_of_event, stage_operators
from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name
from ftplan.model.names import listed

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


@dataclass
class Partition:
    """Sums over the batches of a partition, and where and with how much state it ended last."""

    cpu_s: float = 0.0
    records_in: float = 0.0
    records_out: float = 0.0
    state: float | None = None
    host: str = ""


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return the queries of event logs, or those that ``--query`` names.

    Raises FtplanError if there is no event log, it holds no query, or a line is not what Spark writes.
    """
    if source.collection is not None or source.url is not None:
        raise FtplanError(f"{source.name}: give Spark's event log, a file or a folder")
    log = EventLog()
    for application, spark_log in enumerate(find_event_logs(source.given)):
        read_lines(event_lines(spark_log), application, display_name(spark_log.files[0]), log)
    if not log.jobs:
        raise FtplanError(f"{source.name}: the log holds no micro-batch of a query of Structured Streaming")
    known = stage_operators(log.jobs)
    queries = sorted({operator.query for operator in known.operators.values()})
    for query in options.query:
        if query not in queries:
            near = suggestion(query, queries) or f": one of {listed(queries)}"
            raise FtplanError(f"--query: {source.name} has no query {query!r}{near}")
    chosen = set(options.query or queries)
    draft = Draft(queries[0] if len(queries) == 1 else "spark" if len(chosen) > 1 else next(iter(chosen)))
    operators = [operator for operator in known.operators.values() if operator.query in chosen]
    measured = _measured(log, known.of_stage, options)
    seconds, intervals = _times(log, known.of_stage, known.operators)
    for operator in operators:
        draft.operators.append(_operator(operator, measured, seconds, intervals, draft))
        draft.edges += [DraftEdge(sender, operator.name) for sender in operator.inputs]
    _tell(draft, operators, options)
    _nodes(draft, log, options)
    return draft


def _measured(
    log: EventLog, of_stage: Mapping[tuple[int, int], str], options: ImportOptions
) -> dict[tuple[str, int], Partition]:
    """Return what each partition of each operator did; of a batch that ran again, the last run counts, and in it the
    first attempt that succeeded."""
    batch_of = {(job.application, stage.id): (execution(job), job.batch) for job in log.jobs for stage in job.stages}
    counted: dict[tuple[str, int, int], tuple[Any, TaskEnd]] = {}
    for task in log.tasks:
        stage = task.application, task.stage
        if stage in of_stage:
            run, batch = batch_of[stage]
            key = of_stage[stage], batch, task.partition
            if key not in counted or counted[key][0] != run:
                counted[key] = run, task
    measured: dict[tuple[str, int], Partition] = {}
    for (operator, _, partition), (_, task) in sorted(counted.items(), key=lambda item: item[1][1].finished_ms):
        sums = measured.setdefault((operator, partition), Partition())
        sums.cpu_s += task.cpu_s
        sums.records_in += task.records_in
        sums.records_out += task.records_out
        sums.state = sums.state if task.state is None else task.state
        sums.host = task.host if options.node_by == "host" else f"{task.host}:{task.executor}"
    return measured


def _times(
    log: EventLog, of_stage: Mapping[tuple[int, int], str], operators: Mapping[str, StageOperator]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return by query the seconds that its runs took together, and the mean seconds from one batch to the next."""
    first: dict[tuple[str, int], int] = {}
    last: dict[tuple[str, int], int] = {}
    begun: dict[tuple[str, int], dict[int, int]] = {}
    for job in log.jobs:
        for stage in job.stages:
            run = operators[of_stage[job.application, stage.id]].query, job.application
            first[run] = min(first.get(run, job.submitted_ms), job.submitted_ms)
            begun.setdefault(run, {}).setdefault(job.batch, job.submitted_ms)
    for task in log.tasks:
        if (name := of_stage.get((task.application, task.stage))) is not None:
            run = operators[name].query, task.application
            last[run] = max(last.get(run, 0), task.finished_ms)
    seconds: dict[str, float] = {}
    steps: dict[str, list[float]] = {}
    for run, start in first.items():
        seconds[run[0]] = seconds.get(run[0], 0.0) + max(0, last.get(run, start) - start) / 1000
        times = sorted(begun[run].values())
        steps.setdefault(run[0], []).extend((b - a) / 1000 for a, b in pairwise(times))
    return seconds, {query: sum(listed_) / len(listed_) for query, listed_ in steps.items() if listed_}


def _operator(
    operator: StageOperator,
    measured: Mapping[tuple[str, int], Partition],
    seconds: Mapping[str, float],
    intervals: Mapping[str, float],
    draft: Draft,
) -> DraftOperator:
    made = DraftOperator(operator.name, operator.name, max(1, operator.tasks), key_groups=operator.key_groups)
    if operator.label != operator.name:
        made.labels["nodes"] = operator.label
    if operator.stateful and (interval := intervals.get(operator.query)):
        made.checkpoint_interval_s = interval  # each batch commits its state
    partitions = [measured.get((operator.name, i), Partition()) for i in range(made.parallelism)]
    span = seconds.get(operator.query, 0.0)
    if span <= 0 or not any(partition.host for partition in partitions):
        return made
    made.cpu = [partition.cpu_s / span for partition in partitions]
    records_in = [partition.records_in / span for partition in partitions]
    records_out = [partition.records_out / span for partition in partitions]
    if any(records_out):
        made.rate_out = records_out
        made.selectivity = sum(records_out) / sum(records_in) if operator.inputs and any(records_in) else None
    elif not operator.inputs and any(records_in):
        made.rate_out = records_in
    if operator.inputs and any(records_in):
        made.input_share = records_in
    if operator.stateful:
        made.state_bytes = [partition.state or 0.0 for partition in partitions]
    hosts = [partition.host for partition in partitions]
    if all(hosts):
        draft.tasks[operator.name] = hosts
        if operator.key_groups is not None:
            draft.key_groups[operator.name] = hosts
    return made


def _tell(draft: Draft, operators: list[StageOperator], options: ImportOptions) -> None:
    """Note what the log leaves open: joins, partitions that vary, places."""
    told = {*options.correlated, *options.independent}
    joins: list[str] = []
    open_: list[str] = []
    vary: list[str] = []
    for made, operator in zip(draft.operators, operators, strict=True):
        if len(operator.inputs) > 1:
            made.correlated = "join" in operator.label.lower()
            if made.key not in told:
                (joins if made.correlated else open_).append(made.key)
        if operator.inputs and operator.key_groups is None:
            vary.append(made.key)
    if joins:
        text = "joins by the names of their plan nodes: all inputs are taken to be needed; --independent corrects it"
        draft.assume("JOIN_BY_NAME", f"{listed(joins)}: {text}")
    if open_:
        draft.assume(
            "INPUTS_UNKNOWN", f"{listed(open_)}: several inputs, taken as independent; --correlated corrects it"
        )
    if vary:
        text = "the number of partitions varies between batches: the most is taken, and no key groups"
        draft.assume("PARTITIONS_VARY", f"{listed(vary)}: {text}")
    if draft.tasks:
        draft.assume("PLACEMENT_LAST", "Spark places partitions anew in each batch: where each ran last is taken")


def _nodes(draft: Draft, log: EventLog, options: ImportOptions) -> None:
    """Name the hosts of executors with their cores, and those where tasks ran."""
    nodes: dict[str, DraftNode] = {}
    for (host, executor), cores in log.executors.items():
        name = host if options.node_by == "host" else f"{host}:{executor}"
        node = nodes.setdefault(name, DraftNode(name))
        node.cpu = (node.cpu or 0.0) + cores
    draft.take_nodes(nodes)

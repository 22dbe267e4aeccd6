"""Answers of Flink's REST endpoint: a folder that ``ftplan collect`` wrote, or answers saved by hand.

What a subtask counted is on the pages of vertices, its state on those of checkpoints. Figures that Flink marks as
incomplete (task managers out of reach report zeros) are left out. State by key group is measured where a checkpoint's
metadata is given beside the answers (its file ``_metadata``, or JSON made of it); everything else by key group is
spread over those of the subtask.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from ftplan.engines.flink.counter_rows import increases, state_rows
from ftplan.engines.flink.pages import Page, numbered, saved_page
from ftplan.engines.flink.plan import plan_vertices
from ftplan.engines.flink.rest_files import LINES, is_metadata, key_group_states, saved
from ftplan.engines.log_rows import arrow_frame, engine_log, rejected_rows
from ftplan.errors import FtplanError
from ftplan.model.names import slugs
from ftplan.model.plan import Warn
from ftplan.spark_stats.inputs import LogFile, cut_last_line
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.texts import read_texts

#: Shorter windows show how old figures are: metrics.fetcher.update-interval.
_SHORT_S = 30.0
_NOTHING = "no answer has the figures of a vertex (/jobs/:jobid/vertices/:vertexid)"
_FAULTS = ("a line that is no answer",)
_PLAN = r"^/jobs/([^/]+)(?:/plan)?$"
_VERTEX = r"^/jobs/([^/]+)/vertices/([^/]+)$"
_STATE = r"^/jobs/([^/]+)/checkpoints/details/[^/]+/subtasks/([^/]+)$"
#: What is read of an answer, as Spark schemas; figures are text, because Flink writes "NaN" among them.
_SUBTASK = """struct<
  `subtask`: int, `index`: int, `attempt`: string, `start-time`: bigint, `duration`: bigint, `state_size`: string,
  `status-duration`: struct<`RUNNING`: bigint>, `endpoint`: string, `host`: string,
  `metrics`: struct<`read-bytes`: string, `read-records`: string, `read-records-complete`: boolean,
    `write-records`: string, `write-records-complete`: boolean, `accumulated-busy-time`: string>>"""
_SCHEMA = f"""`path` string, `answer` struct<`name`: string, `now`: bigint, `maxParallelism`: int,
  `latest_ack_timestamp`: bigint, `subtasks`: array<{_SUBTASK}>>"""


class _Operators(NamedTuple):
    """Ids of operators by (job, vertex), and their numbers of key groups by id."""

    ids: Mapping[tuple[str, str], str]
    key_groups: Mapping[str, int]


def read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the log behind answers of Flink's REST endpoint.

    Raises FtplanError if a file is damaged, or no answer has the figures of a vertex.
    """
    collected = [file for file in files if file.path.endswith(LINES)]
    others = [file.path for file in files if not file.path.endswith(LINES)]
    metadata = [path for path in others if is_metadata(path)]
    documents, unread = saved([path for path in others if path not in metadata])
    states = key_group_states(metadata, documents)
    lines = _collected(session, collected) if collected else _saved(session, documents)
    answers = lines.toArrow()
    operators = _operators(answers)
    readings, told = _readings(answers.filter(pc.equal(answers["kind"], "vertex")), operators)
    if mapping.window_s < _SHORT_S:
        text_ = f"windows of {mapping.window_s:g} s: Flink renews the figures of its REST endpoint every 10 s"
        told.append(Warn("SHORT_WINDOWS", f"{text_}, so that a window may show what was counted in the one before"))
    if not readings.num_rows:
        raise FtplanError(f"{files[0].path}: {_NOTHING}")
    counted, warnings = increases(readings, mapping.window_us)
    if not counted.num_rows:
        raise FtplanError(f"{files[0].path}: one set of answers, and it does not say how long the subtasks have run")
    ids = {vertex: operator for (_, vertex), operator in operators.ids.items()}
    by_group, measured, more = states.of(ids, pc.max(counted["time_us"]).as_py())
    state = _states(answers.filter(pc.equal(answers["kind"], "state")), operators, measured)
    broken = answers.filter(pc.equal(answers["kind"], "broken"))["raw"].to_pylist()
    table = pa.concat_tables([counted, state, by_group, rejected_rows(0, broken)], promote_options="default")
    frame = arrow_frame(session, table)
    return engine_log(frame, files, mapping, operators.key_groups, _FAULTS, (*unread, *told, *warnings, *more))


def _collected(session: Session, files: Sequence[LogFile]) -> Any:
    lines = read_texts(session, [file.uri(session.kind == "sail") for file in files])
    for file in files:
        if not file.path.endswith(".gz") and (cut := cut_last_line(file.path)) is not None:
            lines = lines.filter(F.col("value") != cut)
    return _parsed(lines.filter(F.trim(F.col("value")) != ""))


def _saved(session: Session, documents: Mapping[str, Any]) -> Any:
    """Return the frame of answers in files, as if they had been collected."""
    pages = [saved_page(path, value) for path, value in documents.items()]
    ids = numbered(pages)
    job = next((page.job for page in pages if page.kind == "job" and page.job is not None), "job")
    lines = [json.dumps({"path": path, "answer": p.value}) for p in pages if (path := _path(p, job, ids)) is not None]
    if not lines:
        raise FtplanError(f"{next(iter(documents), 'the log')}: {_NOTHING}")
    return _parsed(session.spark.createDataFrame(pa.table({"value": pa.array(lines, pa.string())})))


def _path(page: Page, job: str, ids: Mapping[str, str]) -> str | None:
    vertex = ids.get(page.vertex or "", page.vertex)
    known = {
        "job": f"/jobs/{job}",
        "plan": f"/jobs/{job}/plan",
        "vertex": f"/jobs/{job}/vertices/{vertex}",
        "checkpoint subtasks": f"/jobs/{job}/checkpoints/details/0/subtasks/{vertex}",
    }
    return known.get(page.kind or "")


def _parsed(lines: Any) -> Any:
    """Return a row for each subtask on a page of a vertex or of a checkpoint, for each plan, and for each bad line."""
    frame = lines.select("value", F.from_json("value", _SCHEMA).alias("event"))
    path = F.col("event").getField("path")
    kind = F.when(path.isNull(), "broken").when(path.rlike(_VERTEX), "vertex").when(path.rlike(_STATE), "state")
    kind = kind.when(path.rlike(_PLAN) & (path != "/jobs/overview"), "plan")
    answer = F.col("event").getField("answer")
    frame = frame.select("value", path.alias("path"), answer.alias("answer"), kind.alias("kind"))
    whole = F.col("kind").isin("broken", "plan")
    rows = frame.filter(F.col("kind").isin("vertex", "state"))
    rows = rows.withColumn("s", F.explode(F.col("answer").getField("subtasks")))
    rows = rows.unionByName(frame.filter(whole).withColumn("s", F.lit(None).cast(_SUBTASK)))
    return rows.select(*(column.alias(name) for name, column in _columns().items()))


def _columns() -> dict[str, Any]:
    answer, subtask, kind = F.col("answer"), F.col("s"), F.col("kind")
    metrics = subtask.getField("metrics")
    running = subtask.getField("status-duration").getField("RUNNING")
    whole = [F.coalesce(metrics.getField(f"{name}-records-complete"), F.lit(True)) for name in ("read", "write")]
    plan = F.get_json_object("value", "$.answer.plan")
    return {
        "kind": kind,
        "raw": F.when(kind == "plan", plan).when(kind == "broken", F.substring("value", 1, 4000)),
        "job": F.regexp_extract("path", "^/jobs/([^/]+)", 1),
        "vertex": F.regexp_extract("path", "/(?:vertices|subtasks)/([^/]+)$", 1),
        "name": answer.getField("name"),
        "key_groups": answer.getField("maxParallelism"),
        "now_ms": F.coalesce(answer.getField("now"), answer.getField("latest_ack_timestamp")),
        "task": F.coalesce(subtask.getField("subtask"), subtask.getField("index")),
        "attempt": subtask.getField("attempt"),
        "start_ms": subtask.getField("start-time"),
        "running_ms": F.coalesce(running, subtask.getField("duration")),
        "node": F.regexp_replace(F.coalesce(subtask.getField("endpoint"), subtask.getField("host")), r":\d+$", ""),
        "complete": whole[0] & whole[1],
        **{name: _figure(metrics.getField(figure)) for name, figure in _FIGURES.items()},
        "state": _figure(subtask.getField("state_size")),
    }


_FIGURES = {
    "records": "read-records",
    "records_out": "write-records",
    "bytes": "read-bytes",
    "busy": "accumulated-busy-time",
}


def _figure(text: Any) -> Any:
    value = text.try_cast("double")
    return F.when(~F.isnan(value) & (value >= 0), value)


def _operators(answers: pa.Table) -> _Operators:
    """Return the operators on the pages of vertices; those that a plan shows to read by key have key groups."""
    pages = answers.filter(pc.equal(answers["kind"], "vertex")).group_by(["job", "vertex"])
    known = pages.aggregate([("name", "max"), ("key_groups", "max")]).to_pylist()
    names = {row["vertex"]: row["name_max"] or row["vertex"] for row in known}
    ids = slugs(names)
    keyed: set[str] = set()
    plans = answers.filter(pc.and_(pc.equal(answers["kind"], "plan"), pc.is_valid(answers["raw"])))["raw"]
    for plan in plans.unique().to_pylist():
        keyed |= {vertex.id for vertex in plan_vertices(json.loads(plan), "the plan of the job") if vertex.keyed}
    groups = {ids[row["vertex"]]: row["key_groups_max"] for row in known if row["vertex"] in keyed}
    return _Operators(
        {(row["job"], row["vertex"]): ids[row["vertex"]] for row in known},
        {operator: count for operator, count in groups.items() if count and count > 0},
    )


def _readings(pages: pa.Table, operators: _Operators) -> tuple[pa.Table, list[Warn]]:
    """Return the subtasks' figures as :func:`increases` takes them, those after the last change of parallelism."""
    told = []
    jobs = pages["job"].unique()
    if len(jobs) > 1:
        text_ = f"answers of {len(jobs)} jobs: vertices of one id count as one operator, as of a job that was submitted"
        told.append(Warn("SEVERAL_JOBS", f"{text_} again"))
    figures = [pages[name] for name in ("records", "records_out", "now_ms", "task", "running_ms")]
    good = pages["complete"]
    for figure in figures:
        good = pc.and_(good, pc.is_valid(figure))
    left_out = pages.num_rows - (pc.sum(good).as_py() or 0)
    if left_out:
        text_ = f"figures of subtasks in {left_out:,} of {pages.num_rows:,} answers are left out: Flink marks them as"
        told.append(Warn("INCOMPLETE_LEFT_OUT", f"{text_} incomplete, or they are missing"))
    since = _last_change(pages.filter(pc.is_valid(pages["now_ms"])))
    pages = pages.filter(good)
    if since is not None:
        pages = pages.filter(pc.greater(pages["now_ms"], since))
        told.append(Warn("RESCALED", "the parallelism changed: what was counted before the last change is left out"))
    began = pc.subtract(pages["now_ms"], pages["running_ms"])
    columns = {
        "operator": _ids(pages, operators),
        "task": pages["task"].cast(pa.int32()),
        "owner": pages["job"],
        "attempt": pc.binary_join_element_wise(
            *(pc.fill_null(pages[name].cast(pa.string()), "") for name in ("attempt", "start_ms")), "/"
        ),
        "time_us": pc.multiply(pages["now_ms"], 1000),
        "began_us": pc.multiply(began, 1000),
        **{name: pages[name] for name in _FIGURES},
        "node": pages["node"],
    }
    return pa.table(columns), told


def _ids(pages: pa.Table, operators: _Operators) -> pa.Array:
    keys = zip(pages["job"].to_pylist(), pages["vertex"].to_pylist(), strict=True)
    return pa.array([operators.ids[key] for key in keys], pa.string())


def _last_change(pages: pa.Table) -> int | None:
    """Return the last moment at which a vertex had another parallelism than at the end, None where none ever had."""
    sizes = pages.group_by(["job", "vertex", "now_ms"]).aggregate([("task", "max")]).to_pylist()
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for row in sizes:
        key = (row["job"], row["vertex"])
        last[key] = max(last.get(key, (-1, -1)), (row["now_ms"], row["task_max"]))
    changed = [row["now_ms"] for row in sizes if row["task_max"] != last[row["job"], row["vertex"]][1]]
    return max(changed, default=None)


def _states(pages: pa.Table, operators: _Operators, measured: Iterable[str]) -> pa.Table:
    """Return rows for the state of subtasks, but of operators whose state by key group was *measured*."""
    known = [key in operators.ids for key in zip(pages["job"].to_pylist(), pages["vertex"].to_pylist(), strict=True)]
    pages = pages.filter(pa.array(known, pa.bool_()))
    for name in ("state", "task", "now_ms"):
        pages = pages.filter(pc.is_valid(pages[name]))
    table = pa.table(
        {
            "operator": _ids(pages, operators),
            "task": pages["task"].cast(pa.int32()),
            "time_us": pc.multiply(pages["now_ms"], 1000),
            "state": pages["state"],
        }
    )
    return state_rows(table.filter(pc.invert(pc.is_in(table["operator"], pa.array([*measured], pa.string())))))

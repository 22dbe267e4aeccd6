"""``compute-stats``: from a log to a folder of statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.model.measures import Measure
from ftplan.model.statistics import LogInput, Manifest
from ftplan.model.topology import Topology
from ftplan.spark_stats.choice import Engine
from ftplan.spark_stats.inputs import LogFile, find_files, inspect_files
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators, known_operators, upstream_of
from ftplan.spark_stats.session import Session, open_session

if TYPE_CHECKING:
    from ftplan.spark_stats.rejects import Rejects

Progress = Callable[[str, float | None], None]


@dataclass(slots=True)
class _Outcome:
    """What the passes over the log gave."""

    tables: dict[str, Any] = field(default_factory=dict)
    placement: dict[str, Any] = field(default_factory=dict)
    spread: dict[str, str] = field(default_factory=dict)
    windows_us: Any = None
    rejects: Rejects | None = None


def compute(
    mapping: LogMapping,
    paths: Sequence[str],
    *,
    engine: Engine = "auto",
    master: str | None = None,
    folder: Path,
    topology: Topology | None = None,
    progress: Progress | None = None,
    tool_version: str = "",
) -> Manifest:
    """Compute the statistics of a log and write them into *folder*, which exists and is empty.

    Parameters
    ----------
    mapping
        What the columns mean.
    paths
        Files, globs and folders; ``s3a://…`` and the like go to Spark as they are.
    engine, master
        See :func:`ftplan.spark_stats.session.open_session`.
    topology
        Gives the number of key groups of each operator, and names the operators.
    progress
        Called with what is being done and the share done (None where unknown), from any thread.

    Returns
    -------
    Manifest
        What ``manifest.json`` holds.

    Raises
    ------
    FtplanError
        If the log cannot be read as the mapping says, or too much of it was rejected.
    MissingExtraError
        If pyspark or pysail is not installed.
    OutputError
        If the folder cannot be written.
    """
    tell = progress or (lambda stage, share: None)
    operators = known_operators(mapping, topology)
    upstream = upstream_of(mapping, topology)
    found = find_files(paths, mapping.input_format)
    stop = Event()
    with ThreadPoolExecutor(1) as pool, _set_when_done(stop):
        tell("reading the files", None)
        inspection = pool.submit(inspect_files, found, mapping.input_format, stop)
        if sum(Path(p).stat().st_size for p, remote in found if not remote) < 1 << 16:
            inspection.result()  # a log of a few lines is checked before anything is started
        tell("starting the engine", None)
        with open_session(engine, master) as session:
            files = inspection.result()
            with _one_sentence(session):
                return _run(session, mapping, files, operators, upstream, folder, tell, tool_version)


@contextmanager
def _set_when_done(event: Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


def _run(
    session: Session,
    mapping: LogMapping,
    files: Sequence[LogFile],
    operators: Operators,
    upstream: str | None,
    folder: Path,
    tell: Progress,
    tool_version: str,
) -> Manifest:
    from ftplan.spark_stats.progress import watch
    from ftplan.spark_stats.summary import operator_statistics
    from ftplan.spark_stats.writers import write_documents, write_tables

    with watch(session, tell):
        outcome = run_passes(session, mapping, files, operators, upstream)
    tell("writing", None)
    assert outcome.rejects is not None
    written = write_tables(outcome.tables, folder)
    start, end = _time_range(mapping, outcome.windows_us)
    windows = (end - start) // timedelta(microseconds=mapping.window_us)
    import numpy as np

    measures: list[Measure] = ["records"]
    measures += ["bytes"] if mapping.bytes_column else []
    measures += ["cpu_ms"] if mapping.cpu_column else []
    manifest = Manifest(
        window_s=mapping.window_us / 1e6,
        start=start,
        end=end,
        operators=operator_statistics(mapping, outcome.tables, outcome.spread, operators, windows),
        tables=written,
        measures=tuple(measures),
        rows_read=outcome.rejects.rows_read,
        rows_rejected=outcome.rejects.total,
        coverage=round(np.unique(outcome.windows_us).size / windows, 12),
        inputs=tuple(LogInput(f.path, f.bytes, f.sha256) for f in files),
        engine=session.engine,
    )
    write_documents(manifest, outcome.placement, outcome.rejects, folder, tool_version)
    return manifest


def run_passes(
    session: Session, mapping: LogMapping, files: Sequence[LogFile], operators: Operators, upstream: str | None
) -> _Outcome:
    """Pass over the log once for each table, and put the tables together.

    Raises
    ------
    FtplanError
        If too many rows were rejected, or none was accepted.
    """
    import pyarrow.compute as pc

    from ftplan.spark_stats import placement, tables
    from ftplan.spark_stats.readers import read_log
    from ftplan.spark_stats.records import OUTSIDE, to_records
    from ftplan.spark_stats.rejects import RejectedRow, check_share, collect_rejects
    from ftplan.spark_stats.windows import MOST_TEXTS, aggregate, rejected_rows

    log = read_log(session, files, mapping)
    records = to_records(log, mapping, operators)
    outcome = _Outcome()
    sums: dict[str, Any] = {}
    few = all(f.rows is not None for f in files) and sum(f.rows or 0 for f in files) <= MOST_TEXTS
    names = [f.path for f in files]
    for table, grouping in _groupings(mapping, operators).items():
        if sums:
            sums[table] = aggregate(records, grouping, "out")
            continue
        sums[table] = aggregate(records, grouping, "with text" if few else "counted")
        rejects = collect_rejects(sums[table], records.reasons, names, mapping.max_kept_rejects)
        if rejects.faulty and not few:
            outside = [i for i, r in enumerate(records.reasons) if r == OUTSIDE]
            found = rejected_rows(records, mapping.max_kept_rejects, outside).to_pylist()
            rows = (
                (names[r["file"]] if r["file"] >= 0 else None, records.reasons[r["reason"]], r["raw"]) for r in found
            )
            rejects = replace(rejects, rows=tuple(RejectedRow(*row) for row in rows))
        check_share(rejects, mapping.max_rejects, files[0].name if len(files) == 1 else f"{len(files)} files")
        outcome.rejects = rejects
        accepted = sums[table].filter(pc.equal(sums[table]["entry"], 0))
        if not accepted.num_rows:
            raise FtplanError(f"{files[0].path}: no record is left: {rejects.rows_read:,} rows read, none accepted")
        outcome.windows_us = accepted["window_us"].to_numpy()
    ids = operators.resolve(_names(sums))
    sums = {t: tables.accepted(s, records.entries if t == "key_groups" else records.entries[:1], ids)
            for t, s in sums.items()}  # fmt: skip
    _assemble(sums, mapping, operators, upstream, ids, outcome)
    if mapping.node_column is not None:
        by_task = placement.majority_nodes(sums["tasks"]) if "tasks" in sums else {}
        main = sums["key_groups"].filter(pc.equal(sums["key_groups"]["entry"], 0)) if mapping.key_columns else None
        by_group = placement.majority_nodes(main) if main is not None else {}
        outcome.placement = placement.placement_document(by_task, by_group, operators)
    return outcome


def _groupings(mapping: LogMapping, operators: Operators) -> dict[str, Any]:
    """The passes: one for each table that the log can give."""
    from ftplan.spark_stats.windows import Grouping

    node = ("node",) if mapping.node_column else ()
    passes = {}
    entries = [mapping.key_columns] if mapping.has_main else []
    entries += [columns for _, columns in mapping.keys]
    if any(entries) or not mapping.task_column:
        if not any(entries) and operators.topology is None and not operators.default and not operators.counts:
            raise FtplanError("nothing to count by: give --key-column, --task-column or --key-groups N")
        slots = tuple(f"group_{i}" if columns else None for i, columns in enumerate(entries))
        node_here = node if mapping.key_columns else ()
        measures: tuple[str, ...] = ("records", "bytes", "cpu", "state")
        passes["key_groups"] = Grouping(slots, operators.most_key_groups, node_here, measures)
    if mapping.task_column:
        measures = ("records", "records_out", "bytes", "cpu", "busy", "memory", "queue", "state")
        passes["tasks"] = Grouping(("task",), extra=node, measures=measures)
    if mapping.upstream_task_column:
        sender = ("upstream_operator",) if mapping.upstream_operator_column else ()
        passes["substreams"] = Grouping(("task",), extra=("upstream_task", *sender), measures=("records",))
    return passes


def _names(sums: Mapping[str, Any]) -> set[str]:
    """Operators as the log names them."""
    columns = [s[c] for s in sums.values() for c in ("operator", "upstream_operator") if c in s.column_names]
    return {name for column in columns for name in column.unique().to_pylist() if name is not None}


def _assemble(
    sums: Mapping[str, Any],
    mapping: LogMapping,
    operators: Operators,
    upstream: str | None,
    ids: Mapping[str, str],
    outcome: _Outcome,
) -> None:
    """Fill in the outcome's tables; where the key is not in the log, spread tasks or operators over key groups."""
    import pyarrow.compute as pc

    from ftplan.spark_stats import tables

    spread = []
    if mapping.has_main and not mapping.key_columns:
        by_task = mapping.task_column is not None
        source = sums["tasks"] if by_task else sums["key_groups"].filter(pc.equal(sums["key_groups"]["entry"], 0))
        part = tables.spread_over_groups(source, operators, by_task)
        if part is not None:
            spread.append(part)
            resolution = "task" if by_task else "operator"
            outcome.spread = dict.fromkeys(part["operator"].unique().to_pylist(), resolution)
    measured = sums.get("key_groups")
    if measured is not None:
        measured = measured.filter(pc.is_valid(measured["slot"]))
    # Without key groups the table is empty, not absent: the loads of tasks are of use by themselves.
    outcome.tables["key_groups"] = tables.key_groups_table(measured, spread)
    if "substreams" in sums:
        known = sums["substreams"].filter(pc.is_valid(sums["substreams"]["upstream_task"]))
        if upstream is None:
            known = known.filter(pc.is_valid(known["upstream_operator"]))
        outcome.tables["substreams"] = tables.substreams_table(known, upstream, ids)
    if "tasks" in sums:
        outcome.tables["tasks"] = tables.tasks_table(sums["tasks"], outcome.tables.get("substreams"))


def _time_range(mapping: LogMapping, windows_us: Any) -> tuple[datetime, datetime]:
    """The windows from the first to the last with a record, or those that --from and --to span."""
    from ftplan.spark_stats.records import micros

    step = mapping.window_us
    first, last = int(windows_us.min()), int(windows_us.max()) + step
    if mapping.time_from is not None:
        first = micros(mapping.time_from) // step * step
    if mapping.time_to is not None:
        last = -(-micros(mapping.time_to) // step) * step
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + timedelta(microseconds=first), epoch + timedelta(microseconds=last)


@contextmanager
def _one_sentence(session: Session) -> Iterator[None]:
    """Turn what an engine raises into one sentence; what it said in full stays as the cause."""
    try:
        yield
    except (FtplanError, AssertionError):
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = [line for line in lines if "Exception" in line and not line.startswith("at ")]
        raise FtplanError(
            f"{session.engine} failed: {(telling or lines or [type(error).__name__])[0][:500]}"
        ) from error

"""``compute-stats``: from a log to a folder of statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from pkgutil import resolve_name
from threading import Event
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.model.statistics import EPOCH, LogInput, Manifest
from ftplan.model.topology import Topology
from ftplan.model.units import Measure
from ftplan.spark_stats.choice import Engine
from ftplan.spark_stats.inputs import LogFile, categorical, find_files, inspect_files
from ftplan.spark_stats.log_formats import engine_formats
from ftplan.spark_stats.mapping import FREE_WITH_ENGINES, LogMapping, micros
from ftplan.spark_stats.operators import Operators, known_operators
from ftplan.spark_stats.progress import Progress, watch
from ftplan.spark_stats.session import Session, open_session
from ftplan.version import __version__

if TYPE_CHECKING:
    from ftplan.spark_stats.passes import LogStatistics
    from ftplan.spark_stats.readers import Log


#: A log of so few bytes is checked before any engine is started.
SMALL_LOG = 1 << 16
#: One of so few bytes is read before Java's second compiler has made up for its time.
BRIEF_LOG = 1 << 25


def compute(
    mapping: LogMapping,
    logs: Sequence[str],
    *,
    engine: Engine = "auto",
    master: str | None = None,
    folder: Path,
    topology: Topology | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> Manifest:
    """Compute the statistics of a log, write them into *folder*, which exists and is empty, and return the manifest.

    Parameters
    ----------
    logs
        Files, globs and folders; ``s3a://…`` and the like go to Spark as they are.
    engine, master
        See :func:`ftplan.spark_stats.session.open_session`.
    topology
        Gives the number of key groups of each operator, and names the operators.
    progress
        Called with what is being done and the share done (None where unknown), from any thread.
    told
        Called with the engine that runs, and why it was taken.

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
    _refuse_columns(mapping)
    if not mapping.from_engine:
        known_operators(mapping, topology)  # what is wrong with the options comes first
    engine_format = engine_formats().get(mapping.input_format)
    if engine_format is not None and "stores" in engine_format.options and topology is not None:
        mapping = replace(mapping, stores=mapping.stores or _stores(topology))
    paths = _paths(logs, mapping.input_format)
    opaque = engine_format is not None and not engine_format.text
    stop = Event()
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(stop.set)
        tell("reading the files", None)
        inspection = pool.submit(inspect_files, paths, mapping.input_format, stop, opaque)
        size = sum(Path(p).stat().st_size for p, remote in paths if not remote)
        if size < SMALL_LOG:
            inspection.result()
        tell("starting the engine", None)
        beyond = _beyond(paths, mapping) if engine == "auto" else None
        brief = size < BRIEF_LOG and not any(remote for _, remote in paths)
        with open_session(engine, master, beyond, brief=brief) as session:
            if told is not None:
                told(f"{session.engine}: {session.why}")
            from ftplan.spark_stats.passes import run_passes  # PySpark is loaded where it is needed

            files = inspection.result()
            with one_sentence(session):
                with watch(session, tell, sum(f.bytes or 0 for f in files)):
                    log, mapping = _read(session, logs, files, mapping)
                    operators = known_operators(mapping, topology)
                    statistics = run_passes(log, mapping, operators, in_steps=session.kind != "sail")
                tell("writing", None)
                return _write(statistics, mapping, files, operators, session.engine, folder)


def _beyond(paths: Sequence[tuple[str, bool]], mapping: LogMapping) -> str | None:
    """Return what of a log asks for Spark: where it lies, or a type; None where Sail reads it."""
    for path, remote in paths:
        if remote:
            return f"{path} lies on a remote store"
        if (column := categorical(path, mapping.columns)) is not None:
            return f"column {column!r} of {path} is a categorical, which Sail cannot read"
    return None


def _paths(logs: Sequence[str], input_format: str) -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file of the log, as its format finds them."""
    engine_format = engine_formats().get(input_format)
    if engine_format is None or engine_format.find is None:
        return find_files(logs, input_format)
    found: list[tuple[str, bool]] = resolve_name(engine_format.find)(logs)
    return found


def _read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the log, and the mapping with the columns that a reader of an engine's own log fills in."""
    from ftplan.spark_stats.readers import read_log

    engine_format = engine_formats().get(mapping.input_format)
    if engine_format is None:
        return read_log(session, files, mapping), mapping
    found: tuple[Log, LogMapping] = resolve_name(engine_format.read)(session, logs, files, mapping)
    return found


def _refuse_columns(mapping: LogMapping) -> None:
    """Raise FtplanError if options name columns of a format that knows its columns."""
    if not mapping.from_engine:
        return
    for field in fields(mapping):
        if field.name not in FREE_WITH_ENGINES and getattr(mapping, field.name) != field.default:
            option = field.name.replace("_", "-").removesuffix("s" if field.name.endswith("_columns") else "")
            option = {"keys": "key"}.get(option, option)
            raise FtplanError(f"--{option}: {mapping.input_format} knows its columns; leave the option out")


def _stores(topology: Topology) -> tuple[tuple[str, str], ...]:
    """Return the operator of each store of a Kafka Streams topology."""
    labels = ((o.labels.get("stores", ""), o.id) for o in topology.operators)
    return tuple(
        (store.strip(), operator) for stores, operator in labels for store in stores.split(",") if store.strip()
    )


def _write(
    statistics: LogStatistics,
    mapping: LogMapping,
    files: Sequence[LogFile],
    operators: Operators,
    engine: str,
    folder: Path,
) -> Manifest:
    """Write the tables, and what is known of them; return the manifest."""
    from ftplan.spark_stats.writers import operator_statistics, write_documents, write_tables

    start, end = _time_range(mapping, statistics.windows_us)
    windows = (end - start) // timedelta(microseconds=mapping.window_us)
    measures: list[Measure] = ["records"]
    measures += ["bytes"] if mapping.bytes_column else []
    measures += ["cpu_ms"] if mapping.cpu_column else []
    manifest = Manifest(
        window_s=mapping.window_us / 1e6,
        start=start,
        end=end,
        operators=operator_statistics(mapping, statistics.tables, operators, windows),
        tables=write_tables(statistics.tables, folder),
        measures=tuple(measures),
        rows_read=statistics.rejects.rows_read,
        rows_rejected=statistics.rejects.total,
        coverage=round(statistics.windows_us.size / windows, 12),
        inputs=tuple(LogInput(f.path, f.bytes, f.sha256) for f in files),
        engine=engine,
        warnings=statistics.warnings,
    )
    write_documents(manifest, statistics.placement, statistics.rejects, folder, __version__)
    return manifest


def _time_range(mapping: LogMapping, windows_us: Any) -> tuple[datetime, datetime]:
    """The windows from the first to the last with a record, or those that --from and --to span."""
    step = mapping.window_us
    first, last = int(windows_us.min()), int(windows_us.max()) + step
    if mapping.time_from is not None:
        first = micros(mapping.time_from) // step * step
    if mapping.time_to is not None:
        last = -(-micros(mapping.time_to) // step) * step
    return EPOCH + timedelta(microseconds=first), EPOCH + timedelta(microseconds=last)


@contextmanager
def one_sentence(session: Session) -> Iterator[None]:
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

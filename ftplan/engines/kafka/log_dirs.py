"""Output of ``kafka-log-dirs.sh --describe``: bytes of changelog topics on the brokers' disks, by partition.

A changelog topic is called APPLICATION-STORE-changelog, and its partitions are the key groups of the store. A file
holds one snapshot, or several one below the other, each maybe below a line with its time.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa

from ftplan.engines import log_rows as rows
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping, micros
from ftplan.spark_stats.operators import as_id
from ftplan.spark_stats.packed import ending, unpacked
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.session import Session

CHANGELOG = "-changelog"
#: A time in the name of a file or in a line: date and maybe time of day with any signs between, or a count since 1970.
_STAMP = re.compile(
    r"(?<![0-9])(?P<Y>[12][0-9]{3})[-_.]?(?P<m>[01][0-9])[-_.]?(?P<d>[0-3][0-9])"
    r"(?:[T _.-]?(?P<H>[0-2][0-9])[-_.:h]?(?P<M>[0-5][0-9])(?:[-_.:m]?(?P<S>[0-5][0-9]))?)?(?![0-9])"
)
_EPOCH = re.compile(r"(?<![0-9])([0-9]{10})([0-9]{3})?(?![0-9])")


class Snapshot(NamedTuple):
    """What brokers said at one time: bytes of the largest copy by topic and partition, and how often one said no."""

    time_us: int
    sizes: Mapping[tuple[str, int], float]
    failed: int


def read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the bytes of state by key group at each snapshot.

    The operator of a store is the one that the topology says has it (label ``stores``), else the store is one of its
    own, called like the topic without application and ``-changelog``.

    Raises FtplanError if a file is no such output, or none holds a changelog topic.
    """
    guessed: list[str] = []
    snapshots = [snapshot for file in files for snapshot in _snapshots(file, mapping, guessed)]
    operators = dict(mapping.stores)
    state: dict[tuple[int, str, int], float] = {}
    others: set[str] = set()
    for snapshot in snapshots:
        at_once: dict[tuple[int, str, int], float] = {}
        for (topic, partition), size in snapshot.sizes.items():
            operator = _operator(topic, operators, mapping.application_id)
            if operator is None:
                others.add(topic)
                continue
            key = (snapshot.time_us, operator, partition)
            at_once[key] = at_once.get(key, 0.0) + size  # the stores of one operator
        for key, size in at_once.items():
            state[key] = max(size, state.get(key, 0.0))
    if not state:
        of = f" of {mapping.application_id}" if mapping.application_id else ""
        raise FtplanError(f"{files[0].path}: holds no changelog topic{of} (APPLICATION-STORE-changelog)")
    counts: dict[str, int] = {}
    for _, operator, partition in state:
        counts[operator] = max(counts.get(operator, 0), partition + 1)
    ordered = sorted(state)
    table = pa.table(
        {
            "time_us": pa.array([time for time, _, _ in ordered], pa.int64()),
            "operator": pa.array([operator for _, operator, _ in ordered], pa.string()),
            "key_group": pa.array([partition for _, _, partition in ordered], pa.int32()),
            "records": pa.array([0.0] * len(ordered), pa.float64()),
            "state": pa.array([state[key] for key in ordered], pa.float64()),
        }
    )
    warnings = _warnings(guessed, sum(snapshot.failed for snapshot in snapshots), others)
    return rows.arrow_log(session, table, files, mapping, counts, warnings)


def _operator(topic: str, stores: Mapping[str, str], application: str | None) -> str | None:
    """Return the operator of a changelog topic; None for another topic, or another application's."""
    if not topic.endswith(CHANGELOG):
        return None
    name = topic.removesuffix(CHANGELOG)
    if application is not None:
        if not name.startswith(f"{application}-"):
            return None
        name = name.removeprefix(f"{application}-")
    of_store = [store for store in stores if name == store or (application is None and name.endswith(f"-{store}"))]
    if of_store:
        return stores[max(of_store, key=len)]
    return None if stores else as_id(name)


def _warnings(guessed: Sequence[str], failed: int, others: set[str]) -> list[Warn]:
    warnings = [
        Warn("RECORDS_UNKNOWN", "kafka-log-dirs tells state only: records are 0, and plans by load need another log"),
        Warn("STATE_ON_DISK", "state is what changelog topics take on the brokers' disks, before they are compacted"),
    ]
    if guessed:
        named = ", ".join(guessed[:3]) + (", …" if len(guessed) > 3 else "")
        text = f"{named}: no time in name or text, taken as of when it was last written; --snapshot-time says otherwise"
        warnings.append(Warn("TIME_ASSUMED", text))
    if failed:
        warnings.append(Warn("LOG_DIR_FAILED", f"brokers reported an error for {failed:,} log directories: left out"))
    if others:
        warnings.append(
            Warn("TOPICS_LEFT_OUT", f"{len(others):,} topics are no changelog that was asked for: left out")
        )
    return warnings


def _snapshots(file: LogFile, mapping: LogMapping, guessed: list[str]) -> Iterator[Snapshot]:
    """Read the snapshots of a file; its path joins *guessed* where nothing but the file's own time tells when."""
    if file.remote:
        raise FtplanError(f"{file.path}: kafka-log-dirs is read from local files; copy it here")
    own = None if mapping.snapshot_time is None else micros(mapping.snapshot_time)
    own = own if own is not None else _time(file.name)
    text = _text(file)
    if "{" not in text:
        raise FtplanError(f"{file.path}: no output of kafka-log-dirs --describe: it holds no JSON")
    place = 0
    while (start := text.find("{", place)) >= 0:
        where = f"{file.path}: line {text.count(chr(10), 0, start) + 1}"
        above = [time for line in text[place:start].splitlines() if (time := _line_time(line)) is not None]
        try:
            value, place = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise FtplanError(f"{where}: no JSON ({str(error)[:80]}): cut off?") from error
        time = above[-1] if above else own
        if time is None:
            guessed += [] if file.path in guessed else [file.path]
            time = file.modified_us or 0
        yield Snapshot(time, *_sizes(value, where))


def _text(file: LogFile) -> str:
    try:
        with open(file.path, "rb") as packed:
            return str(unpacked(packed, ending(file.path)).read(), "utf-8-sig")
    except UnicodeDecodeError:
        raise FtplanError(f"{file.path}: is no text in UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise FtplanError(f"{file.path}: cannot be read ({error})") from error


def _line_time(line: str) -> int | None:
    """Return the moment of a line as ``date`` or ``date --iso-8601=seconds`` writes it, or of any that names one."""
    for parse in (datetime.fromisoformat, lambda text: datetime.strptime(text, "%a %b %d %H:%M:%S %Z %Y")):
        with suppress(ValueError):
            time = parse(line.strip())
            return micros(time if time.tzinfo is not None else time.replace(tzinfo=UTC))
    return _time(line)


def _time(text: str) -> int | None:
    """Return the moment that a text names, UTC, in microseconds since the epoch; None without one."""
    stamp, epoch = _STAMP.search(text), _EPOCH.search(text)
    if epoch is not None:
        return int(epoch[1]) * 1_000_000 + int(epoch[2] or 0) * 1_000
    if stamp is None:
        return None
    try:
        return micros(datetime(*(int(stamp[name] or 0) for name in "YmdHMS"), tzinfo=UTC))  # type: ignore[arg-type, misc]
    except ValueError:
        return None


def _sizes(value: Any, where: str) -> tuple[dict[tuple[str, int], float], int]:
    """Return bytes by topic and partition, of the largest copy: one that lags, or one that is moved, is smaller.

    Also how many log directories are left out, because a broker reported an error for them.
    """
    sizes: dict[tuple[str, int], float] = {}
    failed = 0
    try:
        for folder in (folder for broker in value["brokers"] for folder in broker["logDirs"]):
            failed += folder.get("error") is not None
            for part in folder.get("partitions") or ():
                name, size = part["partition"], part["size"]
                topic, _, partition = name.rpartition("-")
                if not topic or not partition.isascii() or not partition.isdigit() or len(partition) > 7:
                    raise FtplanError(f"{where}: {name[:60]!r} is no partition such as orders-0")
                if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 <= size < 9e15:
                    raise FtplanError(f"{where}: the size of {name[:60]!r} is no number of bytes")
                if part.get("isFuture") is not True:
                    sizes[topic, int(partition)] = max(float(size), sizes.get((topic, int(partition)), 0.0))
    except (KeyError, TypeError, AttributeError) as error:
        raise FtplanError(f"{where}: not as kafka-log-dirs --describe writes it ({error!r:.60})") from error
    return sizes, failed

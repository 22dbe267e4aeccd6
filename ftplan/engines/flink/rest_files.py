"""The files of Flink's REST answers for ``compute-stats``, and state by key group from checkpoints among them.

Nothing here needs PySpark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ftplan.engines.flink.metadata import MAGIC, OperatorState, checkpoint_state, is_key_group_state, key_group_state
from ftplan.engines.flink.pages import needless
from ftplan.errors import FtplanError
from ftplan.model.names import listed, natural_key
from ftplan.model.plan import Warn
from ftplan.spark_stats.log_formats import beginning


class KeyGroupStates(NamedTuple):
    """Operators with state by key group by Flink's id, and the ids of those of which a checkpoint does not tell it."""

    known: Mapping[str, OperatorState]
    mixed: frozenset[str]

    def of(self, ids: Mapping[str, str], time_us: int) -> tuple[pa.Table, set[str], list[Warn]]:
        """Return rows at a moment, the operators that they are of, and what to know.

        *ids*: the operators' ids by those of their vertices: a vertex has the id of its first operator, the keyed one.
        """
        here = {ids[key]: state for key, state in self.known.items() if key in ids}
        rows = [(name, group, size) for name, state in here.items() for group, size in state.state_bytes.items()]
        columns = list(zip(*rows, strict=True)) or [()] * 3
        table = pa.table(
            {
                "time_us": pa.array([time_us] * len(rows), pa.int64()),
                "operator": pa.array(columns[0], pa.string()),
                "key_group": pa.array(columns[1], pa.int32()),
                "records": pa.array([0.0] * len(rows), pa.float64()),
                "state": pa.array(columns[2], pa.float64()),
            }
        )
        return table, set(here), self._told(ids, here)

    def _told(self, ids: Mapping[str, str], here: Mapping[str, OperatorState]) -> list[Warn]:
        lost = [ids[key] for key in self.mixed if key in ids]
        if lost:
            text = "its files mix key groups, as RocksDB's incremental checkpoints do; state is spread over key groups"
            return [Warn("STATE_MIXED", f"{listed(lost)}: the checkpoint does not tell state by key group: {text}")]
        if (self.known or self.mixed) and not here:
            text = "no operator in the checkpoint's metadata is a vertex of the job: it is of another job"
            return [Warn("STATE_OF_ANOTHER_JOB", text)]
        return []


def key_group_states(metadata: Sequence[str], documents: Mapping[str, Any]) -> KeyGroupStates:
    """Return what checkpoints' metadata and JSON made of it say, by paths; of two that name an operator the later one.

    Raises FtplanError as :func:`~ftplan.engines.flink.metadata.checkpoint_state` and
    :func:`~ftplan.engines.flink.metadata.key_group_state` do.
    """
    states = [s for path, value in documents.items() if is_key_group_state(value) for s in key_group_state(value, path)]
    mixed: set[str] = set()
    for path in metadata:
        of_checkpoint = checkpoint_state(Path(path).read_bytes(), path)
        states += of_checkpoint.operators
        mixed.update(of_checkpoint.mixed)
    return KeyGroupStates({state.operator: state for state in states}, frozenset(mixed))


#: Endings of the files of a collected folder: a line an answer.
LINES = (".jsonl", ".jsonl.gz")
#: Name of the file that Flink writes a checkpoint's metadata into.
METADATA = "_metadata"


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file: the answers of collected folders, JSON files of others, and single files.

    Raises FtplanError if a path does not exist, lies on a remote store, or a folder holds no answers.
    """
    paths: list[str] = []
    for log in (log.removeprefix("file://") for log in logs):
        path = Path(log)
        if "://" in log:
            raise FtplanError(f"{log}: collected answers on a remote store are not read; copy them here first")
        if not path.exists():
            raise FtplanError(f"{log}: there is no such file or folder")
        if not path.is_dir():
            paths.append(log)
            continue
        collected = (path / "collection.json").is_file()
        inside = (path / "answers").glob("*.jsonl*") if collected else path.iterdir()
        known = [str(p) for p in inside if p.is_file() and (p.name.endswith((*LINES, ".json")) or p.name == METADATA)]
        if not known:
            raise FtplanError(f"{log}: the folder holds no answers of Flink's REST endpoint (*.json, *.jsonl)")
        paths += sorted(known, key=natural_key)
    return [(path, False) for path in dict.fromkeys(paths)]


def is_saved(path: str) -> bool:
    """Return whether a local folder holds saved pages of vertices."""
    if not Path(path).is_dir():
        return False
    start = beginning(path)
    return b'"subtasks"' in start and b'"read-records"' in start


def is_reporter_log(path: str) -> bool:
    """Return whether a local path is a log of Flink's Slf4jReporter, or a folder of such."""
    return b"Starting metrics report" in beginning(path)


def is_metadata(path: str) -> bool:
    """Return whether a file is the metadata of a checkpoint."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == MAGIC.to_bytes(4, "big")
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from None


def saved(paths: Sequence[str]) -> tuple[dict[str, Any], list[Warn]]:
    """Return the values in JSON files by path, and a warning of those of several that are no JSON.

    Raises FtplanError if one cannot be read, or none is JSON.
    """
    found: dict[str, Any] = {}
    broken: list[str] = []
    for path in paths:
        try:
            text = Path(path).read_text("utf-8-sig", errors="replace")
            if not needless(text):
                found[path] = json.loads(text)
        except OSError as error:
            raise FtplanError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:
            broken.append(f"{path}: not JSON ({error})")
    if broken and not found:
        raise FtplanError(broken[0])
    return found, [Warn("UNREADABLE", f"{text}; left out") for text in broken]

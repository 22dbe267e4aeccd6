"""What a job's log says: the manifest, the schemas of the tables, and key-group loads as one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import Measure

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Resolution = Literal["key_group", "task", "operator"]

KEY_HASHES = ("xxhash64", "murmur3", "java", "flink", "kafka", "crc32", "identity")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a statistics table: its Arrow type by name, and what it means."""

    name: str
    type: Literal["string", "int32", "int64", "double", "timestamp", "bool"]
    meaning: str
    nullable: bool = False

    @property
    def arrow(self) -> Any:
        """The Arrow type."""
        import pyarrow

        return pyarrow.timestamp("us", "UTC") if self.type == "timestamp" else pyarrow.type_for_alias(self.type)


#: One row per operator, key group and window that has records; sorted by these three.
KEY_GROUPS_TABLE = (
    Column("operator", "string", "operator id"),
    Column("key_group", "int32", "number of the key group, from 0"),
    Column("window_start", "timestamp", "start of the window, UTC"),
    Column("records", "double", "records in the window; a fraction where it was spread over key groups"),
    Column("bytes", "double", "bytes in the window", nullable=True),
    Column("cpu_ms", "double", "cpu milliseconds in the window", nullable=True),
    Column("state_bytes", "double", "largest state seen in the window", nullable=True),
    Column("resolution", "string", "what was measured: key_group, task or operator"),
    Column("estimated", "bool", "true where the value was spread over the key groups of a task or operator"),
)

#: One row per operator, task and window that has records.
TASKS_TABLE = (
    Column("operator", "string", "operator id"),
    Column("task", "int32", "index of the task, from 0"),
    Column("window_start", "timestamp", "start of the window, UTC"),
    Column("records_in", "double", "records that the task read in the window"),
    Column("records_out", "double", "records that the task wrote in the window", nullable=True),
    Column("cpu_ms", "double", "cpu milliseconds in the window", nullable=True),
    Column("busy_ms", "double", "milliseconds in which the task was busy", nullable=True),
    Column("memory_bytes", "double", "largest memory use seen in the window", nullable=True),
    Column("queue_length", "double", "longest input queue seen in the window, in records", nullable=True),
)

#: One row per pair of tasks and window in which records went from the one to the other.
SUBSTREAMS_TABLE = (
    Column("from_operator", "string", "operator id of the sender"),
    Column("from_task", "int32", "index of the sending task"),
    Column("to_operator", "string", "operator id of the receiver"),
    Column("to_task", "int32", "index of the receiving task"),
    Column("window_start", "timestamp", "start of the window, UTC"),
    Column("records", "double", "records in the window"),
)

#: One row per operator, task and micro-batch that ended, of logs of engines that work in batches; for reading, plans
#: take none of it. Sorted by operator, batch and task.
BATCHES_TABLE = (
    Column("operator", "string", "operator id"),
    Column("batch", "int64", "number of the batch, as the engine counts them"),
    Column("task", "int32", "index of the task; of a keyed operator, its key group"),
    Column("batch_start", "timestamp", "when the batch began, UTC"),
    Column("records", "double", "records that the task read in the batch"),
    Column("bytes", "double", "bytes that it read"),
    Column("cpu_ms", "double", "cpu milliseconds that it took", nullable=True),
    Column("state_rows", "double", "rows of state after the batch", nullable=True),
    Column("state_bytes", "double", "bytes of state after the batch", nullable=True),
)

TABLES: Mapping[str, tuple[Column, ...]] = {
    "key_groups": KEY_GROUPS_TABLE,
    "tasks": TASKS_TABLE,
    "substreams": SUBSTREAMS_TABLE,
}


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log file that the statistics were computed from; no hash where the file lies on a remote store."""

    path: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class OperatorStatistics:
    """What the statistics say of one operator as a whole.

    ``coverage`` is the share of the windows of the time range in which the operator has records.
    """

    key_groups: int | None = None
    key_hash: str | None = None
    resolution: Resolution = "key_group"
    estimated: bool = False
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table of the folder: its rows and the hash of its file."""

    rows: int
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """``manifest.json``: one window length and one time range ``[start, end)`` for all tables, in UTC.

    Windows are aligned to the epoch. A window of the range without records means zero.
    """

    window_s: float
    start: datetime
    end: datetime
    operators: Mapping[str, OperatorStatistics]
    tables: Mapping[str, TableFile] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ("records",)
    rows_read: int = 0
    rows_rejected: int = 0
    coverage: float = 1.0
    inputs: tuple[LogInput, ...] = ()
    engine: str | None = None
    warnings: tuple[Warn, ...] = ()

    @property
    def windows(self) -> int:
        """Number of windows in the time range."""
        return round((self.end - self.start).total_seconds() / self.window_s)


@dataclass(frozen=True, eq=False)
class KeyGroupSeries:
    """Loads of key groups over the windows of the time range, as one matrix.

    Groups are sorted by (operator id as text, key group as number). Shapes: K groups, W windows.
    """

    operators: tuple[str, ...]  # sorted ids
    operator: IntArray  # (K,) position in operators
    key_group: IntArray  # (K,) number within the operator
    loads: FloatArray  # (W, K) load in each window, in units of ``measure``
    measure: Measure
    window_s: float
    state_bytes: FloatArray  # (K,) largest state over all windows, NaN where unknown
    estimated: npt.NDArray[np.bool_]  # (K,)

    @cached_property
    def mean_load(self) -> FloatArray:
        """Mean load of each group over all windows of the range, shape (K,)."""
        if self.loads.shape[0] == 0:
            return np.zeros(self.loads.shape[1])
        return np.asarray(self.loads.mean(axis=0))

    @cached_property
    def names(self) -> tuple[tuple[str, int], ...]:
        """(operator id, key group) of each group, length K."""
        return tuple(
            (self.operators[o], g) for o, g in zip(self.operator.tolist(), self.key_group.tolist(), strict=True)
        )

    @cached_property
    def position(self) -> Mapping[tuple[str, int], int]:
        """Column of each (operator id, key group)."""
        return {name: i for i, name in enumerate(self.names)}

    def load_of(self, operator: str, key_group: int) -> float:
        """Return the mean load of a key group, 0 where the statistics do not know it."""
        column = self.position.get((operator, key_group))
        return 0.0 if column is None else float(self.mean_load[column])


def window_numbers(window_start: Any, manifest: Manifest) -> Any:
    """Return (window number from 0, whether it is on the grid) for a column of times, int64 and bool arrays."""
    window_us = round(manifest.window_s * 1e6)
    start_us = (manifest.start - EPOCH) // timedelta(microseconds=1)
    passed = window_start.cast("int64").to_numpy() - start_us
    number = passed // window_us
    return number, number * window_us == passed

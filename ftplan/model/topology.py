"""A streaming job: operators that run as tasks, and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from ftplan.errors import FtplanError, suggestion

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

Inputs = Literal["independent", "correlated"]
Partitioning = Literal["full", "one-to-one", "split", "merge"]


@dataclass(frozen=True, slots=True)
class Checkpointing:
    """How an operator checkpoints: every ``interval_s`` seconds, whole state (``full``) or changes only."""

    interval_s: float | None = None
    kind: Literal["incremental", "full"] = "incremental"


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One operator. Arrays have shape (parallelism,) and may be read-only broadcasts of one number.

    Units: cpu in cores, rates in records per second, state in bytes, record_time_s in cpu seconds per record.
    """

    id: str
    parallelism: int
    cpu: FloatArray
    state_bytes: FloatArray
    priority: FloatArray
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    inputs: Inputs = "independent"
    key_groups: int | None = None
    selectivity: float = 1.0
    rate_out: FloatArray | None = None
    input_share: FloatArray | None = None
    record_time_s: float | None = None
    checkpoint: Checkpointing = Checkpointing()
    deterministic: bool = True
    output: bool = False

    def task_of_key_groups(self, key_groups: int | None = None) -> IntArray:
        """Return the task index of each key group, shape (key_groups,): ``floor(g * parallelism / key_groups)``."""
        count = self.key_groups if key_groups is None else key_groups
        if not count:
            return np.zeros(0, dtype=np.int64)
        return np.arange(count, dtype=np.int64) * self.parallelism // count


@dataclass(frozen=True, slots=True, eq=False)
class Substreams:
    """Measured streams between single tasks: index arrays and rates in records per second, all of one length."""

    from_index: IntArray
    to_index: IntArray
    rate: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A stream between two operators, given by their positions in :attr:`Topology.operators`.

    A partitioning rule, never materialised task by task, or measured substreams. With both the rule says which tasks
    meet, and the substreams what they carry: a pair that is not among them carries nothing.
    """

    source: int
    target: int
    partitioning: Partitioning | None = None
    substreams: Substreams | None = None


@dataclass(frozen=True, eq=False)
class Topology:
    """An acyclic graph of operators. Operators stand in file order."""

    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]
    name: str | None = None

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Position of each operator id in :attr:`operators`."""
        return {operator.id: i for i, operator in enumerate(self.operators)}

    def operator(self, operator_id: str) -> Operator:
        """Return the operator with this id.

        Raises
        ------
        FtplanError
            If there is none; the message suggests the nearest id.
        """
        try:
            return self.operators[self.position[operator_id]]
        except KeyError:
            raise FtplanError(f"unknown operator {operator_id!r}{suggestion(operator_id, self.position)}") from None

    @cached_property
    def keyed_operators(self) -> tuple[Operator, ...]:
        """The operators with keyed state, sorted by id."""
        return tuple(sorted((o for o in self.operators if o.key_groups), key=lambda o: o.id))

    @cached_property
    def task_count(self) -> int:
        """Number of tasks of all operators."""
        return sum(operator.parallelism for operator in self.operators)

"""What a simulation of scaling is given. Shapes: B batches, K key groups of one operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.problem import State

Ranges = tuple[tuple[int, int], ...]
Technique = Literal["active-backup", "checkpoint", "assisted"]

#: Parts that the input of an operator without keyed state is divided into: even for any parallelism up to 16.
PARTS = 720_720


@dataclass(frozen=True, eq=False)
class SimulatedOperator:
    """An operator of a job."""

    id: str
    parallelism: int  # tasks that it begins with
    cpu: float  # cores that each reserves
    use: FloatArray  # how many tasks a load of 1 keeps busy: by key group (K,), or in all (1,) without keyed state
    records_s: float  # records that it gets in a second at a load of 1
    inputs: tuple[int, ...] = ()  # operators that feed it, by number; none: it is a source
    output: bool = False  # whether what it puts out is output of the job
    key_groups: int = 0  # 0 without keyed state
    state_bytes: FloatArray | None = None  # by key group, (K,)
    task_memory: float = np.inf  # bytes of state that a task may hold, inf where unknown
    scales: bool = True  # whether it may be split
    #: By key group, (K,): bytes that are not in a checkpoint on the node where the assisted technique needs them
    missing: FloatArray | None = None

    @property
    def parts(self) -> int:
        """Parts that its input is divided into: its key groups, or many even ones."""
        return self.key_groups or PARTS

    @cached_property
    def _use_before(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self.use)])

    @cached_property
    def _bytes_before(self) -> FloatArray:
        state = np.zeros(self.key_groups) if self.state_bytes is None else self.state_bytes
        return np.concatenate([[0.0], np.cumsum(state)])

    def use_of(self, first: int, last: int) -> float:
        """Return the use of the parts from *first* to *last* at a load of 1."""
        if not self.key_groups:
            return float(self.use[0]) * (last + 1 - first) / PARTS
        return float(self._use_before[last + 1] - self._use_before[first])

    def bytes_of(self, first: int, last: int) -> float:
        """Return the state of the key groups from *first* to *last*, 0 without keyed state."""
        return float(self._bytes_before[last + 1] - self._bytes_before[first]) if self.key_groups else 0.0


class BatchedLoad(NamedTuple):
    """The input: when each batch is there, ascending, and for how many seconds a load of 1 brings as much, both (B,).

    ``batch_s`` is the usual time between them.
    """

    at_s: FloatArray
    seconds: FloatArray
    batch_s: float


@dataclass(frozen=True, slots=True)
class SplitSetting:
    """What splits depend on.

    ``setup_s`` until new tasks are started, without state; ``bytes_s`` at which state goes to each task;
    ``interval_s`` between checkpoints of a prepared operator; ``delay_s`` of a message.
    """

    setup_s: float = 30.0
    bytes_s: float = np.inf
    interval_s: float = 60.0
    delay_s: float = 0.001


class RestartSetting(NamedTuple):
    """How a whole topology is restarted, with checkpoints all the time, as Storm does it."""

    interval_s: float = 1.0  # between checkpoints
    overhead_s: float = 0.05  # that a task with state works on nothing else at each, beside sending its state
    restart_s: float = 30.0  # until all tasks are started again, without state
    reaction_s: float = 120.0  # from the bottleneck's promotion until somebody restarts the topology
    at_s: tuple[float, ...] = ()  # when it is restarted instead, if not empty
    operators: tuple[int, ...] = ()  # that get more tasks at the first restart, whatever their scores say


class Detection(NamedTuple):
    """How bottlenecks are detected [Mudassar2019, algorithm 1]."""

    window_s: float  # how often tasks are looked at
    #: From cpu, memory and data size of T tasks in per cent, (T, 3), nan where unknown, to their scores, (T,)
    scores: Callable[[FloatArray], FloatArray]
    #: From all scores of an operator since it was last split, the last one last, to its state now
    state: Callable[[Sequence[float]], State]
    #: For how long after a split, or a restart, scores of an operator say nothing: it works off what has waited
    rest_s: float = 60.0


class SplitOrder(NamedTuple):
    """An operator that is split at a given time, prepared some time before."""

    operator: int
    prepare_s: float
    promote_s: float


@dataclass(frozen=True, eq=False)
class ScalingSetting:
    """What is simulated: a job, its load, and who is split when, how, and into which ranges."""

    operators: tuple[SimulatedOperator, ...]  # in topological order
    load: BatchedLoad
    #: From an operator and its parallelism to the ranges of parts that it is split into; None: it stays
    ranges: Callable[[int, int], Ranges | None]
    techniques: Mapping[int, Technique]  # by operator with keyed state that may be split. Others need none.
    until_s: float  # end of what is measured. Afterwards no more input comes, and all that is there is worked off.
    every_s: float = 10.0  # bins of what is told over time
    split: SplitSetting = SplitSetting()
    detection: Detection | None = None
    orders: tuple[SplitOrder, ...] = ()  # splits at given times
    by_orders: bool = False  # nothing but orders splits: detection only scores
    restart: RestartSetting | None = None  # the whole topology is restarted where operators would be split
    #: Seconds between checkpoints of single operators, instead of those of ``split``
    intervals: Mapping[int, float] = field(default_factory=dict)

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
    """An operator of a job.

    Attributes
    ----------
    parallelism
        Tasks that it begins with.
    cpu
        Cores that each reserves.
    use
        How many tasks a load of 1 keeps busy: by key group (K,), or in all (1,) without keyed state.
    records_s
        Records that it gets in a second at a load of 1.
    inputs
        Operators that feed it, by number; none: it is a source.
    output
        Whether what it puts out is output of the job.
    key_groups
        0 without keyed state.
    state_bytes
        By key group, (K,).
    task_memory
        Bytes of state that a task may hold, inf where unknown.
    scales
        Whether it may be split.
    missing
        By key group, (K,): bytes that are not in a checkpoint on the node where the assisted technique needs them.
    """

    id: str
    parallelism: int
    cpu: float
    use: FloatArray
    records_s: float
    inputs: tuple[int, ...] = ()
    output: bool = False
    key_groups: int = 0
    state_bytes: FloatArray | None = None
    task_memory: float = np.inf
    scales: bool = True
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
    """How a whole topology is restarted, with checkpoints all the time, as Storm does it.

    Attributes
    ----------
    interval_s
        Between checkpoints.
    overhead_s
        That a task with state works on nothing else at each, beside sending its state.
    restart_s
        Until all tasks are started again, without state.
    reaction_s
        From the bottleneck's promotion until somebody restarts the topology.
    at_s
        When it is restarted instead, if not empty.
    operators
        That get more tasks at the first restart, whatever their scores say.
    """

    interval_s: float = 1.0
    overhead_s: float = 0.05
    restart_s: float = 30.0
    reaction_s: float = 120.0
    at_s: tuple[float, ...] = ()
    operators: tuple[int, ...] = ()


class Detection(NamedTuple):
    """How bottlenecks are detected [Mudassar2019, algorithm 1].

    Attributes
    ----------
    window_s
        How often tasks are looked at.
    scores
        From cpu, memory and data size of T tasks in per cent, (T, 3), nan where unknown, to their scores, (T,).
    state
        From all scores of an operator since it was last split, the last one last, to its state now.
    rest_s
        For how long after a split, or a restart, scores of an operator say nothing: it works off what has waited.
    """

    window_s: float
    scores: Callable[[FloatArray], FloatArray]
    state: Callable[[Sequence[float]], State]
    rest_s: float = 60.0


class SplitOrder(NamedTuple):
    """An operator that is split at a given time, prepared some time before."""

    operator: int
    prepare_s: float
    promote_s: float


@dataclass(frozen=True, eq=False)
class ScalingSetting:
    """What is simulated: a job, its load, and who is split when, how, and into which ranges.

    Attributes
    ----------
    operators
        In topological order.
    ranges
        From an operator and its parallelism to the ranges of parts that it is split into; None: it stays.
    techniques
        By operator with keyed state that may be split. Others need none.
    orders
        Splits at given times.
    by_orders
        Nothing but orders splits: detection only scores.
    intervals
        Seconds between checkpoints of single operators, instead of those of ``split``.
    restart
        The whole topology is restarted where operators would be split.
    until_s
        End of what is measured. Afterwards no more input comes, and all that is there is worked off.
    every_s
        Bins of what is told over time.
    """

    operators: tuple[SimulatedOperator, ...]
    load: BatchedLoad
    ranges: Callable[[int, int], Ranges | None]
    techniques: Mapping[int, Technique]
    until_s: float
    every_s: float = 10.0
    split: SplitSetting = SplitSetting()
    detection: Detection | None = None
    orders: tuple[SplitOrder, ...] = ()
    by_orders: bool = False
    restart: RestartSetting | None = None
    intervals: Mapping[int, float] = field(default_factory=dict)

"""How batches flow, and what is observed of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FlowOptions:
    """How batches flow."""

    delay_s: float = 0.001  # from when a task has processed a batch until the next tasks have its output
    #: Batches that a task may be ahead of a task that it feeds, unless its output is buffered (back-pressure)
    queue_batches: int = 10
    checkpoint_s: float = 10.0  # seconds of source time between checkpoints, a multiple of a batch; infinite for none
    #: Checkpoints by punctuations through the whole job ([SuZhouTR], section 4.1); else each task makes its own, at a
    #: phase of its own
    coordinated: bool = True
    #: Batches by which each task's own checkpoints are shifted, shape (tasks,); None for none
    phase: IntArray | None = None
    bin_s: float = 1.0  # width of the bins of what is observed


class CompletedCheckpoint(NamedTuple):
    """A checkpoint of the whole job that became complete: the state after the first *batch* batches."""

    at_s: float
    batch: int


@dataclass
class Observed:
    """What was seen, in bins of time; row i is the moment ``start_s + (i + 1) * bin_s`` or the time up to it.

    There is a row for each bin that has ended. What happens at its end, to a billionth of a bin, counts in the next.
    """

    #: ``start_s``, ``bin_s``: when the plane was made (0), and the width of a bin
    start_s: float
    bin_s: float
    processed: IntArray  # batches that each task has processed, shape (bins, tasks); -1 while it is down
    #: Batches that have arrived on each stream, those that a checkpoint stands for included, shape (bins, streams); -1
    #: while its receiver is down
    received: IntArray
    #: Batch from which on sources' logs and buffers are kept: the last complete checkpoint, shape (bins,)
    trimmed: IntArray
    buffering: BoolArray  # whether tasks keep their output, shape (bins,)
    #: ``latency_s``, ``finished``: sum of ``records * latency`` and records that each task finished in the bin, shape
    #: (bins, tasks), filled for output tasks alone, each time that they finish a batch. Latency counts from the middle
    #: of the batch in batch mode, where a record waits half a batch for its batch to be full, and from the end of the
    #: batch otherwise.
    latency_s: FloatArray
    finished: FloatArray
    duplicates: FloatArray  # records that arrived again and were dropped, shape (bins, tasks)
    #: Completed ones in the order of time; of several in one moment, the last at least
    checkpoints: list[CompletedCheckpoint] = field(default_factory=list)

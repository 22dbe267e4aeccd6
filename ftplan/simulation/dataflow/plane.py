"""What every implementation of the flow of batches can do, and what it observes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

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


class DataPlane(Protocol):
    """Tasks that process batches on nodes. All orders take effect at :attr:`now_s`, before what else happens then.

    A task processes batch b once each input stream has brought it (a source: once its log has all of it, at
    ``(b + 1) * batch_s``), with at most ``threads`` cores, and a fair share of its node's cores beside the tasks that
    work there too (max-min). Its output arrives ``delay_s`` later, unless the receiver was down when it was sent, or
    has failed or gone back since. While output is not buffered, a task waits before batch b if ``b - queue_batches``
    is not yet processed by a live task that it feeds. A batch that a stream has brought already is dropped and counts
    as duplicate; one that comes before those in between is lost (its sender did not keep them).

    Checkpoints are due after each number of batches that is a multiple of ``checkpoint_s / batch_s`` (each task's own:
    that many later by its phase). When a task has processed so many, it sends its output, and its snapshot is safe.
    A checkpoint of the whole job is complete when all tasks are alive and have one that is safe, as old or younger,
    since they last started or went back; what a task started with or went back to counts. Where each task makes its
    own, they are on disk with what it keeps of its output, and outlive it; the oldest of all tasks' last ones counts
    as complete. What is older than the complete one is trimmed from all buffers.

    Nodes are numbered; :meth:`add_node` gives the next number. Times are seconds; 0 is the begin of batch 0. A new
    plane has no node, and all its tasks are down: the first order is to start each with the state after 0 batches.
    """

    @property
    def now_s(self) -> float:
        """Seconds from the begin of batch 0."""

    def advance(self, until_s: float) -> None:
        """Let happen what happens before a time."""

    def add_node(self, cores: float) -> int:
        """Add a node; return its number."""

    def pace(self, tasks: Sequence[int], factor: float) -> None:
        """Let live tasks work with at most *factor* times their ``threads``, until told otherwise or stopped."""

    def stop(self, tasks: Sequence[int]) -> None:
        """Let tasks fail: state, input queues and output buffers are gone, what is under way to them as well.

        What they have sent arrives. Nothing happens to a task that is down.
        """

    def stall(self, tasks: Sequence[int]) -> None:
        """Let live tasks stop working and keep all that they have, work on a batch included; what arrives is queued.

        They are live: they send what they kept to tasks that start, and those that feed them wait for them.
        """

    def resume(self, tasks: Sequence[int]) -> None:
        """Let stalled tasks go on."""

    def move(self, task: int, node: int) -> None:
        """Say where a task works from now on; its work on the batch under way is lost, not the batch."""

    def start(self, task: int, node: int, batch: int) -> None:
        """Start a task that is down, with the state after *batch* batches.

        The live tasks that feed it send again what they have kept since; those that are down will send it all in time.
        Its own output is kept from that batch on while buffering is on; where each task makes its own checkpoints, what
        it kept of earlier batches is there still, and the live tasks that it feeds get what has not arrived of it.
        """

    def roll_back(self, tasks: Sequence[int], batch: int) -> None:
        """Let live tasks forget queues and buffers and go back to the state after *batch* batches.

        What is under way to them is gone. Live tasks that feed them and do not go back send again what they have kept.
        A task that is down stays down; one that is stalled stays stalled.
        """

    def buffer(self, on: bool) -> None:
        """Let tasks keep or forget their output; sources' logs are kept in any case.

        When it is turned on, live tasks keep what they process from now on; nothing happens if it is on.
        """

    def batch_mode(self, on: bool) -> None:
        """Say whether records wait for their batch; it counts in latencies alone."""

    def complete(self) -> int:
        """Return the batch of the last complete checkpoint of the whole job, 0 before the first."""

    def own_checkpoint(self, task: int) -> int:
        """Return the batch of a task's last safe checkpoint: its own, or that of the whole job where coordinated.

        Whether it is up or down; 0 before the first.
        """

    def processed(self) -> IntArray:
        """Return the batches that each task has processed, -1 while it is down, shape (tasks,)."""

    def observed(self) -> Observed:
        """Return what was seen until now."""

"""The flow of batches, fast: a batch is its number, and what happens is an event loop over arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.errors import FtplanError
from ftplan.model.machine_limits import GB, VARIABLE, available_bytes
from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow import kernel
from ftplan.simulation.dataflow import rows as k
from ftplan.simulation.dataflow.job import CompletedCheckpoint, FlowOptions, Observed, StreamJob

#: Bytes of a number that is held: records by batch and task, and what is observed by bin; each for a moment twice.
HELD = 16.0
#: Events between two looks at signals, at most; a tenth of a second.
EVENTS = 200_000
#: Steps, of 40 µs as it is, for a batch that a task processes and for one on a stream: measured. Compiling pays after
#: eight tenths of a second then: that is what it takes to load numba, and a machine that has no machine code yet waits
#: no longer for small answers.
TASK_STEPS, STREAM_STEPS = 0.4, 0.025
#: What is summed up in bins, and what is observed in all.
SUMS = ("latency_s", "finished", "duplicates")
OBSERVED = ("processed", "received", "trimmed", "buffering", *SUMS)

_plain_steps = 0.0


class CompiledPlane:
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

    What is long is compiled; what is short runs as it is.

    *job*, *options*: what runs, and how. *until_s*: how far it will be advanced, if that is known.
    """

    def __init__(self, job: StreamJob, options: FlowOptions, until_s: float = 0.0) -> None:
        self.job, self.options = job, options
        self.now_s = 0.0  # from the begin of batch 0
        self._until_s = until_s
        self._fast = False
        self._tables: Any = k.flow_tables(job, options)
        self._state: Any = k.flow_state(job)
        self._counted: Any = [0.0] * job.tasks
        self._batches = 0
        self._zeros: Any = [0.0] * job.tasks
        self._checkpoints: list[CompletedCheckpoint] = []
        self._bins: dict[str, list[Any]] = {name: [] for name in OBSERVED}
        self._prepare(0.0)

    def advance(self, until_s: float) -> None:
        """Let happen what happens before a time.

        Raises FtplanError if there are more batches, tasks, streams and bins than fit in memory.
        """
        if not self._fast or until_s > (self._batches - 2) * self.job.batch_s:
            self._prepare(until_s)
        bin_s = self.options.bin_s
        while (end := (len(self._bins["trimmed"]) + 1 - 1e-9) * bin_s) < until_s:
            self._flow(end)
            self._observe()
        self._flow(until_s)
        self.now_s = max(self.now_s, until_s)

    def add_node(self, cores: float) -> int:
        """Add a node; return its number."""
        s = self._state
        self._state = s._replace(cores=k.longer(s.cores, [cores]), node=k.longer(s.node, [[0]] * len(s.node)))
        return len(self._state.cores) - 1

    def pace(self, tasks: Sequence[int], factor: float) -> None:
        """Let live tasks work with at most *factor* times their ``threads``, until told otherwise or stopped."""
        for task in self._live(tasks):
            self._state.pace[k.CAP][task] = float(self.job.threads[task]) * factor
        self._arrange()

    def stop(self, tasks: Sequence[int]) -> None:
        """Let tasks fail: state, input queues and output buffers are gone, what is under way to them as well.

        What they have sent arrives. Nothing happens to a task that is down.
        """
        s = self._state
        for task in self._live(tasks):
            self._forget(task)
            s.task[k.LIVE][task] = s.task[k.STALLED][task] = 0
            s.pace[k.CAP][task] = float(self.job.threads[task])
        self._arrange()

    def stall(self, tasks: Sequence[int]) -> None:
        """Let live tasks stop working and keep all that they have, work on a batch included; what arrives is queued.

        They are live: they send what they kept to tasks that start, and those that feed them wait for them.
        """
        for task in self._live(tasks):
            self._state.task[k.STALLED][task] = 1
        self._arrange()

    def resume(self, tasks: Sequence[int]) -> None:
        """Let stalled tasks go on."""
        for task in self._live(tasks):
            self._state.task[k.STALLED][task] = 0
        self._arrange()

    def move(self, task: int, node: int) -> None:
        """Say where a task works from now on; its work on the batch under way is lost, not the batch."""
        s = self._state
        s.task[k.NODE][task], s.pace[k.CORES][task] = node, 0.0
        if s.task[k.AT_BATCH][task]:
            at = s.task[k.PROCESSED][task] * self.job.tasks + task
            records = self._counted[at + self.job.tasks] - self._counted[at]
            s.pace[k.LEFT][task] = records * self._tables.record_s[task]
        self._arrange()

    def start(self, task: int, node: int, batch: int) -> None:
        """Start a task that is down, with the state after *batch* batches.

        The live tasks that feed it send again what they have kept since; those that are down will send it all in time.
        Its own output is kept from that batch on while buffering is on; where each task makes its own checkpoints, what
        it kept of earlier batches is there still, and the live tasks that it feeds get what has not arrived of it.
        """
        self._state.task[k.NODE][task] = node
        self._state.task[k.LIVE][task] = 1
        kept = int(self._state.task[k.KEPT][task])
        self._go_on_from([task], batch)
        if not self.options.coordinated:
            self._state.task[k.KEPT][task] = min(kept, batch)
            self._send_kept(self._streams(task, k.OUT_START, k.BY_SENDER))

    def roll_back(self, tasks: Sequence[int], batch: int) -> None:
        """Let live tasks forget queues and buffers and go back to the state after *batch* batches.

        What is under way to them is gone. Live tasks that feed them and do not go back send again what they have kept.
        A task that is down stays down; one that is stalled stays stalled. Where each task makes its own checkpoints,
        those of tasks that are down are of no use beyond that batch: they may hold what others will not do again.
        """
        if not self.options.coordinated:
            safe, live = self._state.task[k.SAFE], self._state.task[k.LIVE]
            for task in range(self.job.tasks):
                safe[task] = safe[task] if live[task] else min(safe[task], batch)
        self._go_on_from(self._live(tasks), batch)

    def buffer(self, on: bool) -> None:
        """Let tasks keep or forget their output; sources' logs are kept in any case.

        When it is turned on, live tasks keep what they process from now on; nothing happens if it is on.
        """
        s = self._state
        if on and not s.tally[k.BUFFERING]:
            s.task[k.KEPT][:] = s.task[k.PROCESSED][:]
        s.tally[k.BUFFERING] = int(on)
        self._arrange()

    def batch_mode(self, on: bool) -> None:
        """Say whether records wait for their batch; it counts in latencies alone."""
        self._state.tally[k.BATCHING] = int(on)

    def complete(self) -> int:
        """Return the batch of the last complete checkpoint of the whole job, 0 before the first."""
        return int(self._state.tally[k.COMPLETE])

    def own_checkpoint(self, task: int) -> int:
        """Return the batch of a task's last safe checkpoint: its own, or that of the whole job where coordinated.

        Whether it is up or down; 0 before the first.
        """
        return self.complete() if self.options.coordinated else int(self._state.task[k.SAFE][task])

    def processed(self) -> IntArray:
        """Return the batches that each task has processed, -1 while it is down, shape (tasks,)."""
        return np.where(self._state.task[k.LIVE], self._state.task[k.PROCESSED], -1)

    def observed(self) -> Observed:
        """Return what was seen until now."""
        bins, tasks = self._bins, self.job.tasks
        count = len(bins["trimmed"])
        return Observed(
            start_s=0.0,
            bin_s=self.options.bin_s,
            trimmed=np.array(bins["trimmed"], dtype=np.int64),
            buffering=np.array(bins["buffering"], dtype=np.bool_),
            checkpoints=list(self._checkpoints),
            processed=np.array(bins["processed"], dtype=np.int64).reshape(count, tasks),
            received=np.array(bins["received"], dtype=np.int64).reshape(count, self.job.streams),
            latency_s=np.array(bins["latency_s"]).reshape(count, tasks),
            finished=np.array(bins["finished"]).reshape(count, tasks),
            duplicates=np.array(bins["duplicates"]).reshape(count, tasks),
        )

    def _live(self, tasks: Iterable[int]) -> list[int]:
        return [task for task in tasks if self._state.task[k.LIVE][task]]

    def _forget(self, task: int) -> None:
        """Let a task lose its work, and what was sent to it."""
        s = self._state
        s.task[k.AT_BATCH][task], s.pace[k.LEFT][task], s.pace[k.CORES][task] = 0, 0.0, 0.0
        s.tally[k.ORDERS] += 1
        s.task[k.RESET][task] = s.tally[k.ORDERS]

    def _go_on_from(self, tasks: Sequence[int], batch: int) -> None:
        """Let tasks have the state after *batch* batches, and those that feed them send what they have kept since."""
        s = self._state
        for task in tasks:
            self._forget(task)
            s.task[k.PROCESSED][task] = s.task[k.KEPT][task] = s.task[k.SAFE][task] = batch
            for stream in self._streams(task, k.IN_START, k.BY_RECEIVER):
                s.received[stream] = batch
        self._arrange()
        self._send_kept([stream for task in tasks for stream in self._streams(task, k.IN_START, k.BY_RECEIVER)])

    def _send_kept(self, streams: Sequence[int]) -> None:
        """Let live senders of streams send what live receivers lack of what they have kept."""
        s = self._state
        for stream in streams if s.tally[k.BUFFERING] else ():
            sender, receiver = self.job.sender[stream], self.job.receiver[stream]
            first, end = max(s.received[stream], s.task[k.KEPT][sender], self.complete()), s.task[k.PROCESSED][sender]
            if s.task[k.LIVE][sender] and s.task[k.LIVE][receiver] and first < end:
                self._send(stream, first, end)

    def _streams(self, task: int, starts: int, streams: int) -> list[int]:
        """Return the streams that a task sends or receives."""
        start, stream = self._tables.role[starts], self._tables.stream[streams]
        return [int(number) for number in stream[start[task] : start[task + 1]]]

    def _send(self, stream: int, first: int, end: int) -> None:
        """Send batches on a stream again."""
        self._make_room()
        s = self._state
        at = s.tally[k.LAST] % len(s.sent_s)
        s.tally[k.LAST] += 1
        s.sent_s[at] = self.now_s + self.options.delay_s
        s.sent[k.BY][at], s.sent[k.FROM][at], s.sent[k.TO][at] = -1 - stream, first, end
        s.sent[k.SENT_AFTER][at] = s.tally[k.ORDERS]

    def _arrange(self) -> None:
        (kernel.arrange if self._fast else kernel.arrange.plain)(self._tables, self._state, self._counted)
        self._note_checkpoints()

    def _flow(self, until_s: float) -> None:
        flow = kernel.flow if self._fast else kernel.flow.plain
        while not flow(self._tables, self._state, self._counted, until_s, EVENTS):
            self._note_checkpoints()
            self._make_room()
        self._note_checkpoints()

    def _note_checkpoints(self) -> None:
        s = self._state
        for i in range(s.tally[k.LOGGED]):
            self._checkpoints.append(CompletedCheckpoint(float(s.log[0][i]), int(s.log[1][i])))
        s.tally[k.LOGGED] = 0

    def _make_room(self) -> None:
        """Double the room for what is under way where it is full."""
        s = self._state
        if s.tally[k.LAST] - s.tally[k.FIRST] == len(s.sent_s):  # number i is at i modulo the size of the ring
            self._state = s._replace(sent=k.longer(s.sent, s.sent), sent_s=k.longer(s.sent_s, s.sent_s))

    def _observe(self) -> None:
        """Note the end of a bin."""
        s, bins = self._state, self._bins
        live = np.asarray(s.task[k.LIVE]) != 0
        bins["processed"].append(np.where(live, s.task[k.PROCESSED], -1).astype(np.int32))
        bins["received"].append(np.where(live[self.job.receiver], s.received, -1).astype(np.int32))
        bins["trimmed"].append(self.complete())
        bins["buffering"].append(bool(s.tally[k.BUFFERING]))
        for name, sums in zip(SUMS, s.seen, strict=True):
            bins[name].append(np.array(sums))
            sums[:] = self._zeros

    def _prepare(self, until_s: float) -> None:
        """Compile if there is, or was, much to do, and count the records of all batches until a time."""
        global _plain_steps
        job, bin_s, far_s = self.job, self.options.bin_s, max(until_s, self._until_s)
        batches = math.ceil(far_s / job.batch_s) + 2
        if not self._fast:
            steps = (TASK_STEPS * job.tasks + STREAM_STEPS * job.streams) / job.batch_s
            if pays_to_compile(_plain_steps + steps * (far_s - self.now_s)):
                self._fast = True
                self._tables, self._state = k.as_arrays(self._tables), k.as_arrays(self._state)
                self._counted, self._zeros = np.array(self._counted, dtype=np.float64), np.zeros(job.tasks)
            else:
                _plain_steps += steps * (until_s - self.now_s)
        if batches > self._batches:
            needed = HELD * (job.tasks * batches + (5 * job.tasks + job.streams) * far_s / bin_s)
            if needed > (available := available_bytes()):
                raise FtplanError(
                    f"{far_s:g} s of {job.tasks} tasks and {job.streams} streams in batches of {job.batch_s:g} s, seen "
                    f"every {bin_s:g} s, need about {needed / GB:.1f} GiB and {available / GB:.1f} GiB are available: "
                    f"take longer batches, simulate less, or set {VARIABLE} to what may be used"
                )
            self._batches = max(batches, 2 * self._batches)
            counted = job.records_in(self._batches).ravel()
            self._counted = counted if self._fast else counted.tolist()

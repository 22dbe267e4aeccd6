"""What must hold at every moment of a simulation, whatever fails: no record is lost, doubled or out of order."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from tests.simulation.reference_plane.reference import ReferencePlane, failure_free
from tests.simulation.reference_plane.streams import Barrier, Identity, Records
from tests.simulation.reference_plane.task_state import TaskHistory

#: Batches that no test goes beyond.
MOST_BATCHES = 2000


class Invariants:
    """Looks at a plane after each event and order; an ``AssertionError`` says what does not hold.

    - Records sent are under way, lost, dropped, queued or processed, on every stream.
    - On every stream the numbers of what the receiver's state has come from are 1, 2, ..., n, batch for batch those of
      the job without a failure.
    - What it has come from is what the sender's state has come to emit, as far as both are.
    - A buffer holds what its task has emitted since the last complete checkpoint, or since it began to keep.

    What has been looked at in a life of a task (from a start or a rollback on) is not looked at again.
    """

    def __init__(self, job: StreamJob) -> None:
        before = job.records_in(MOST_BATCHES)
        self._numbers = [job.records_on(stream, before).astype(int).tolist() for stream in range(job.streams)]
        self._seen: dict[int, tuple[int, int]] = {}
        self._agreed: dict[int, tuple[tuple[int, int], int]] = {}
        self._kept: dict[int, tuple[tuple[int, bool], int]] = {}
        self.events = 0

    def __call__(self, plane: ReferencePlane) -> None:
        self.events += 1
        self._conservation(plane)
        for number in range(plane.job.tasks):
            self._exactly_once(plane, number)
        for stream in range(plane.job.streams):
            self._agreement(plane, stream)
        for number in range(plane.job.tasks):
            self._buffers(plane, number)

    def _conservation(self, plane: ReferencePlane) -> None:
        ledger = plane.ledger()
        assert not ledger.missing().any(), f"{plane.now_s}: records got lost unseen: {ledger}"
        parts = (ledger.under_way, ledger.lost, ledger.duplicate, ledger.queued, ledger.processed)
        assert all((part >= 0).all() for part in parts), f"{plane.now_s}: less than nothing: {ledger}"

    def _exactly_once(self, plane: ReferencePlane, number: int) -> None:
        task = plane.flow.tasks[number]
        if task.state is None:
            return
        life, checked = self._seen.get(number, (-1, 0))
        checked = checked if life == task.life else 0
        self._seen[number] = (task.life, task.batch)
        if checked == task.batch:
            return
        taken, since = history(plane, number).taken, history(plane, number).since
        # Where each task has its own checkpoints, all can go back to the oldest only if the others build theirs again.
        built_again = not plane.flow.options.coordinated and not plane.job.deterministic.all()
        assert since == 0 or built_again, f"{plane.now_s}: task {number} went on without a checkpoint"
        assert since + len(taken) == task.batch
        for batch in range(max(checked, since), task.batch):
            for stream in task.role.inputs:
                numbers = [n for run in of_stream(taken[batch - since], stream) for n in range(run.first, run.last + 1)]
                first, last = self._numbers[stream][batch : batch + 2]
                assert numbers == list(range(first + 1, last + 1)), (
                    f"{plane.now_s}: task {number} took {numbers} of stream {stream} for batch {batch}, "
                    f"which has {first + 1} to {last}"
                )

    def _agreement(self, plane: ReferencePlane, stream: int) -> None:
        sender = plane.flow.tasks[plane.job.sender[stream]]
        receiver = plane.flow.tasks[plane.job.receiver[stream]]
        if sender.state is None or receiver.state is None:
            return
        lives = (sender.life, receiver.life)
        known, checked = self._agreed.get(stream, (lives, 0))
        checked = checked if known == lives else 0
        common = min(sender.batch, receiver.batch)
        self._agreed[stream] = (lives, max(common, checked))
        if common <= checked:
            return
        emitter, taker = history(plane, sender.role.task), history(plane, receiver.role.task)
        for batch in range(max(checked, emitter.since, taker.since), common):
            assert names(emitter.emission(stream, batch), stream) == names(taker.of(stream, batch), stream), (
                f"{plane.now_s}: task {receiver.role.task} has not processed what task {sender.role.task} emitted in "
                f"batch {batch}"
            )

    def _buffers(self, plane: ReferencePlane, number: int) -> None:
        task = plane.flow.tasks[number]
        era, since = self._kept.get(number, ((-1, False), 0))
        if era != (task.life, plane.buffering):
            on_disk = not plane.flow.options.coordinated and plane.buffering and era[1]
            if not on_disk:
                since = task.batch
            elif task.state is not None:
                since = min(since, task.batch)
            era = (task.life, plane.buffering)
            self._kept[number] = (era, since)
        if task.state is None:
            return
        expected = list(range(max(since, plane.complete()), task.batch)) if plane.buffering else []
        for stream, buffer in task.buffers.items():
            kept = [message.batch for message in buffer.since(0) if isinstance(message, Barrier)]
            assert kept == expected, f"{plane.now_s}: stream {stream} keeps batches {kept}, not {expected}"


def history(plane: ReferencePlane, task: int) -> TaskHistory:
    """Return the history of a live task."""
    known = plane.history(task)
    assert known is not None
    return known


def of_stream(batch: tuple[Records, ...], stream: int) -> list[Records]:
    """Return the records of a stream in a batch."""
    return [records for records in batch if records.stream == stream]


def names(batch: tuple[Records, ...], stream: int) -> list[Identity]:
    """Return the identities of a stream's records in a batch."""
    return [name for records in of_stream(batch, stream) for name in records.identities]


def started(job: StreamJob, options: FlowOptions, nodes: int, cores: float, **other: Any) -> ReferencePlane:
    """Return a plane whose tasks run on nodes in turn."""
    plane = ReferencePlane(job, options, **other)
    for _ in range(nodes):
        plane.add_node(cores)
    for task in range(job.tasks):
        plane.start(task, task % nodes, 0)
    return plane


def assert_progress(plane: ReferencePlane) -> None:
    """Hold all tasks to half the rate of the input, or more, in the last two whole seconds: none waits for ever."""
    batches = plane.observed().processed[[-3, -1]]
    assert batches[0].min() >= 0, f"{plane.now_s}: tasks are down: {batches[0]}"
    assert (batches[1] - batches[0]).min() >= 1.0 / plane.job.batch_s, f"{plane.now_s}: {batches}"


def assert_undisturbed(plane: ReferencePlane) -> None:
    """Hold the histories of all live tasks, and the output as a multiset, to a run without failure."""
    processed = plane.processed().tolist()
    expected = failure_free(plane.job, max(processed))
    for task, batches in enumerate(processed):
        if batches < 0:
            continue
        seen = history(plane, task).identities()
        assert seen == expected[task].identities()[:batches], f"task {task} has come from something else"
        if plane.job.output[task]:
            output = Counter(name for batch in seen for name in batch)
            assert set(output.values()) <= {1}
            assert sum(output.values()) == plane.job.records_in(batches)[batches, task]

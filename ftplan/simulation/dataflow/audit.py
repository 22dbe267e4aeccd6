"""Exactly-once and conservation, checked on what a reference plane knows of its records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ftplan.simulation.dataflow.input_order import Records
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.ledger import TaskHistory
from ftplan.simulation.dataflow.reference import ReferencePlane
from ftplan.simulation.dataflow.storage import SourceLog
from ftplan.simulation.dataflow.task_state import rebuilt_state, task_role


def audit(plane: ReferencePlane) -> list[str]:
    """Return what is wrong at this moment, a sentence each; empty if nothing is.

    - Conservation: each copy of a record that was sent is under way, queued, processed, dropped or lost.
    - Exactly-once: the state of each live task holds the records of each input stream by their numbers, without gap,
      repetition or change of order.
    - Consistency: what it holds of a batch of a stream is what the sender's state says that it has emitted. A task
      that is not deterministic breaks this when it alone goes back.
    """
    wrong = [
        f"stream {stream}: {missing} records are not accounted for"
        for stream, missing in enumerate(plane.ledger().missing())
        if missing
    ]
    for stream, (sender, receiver) in enumerate(zip(plane.job.sender, plane.job.receiver, strict=True)):
        history, origin = plane.history(int(receiver)), plane.history(int(sender))
        if history is None:
            continue
        numbers = history.numbers(stream)
        first = 1 if history.since == 0 or not numbers else numbers[0]
        if numbers != list(range(first, first + len(numbers))):
            wrong.append(f"stream {stream}: task {receiver} holds not each number once and in order")
        if origin is not None:
            wrong.extend(
                f"stream {stream}: task {receiver} holds another batch {batch} than task {sender} has emitted"
                for batch, taken, emitted in _batches_of_both(stream, history, origin)
                if taken != emitted
            )
    return wrong


def failure_free(job: StreamJob, batches: int) -> list[TaskHistory]:
    """Return the histories of all tasks after the first batches of a run without failure; no time passes in it."""
    log = SourceLog(job, identities=True)
    roles = [task_role(job, task) for task in range(job.tasks)]
    states = [rebuilt_state(job, role, 0, identities=True) for role in roles]
    nonces = count()
    histories = [state.history or TaskHistory() for state in states]
    for batch in range(batches):
        on: dict[int, Records] = {}
        for task in job.order.tolist():
            role = roles[task]
            taken = [on[stream] for stream in role.inputs if on[stream].size] or []
            if not role.inputs:
                taken = [log.read(task, batch)]
            on |= {records.stream: records for records in states[task].process(role, taken, nonces.__next__)}
    return histories


def _batches_of_both(
    stream: int, history: TaskHistory, origin: TaskHistory
) -> Iterator[tuple[int, tuple[Records, ...], tuple[Records, ...]]]:
    """Yield batches of a stream that both ends know, with the records that each holds."""
    first = max(history.since, origin.since)
    last = min(history.since + len(history.taken), origin.since + len(origin.taken))
    for batch in range(first, last):
        yield batch, history.of(stream, batch), origin.emission(stream, batch)

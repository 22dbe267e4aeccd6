"""Random small jobs, and what each must do if nothing fails, recounted record by record."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ftplan.simulation.dataflow.job import StreamJob

BATCH_S = 0.1


def job(
    rate: list[float],
    streams: list[tuple[int, int, float]],
    utilisation: float | list[float] = 0.3,
    threads: list[float] | None = None,
    **other: Any,
) -> StreamJob:
    """Return a job of streams (sender, receiver, share), whose tasks use this share of their own pace at their rates.

    The output tasks are those that send nothing.
    """
    tasks = len(rate)
    own = np.array(threads or [1.0] * tasks)
    sender, receiver, share = (np.array([item[k] for item in streams]) for k in range(3))
    total = np.array(rate, dtype=np.float64)
    draft = StreamJob(
        rate=total,
        sender=sender.astype(np.int64),
        receiver=receiver.astype(np.int64),
        share=share.astype(np.float64),
        record_time_s=np.zeros(tasks),
        threads=own,
        output=~np.isin(np.arange(tasks), sender),
        deterministic=np.ones(tasks, dtype=bool),
        state_bytes=np.full(tasks, 1e6),
        batch_s=BATCH_S,
        **other,
    )
    into = total.copy()
    for task in draft.order.tolist():
        for stream in np.flatnonzero(draft.sender == task).tolist():
            into[draft.receiver[stream]] += draft.share[stream] * into[task]
    draft.record_time_s[:] = np.broadcast_to(utilisation, tasks) * own / into
    return draft


@st.composite
def jobs(draw: st.DrawFn, most_tasks: int = 7) -> StreamJob:
    """Draw a job: layers of tasks, full edges between some, single substreams between others, joins and merges."""
    layers = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4).filter(lambda sizes: sum(sizes) <= most_tasks))
    first = np.concatenate(([0], np.cumsum(layers))).tolist()
    streams: list[tuple[int, int, float]] = []
    for layer in range(1, len(layers)):
        here = range(first[layer], first[layer + 1])
        fed = draw(st.lists(st.integers(0, layer - 1), min_size=1, max_size=2, unique=True))
        for before in fed:
            senders = range(first[before], first[before + 1])
            if draw(st.booleans()):
                streams += [(sender, task, 1.0 / len(here)) for sender in senders for task in here]
            else:
                one = draw(st.sampled_from([0.5, 1.0]))
                streams += [(first[before] + k % len(senders), task, one) for k, task in enumerate(here)]
    sources = set(range(first[-1])) - {receiver for _, receiver, _ in streams}
    rate = [float(draw(st.sampled_from([4, 10, 25, 40]))) if task in sources else 0.0 for task in range(first[-1])]
    utilisation = [draw(st.floats(0.05, 0.7)) for _ in rate]
    return job(rate, streams, utilisation)

"""Small jobs whose times are easy to compute by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import StreamJob


def job(
    rate: Sequence[float],
    streams: Sequence[tuple[int, int, float]],
    record_time_s: float | Sequence[float] = 0.02,
    **other: Any,
) -> StreamJob:
    """Return a job with batches of 1 s whose streams are (sender, receiver, share); output tasks send nothing."""
    tasks = len(rate)
    sender, receiver, share = (np.array([stream[k] for stream in streams]) for k in range(3))
    rest: dict[str, Any] = {"threads": np.ones(tasks), "deterministic": np.ones(tasks, dtype=bool), "batch_s": 1.0}
    return StreamJob(
        rate=np.array(rate, dtype=np.float64),
        sender=sender.astype(np.int64),
        receiver=receiver.astype(np.int64),
        share=share.astype(np.float64),
        record_time_s=np.broadcast_to(np.array(record_time_s, dtype=np.float64), tasks),
        output=~np.isin(np.arange(tasks), sender),
        state_bytes=np.zeros(tasks),
        **(rest | other),
    )


def chain(share: float = 1.0, **other: Any) -> StreamJob:
    """Return a source of 10 records a second and two tasks behind it; a batch of 10 records takes a task 0.2 s."""
    return job([10, 0, 0], [(0, 1, 1.0), (1, 2, share)], **other)


def begin(plane: CompiledPlane, tasks: int, cores: float | None = None) -> None:
    """Start all tasks, each on a node of its own with 1 core, or all on one node with so many cores."""
    shared = None if cores is None else plane.add_node(cores)
    for task in range(tasks):
        plane.start(task, plane.add_node(1.0) if shared is None else shared, 0)

"""What the reference plane observes, bin by bin."""

from __future__ import annotations

import numpy as np
from simpy import Environment

from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.plane import CompletedCheckpoint, Observed
from ftplan.simulation.engine.series import LevelSeries, SumSeries


class Observations:
    """Series of a plane, written as things happen."""

    def __init__(self, env: Environment, job: StreamJob, bin_s: float) -> None:
        self.env = env
        self.job = job
        self.bin_s = bin_s
        self.processed = LevelSeries(env, bin_s, job.tasks, -1)
        self.received = LevelSeries(env, bin_s, job.streams, -1)
        self.trimmed = LevelSeries(env, bin_s)
        self.buffering = LevelSeries(env, bin_s)
        self.latency_s = SumSeries(env, bin_s, job.tasks)
        self.finished = SumSeries(env, bin_s, job.tasks)
        self.duplicates = SumSeries(env, bin_s, job.tasks)

    def output(self, task: int, batch: int, records: int, batch_mode: bool) -> None:
        """Note that an output task has finished the records of a batch."""
        waits_from = batch + (0.5 if batch_mode else 1.0)
        self.latency_s.add(records * (self.env.now - waits_from * self.job.batch_s), task)
        self.finished.add(records, task)

    def observed(self, completed: list[CompletedCheckpoint]) -> Observed:
        """Return all series until now."""
        return Observed(
            start_s=self.processed.start_s,
            bin_s=self.bin_s,
            processed=self.processed.ends().astype(np.int64),
            received=self.received.ends().astype(np.int64),
            trimmed=self.trimmed.ends()[:, 0].astype(np.int64),
            buffering=self.buffering.ends()[:, 0] > 0,
            latency_s=self.latency_s.sums(),
            finished=self.finished.sums(),
            duplicates=self.duplicates.sums(),
            checkpoints=list(completed),
        )

"""Small jobs and settings of recoveries, by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.simulation.dataflow.job import Observed, StreamJob
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.outcome import ControlEvent, RecoveryOutcome, RecoverySummary, summarise
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.recovery.setting import (
    NodeFailure,
    RecoverySetting,
    RecoveryStart,
    RecoveryTiming,
    SimulatedNode,
)
from tests.simulation.jobs import job

BATCH_S = 0.5


def chain(rho: float = 0.5, tasks: int = 3) -> StreamJob:
    """One query: 0 -> 1 -> 2."""
    streams = [(task, task + 1, 1.0) for task in range(tasks - 1)]
    return replace(job([20.0] + [0.0] * (tasks - 1), streams, rho), batch_s=BATCH_S)


def fork(rho: float = 0.5) -> StreamJob:
    """Two queries: 0 -> 1 -> 2 and 1 -> 3."""
    return replace(job([20.0, 0.0, 0.0, 0.0], [(0, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0)], rho), batch_s=BATCH_S)


def diamond(rho: float = 0.5) -> StreamJob:
    """One query that joins: 0 -> 1, 0 -> 2, both -> 3."""
    streams = [(0, 1, 0.5), (0, 2, 0.5), (1, 3, 1.0), (2, 3, 1.0)]
    return replace(job([20.0, 0.0, 0.0, 0.0], streams, rho), batch_s=BATCH_S)


def failure(nodes: Iterable[int], at_s: float = 0.0, tasks: Sequence[int] = ()) -> NodeFailure:
    return NodeFailure(at_s, frozenset(nodes), np.array(tasks, dtype=np.int64))


def starts(*at: tuple[float, int, int]) -> tuple[RecoveryStart, ...]:
    """Starts by (time, task, node)."""
    return tuple(RecoveryStart(*item) for item in at)


def setting(
    mode: str, stream_job: StreamJob, failures: Sequence[NodeFailure], arrivals: Sequence[float] = (), **other: Any
) -> RecoverySetting:
    """Return a setting: a node of 2 cores for each task, and one more at each of the arrivals.

    Detection takes 2 s, a restart 3 s, the transfer of a task's state 1 s; the last punctuation is 5 s old.
    """
    nodes = [SimulatedNode(f"n{task}", 2.0) for task in range(stream_job.tasks)]
    nodes += [SimulatedNode(f"a{k}", 2.0, at_s) for k, at_s in enumerate(arrivals)]
    made = RecoverySetting(
        job=stream_job,
        nodes=tuple(nodes),
        home=np.arange(stream_job.tasks),
        failures=tuple(failures),
        starts=(),
        mode=MODES[mode],
        timing=RecoveryTiming(detection_s=2.0, restart_s=3.0, bandwidth_bytes_s=1e6),
        checkpoint_age_s=5.0,
        warm_up_s=25.0,
        until_s=200.0,
    )
    return replace(made, **other)


def timing(base: RecoverySetting, **changed: Any) -> RecoverySetting:
    return replace(base, timing=replace(base.timing, **changed))


def simulated(made: RecoverySetting) -> RecoveryOutcome:
    return run_recovery(made)


def summary(made: RecoverySetting) -> RecoverySummary:
    trace = simulated(made)
    series = query_series(trace)
    return summarise(trace, series, np.ones(len(series.query)))


def times(trace: RecoveryOutcome, what: str) -> list[float]:
    """When an event happened, each time."""
    return [round(event.at_s, 6) for event in events(trace, what)]


def events(trace: RecoveryOutcome, what: str) -> list[ControlEvent]:
    return [event for event in trace.events if event.what == what]


def running(trace: RecoveryOutcome) -> dict[int, float]:
    """When each task worked again last."""
    return {event.tasks[0]: round(event.at_s, 6) for event in events(trace, "running")}


def observed(processed: Any, **other: Any) -> Observed:
    """Return what was seen, in bins of a second from 0 s on; what is not said is 0."""
    processed = np.asarray(processed, dtype=np.int64)
    bins, tasks = processed.shape
    nothing = np.zeros((bins, tasks))
    kept = {"received": np.zeros((bins, 0), dtype=np.int64), "trimmed": np.zeros(bins, dtype=np.int64)}
    kept |= {"buffering": np.zeros(bins, dtype=bool), "latency_s": nothing, "finished": nothing, "duplicates": nothing}
    return Observed(0.0, 1.0, processed, **{**kept, **other})

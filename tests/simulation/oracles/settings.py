"""Random settings of recoveries: what fails, again and while it starts, where tasks start, how long all takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.recovery.hosts import busy_cores
from ftplan.simulation.recovery.modes import Mode
from ftplan.simulation.recovery.setting import (
    NodeFailure,
    RecoverySetting,
    RecoveryStart,
    RecoveryTiming,
    SimulatedNode,
)
from tests.simulation.jobs import jobs

#: From then on nothing fails and all that is down is started.
LAST_S = 3.0
UNTIL_S = 6.5


@st.composite
def settings_of(draw: st.DrawFn, mode: Mode, deterministic: bool = True) -> RecoverySetting:
    """Draw a setting; node 0 never fails and has cores for all."""
    job = draw(jobs(most_tasks=6))
    job.record_time_s[:] /= 2.0  # so that all has caught up by the end
    if not deterministic:
        job.deterministic[draw(st.integers(0, job.tasks - 1))] = False
    nodes = draw(_nodes(job))
    there = [number for number, node in enumerate(nodes) if node.from_s < 0.0]
    ticks = sorted({0, *draw(st.lists(st.integers(1, 29), max_size=3))})
    failures = tuple(draw(_failure(job, len(nodes), tick * LAST_S / 30.0)) for tick in ticks)
    home = np.array([draw(st.sampled_from(there)) for _ in range(job.tasks)])
    starts = [draw(_start(task, len(nodes))) for task in range(job.tasks) for _ in range(draw(st.integers(0, 2)))]
    starts += [RecoveryStart(LAST_S, task, 0) for task in range(job.tasks)]
    return RecoverySetting(
        job,
        nodes,
        home,
        failures,
        tuple(sorted(starts, key=lambda start: start.at_s)),
        replica=draw(
            st.none() | st.lists(st.integers(-1, len(nodes) - 1), min_size=job.tasks, max_size=job.tasks).map(np.array)
        ),
        mode=mode,
        timing=draw(_timing()),
        checkpoint_s=draw(st.sampled_from([0.3, 0.5, 1.0])),
        checkpoint_age_s=draw(st.sampled_from([0.0, 0.1, 0.25])),
        delay_s=draw(st.sampled_from([0.0, 0.001, 0.01])),
        queue_batches=draw(st.sampled_from([4, 10])),
        warm_up_s=1.0,
        until_s=UNTIL_S,
    )


@st.composite
def _nodes(draw: st.DrawFn, job: StreamJob) -> tuple[SimulatedNode, ...]:
    enough = float(busy_cores(job).sum()) * 2.0 + 0.5
    here = [SimulatedNode(f"n{number}", enough) for number in range(draw(st.integers(2, 4)))]
    coming = draw(st.lists(st.floats(-0.5, LAST_S), max_size=3))
    return (*here, *(SimulatedNode(f"a{number}", enough * 0.7, at_s) for number, at_s in enumerate(coming)))


@st.composite
def _failure(draw: st.DrawFn, job: StreamJob, nodes: int, at_s: float) -> NodeFailure:
    lost = draw(st.frozensets(st.integers(1, nodes - 1), max_size=2))
    tasks = draw(st.sets(st.integers(0, job.tasks - 1), min_size=0 if lost else 1, max_size=2))
    return NodeFailure(at_s, lost, np.array(sorted(tasks), dtype=np.int64))


def _start(task: int, nodes: int) -> st.SearchStrategy[RecoveryStart]:
    return st.builds(
        RecoveryStart,
        at_s=st.floats(0.0, LAST_S),
        task=st.just(task),
        node=st.integers(0, nodes - 1),
        local_bytes=st.sampled_from([0.0, 5e5, 2e6]),
    )


def _timing() -> st.SearchStrategy[RecoveryTiming]:
    some: Any = st.sampled_from([0.0, 0.05, 0.3])
    return st.builds(
        RecoveryTiming,
        detection_s=some,
        restart_s=some,
        bandwidth_bytes_s=st.sampled_from([np.inf, 5e6]),
        transfer_delay_s=st.sampled_from([0.0, 0.01]),
        takeover_s=some,
        replica_lag_s=some,
        warming_s=some,
        warming_pace=st.sampled_from([0.5, 1.0]),
        correlated_failures=st.integers(1, 2),
    )

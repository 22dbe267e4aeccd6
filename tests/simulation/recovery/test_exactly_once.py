"""Whatever fails and whenever: in every mode each record counts once, and nothing that lives waits for ever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.dataflow.audit import audit, failure_free
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.plane import FlowOptions
from ftplan.simulation.dataflow.reference import ReferencePlane
from ftplan.simulation.recovery.control import simulate
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.setting import (
    NodeFailure,
    RecoverySetting,
    RecoveryStart,
    RecoveryTiming,
    SimulatedNode,
)
from tests.simulation.jobs import jobs

#: All that fails and starts does so before; the job has the rest of the time to catch up.
LAST_S, UNTIL_S = 12.0, 60.0


@st.composite
def disasters(draw: st.DrawFn, mode: str) -> RecoverySetting:
    """Draw failures of nodes and tasks, during recovery too, arrivals, replicas, and starts of all tasks at last."""
    job = draw(jobs(most_tasks=5))
    home = np.array([draw(st.integers(0, 2)) for _ in range(job.tasks)])
    seconds = st.integers(0, int(4 * LAST_S)).map(lambda quarter: quarter / 4.0)
    arrivals = draw(st.lists(seconds, min_size=1, max_size=2))
    nodes = [SimulatedNode(f"n{k}", 40.0) for k in range(3)] + [SimulatedNode("last", 40.0)]
    nodes += [SimulatedNode(f"a{k}", 40.0, at_s) for k, at_s in enumerate(arrivals)]
    some = st.integers(0, len(nodes) - 1).filter(lambda node: node != 3)
    task = st.integers(0, job.tasks - 1)
    at = [0.0, *sorted(draw(st.lists(seconds, max_size=3)))]
    named = st.lists(task, max_size=1).map(lambda tasks: np.array(tasks, dtype=np.int64))
    failures = [NodeFailure(at_s, frozenset(draw(st.sets(some, min_size=1, max_size=2))), draw(named)) for at_s in at]
    starts = [RecoveryStart(0, draw(seconds), draw(task), draw(some)) for _ in range(draw(st.integers(0, 6)))]
    starts += [RecoveryStart(1, LAST_S + 2.5, number, 3) for number in range(job.tasks)]
    return RecoverySetting(
        job=job,
        nodes=tuple(nodes),
        home=home,
        failures=tuple(failures),
        starts=tuple(starts),
        replica=np.array([draw(st.sampled_from([-1, -1, -1, 0, 1, 3])) for _ in range(job.tasks)]),
        mode=MODES[mode],
        timing=RecoveryTiming(
            detection_s=draw(st.sampled_from([0.0, 0.3, 2.0])),
            restart_s=draw(st.sampled_from([0.0, 0.7])),
            bandwidth_bytes_s=draw(st.sampled_from([2e6, np.inf])),
            takeover_s=0.2,
            correlated_failures=draw(st.sampled_from([0, 2])),
            timeout_s=draw(st.sampled_from([0.0, 1.0])),
        ),
        checkpoint_s=draw(st.sampled_from([1.0, 3.0])),
        checkpoint_age_s=draw(st.sampled_from([0.0, 0.5, 1.0])),
        upload_s=np.full(job.tasks, draw(st.sampled_from([0.0, 0.5]))),
        warm_up_s=4.0,
        until_s=UNTIL_S,
    )


def checked(setting: RecoverySetting) -> None:
    planes: list[ReferencePlane] = []

    def plane(job: StreamJob, options: FlowOptions) -> ReferencePlane:
        planes.append(ReferencePlane(job, options))
        return planes[0]

    trace = simulate(setting, plane)
    assert audit(planes[0]) == []
    compiled = simulate(setting)
    assert compiled.events == trace.events
    np.testing.assert_array_equal(compiled.observed.processed, trace.observed.processed)
    np.testing.assert_allclose(compiled.observed.latency_s, trace.observed.latency_s, atol=1e-9)
    processed = planes[0].processed()
    assert (processed >= 0).all(), [event for event in trace.events if event.what != "running"]
    batches = round((UNTIL_S - setting.begin_s) / setting.job.batch_s)
    assert processed.min() >= batches - 20
    if setting.job.deterministic.all():
        for task, alone in enumerate(failure_free(setting.job, int(processed.max()))):
            history = planes[0].history(task)
            assert history is not None
            assert history.taken == alone.taken[history.since : history.since + len(history.taken)]


@pytest.mark.parametrize("mode", MODES)
@given(st.data())
@settings(max_examples=4, deadline=None)
def test_each_record_counts_once(mode: str, data: st.DataObject) -> None:
    checked(data.draw(disasters(mode)))


@given(st.data(), st.sampled_from(["incremental", "source-replay", "eager", "uncoordinated"]))
@settings(max_examples=4, deadline=None)
def test_so_it_does_where_a_task_is_not_deterministic(data: st.DataObject, mode: str) -> None:
    """All go back; but where it is logged in which order tasks process, which the plane does not know."""
    made = data.draw(disasters(mode))
    random = np.zeros(made.job.tasks, dtype=bool)
    random[data.draw(st.integers(0, made.job.tasks - 1))] = True
    checked(replace(made, job=replace(made.job, deterministic=~random)))

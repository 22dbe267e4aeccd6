"""Exactly-once in every mode, on random jobs, failures (of what just starts, too), schedules and times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.setting import RecoverySetting
from tests.simulation.jobs import job as job_of
from tests.simulation.oracles.invariants import Invariants, assert_progress, assert_undisturbed
from tests.simulation.oracles.settings import settings_of
from tests.simulation.recovery.cases import failure, fork, setting, simulated, starts, times, timing
from tests.simulation.recovery.planes import assert_same
from tests.simulation.reference_plane.reference import ReferencePlane


def carried_out(made: RecoverySetting, logged: bool | None = None) -> ReferencePlane:
    """Simulate under the eyes of the invariants; return the plane.

    Where it is logged in which order tasks process (None: as the mode says), they do the same again.
    """
    planes: list[ReferencePlane] = []

    def factory(job: StreamJob, options: FlowOptions) -> ReferencePlane:
        if made.mode.logs_order if logged is None else logged:
            job = replace(job, deterministic=np.ones(job.tasks, dtype=bool))
        planes.append(ReferencePlane(job, options, watch=Invariants(job)))
        return planes[0]

    run_recovery(made, factory)
    return planes[0]


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=6)
@given(data=st.data())
def test_every_record_counts_once(mode: str, data: st.DataObject) -> None:
    end = carried_out(data.draw(settings_of(MODES[mode])))
    assert_progress(end)
    assert_undisturbed(end)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=3)
@given(data=st.data())
def test_states_agree_where_a_task_is_not_deterministic(mode: str, data: st.DataObject) -> None:
    assert_progress(carried_out(data.draw(settings_of(MODES[mode], deterministic=False))))


def test_a_task_that_is_down_does_not_keep_checkpoints_of_what_others_do_again() -> None:
    """Its own last one is younger than the state that all go back to, with records that will be others then."""
    job = job_of([4.0, 4.0, 4.0, 0.0], [(0, 3, 1.0), (1, 3, 1.0), (2, 3, 1.0)])
    job = replace(job, deterministic=np.array([False, True, True, True]))
    made = setting("uncoordinated", job, [failure([], tasks=[3])], starts=starts((3.0, 3, 0)), until_s=6.5)
    made = replace(made, home=np.zeros(4, dtype=np.int64), checkpoint_s=0.3, checkpoint_age_s=0.0, warm_up_s=1.0)
    made = timing(made, detection_s=0.0, restart_s=0.0)
    carried_out(made)
    assert_same(made)


def test_without_rollback_at_every_failure_states_disagree() -> None:
    """Task 1 fails while task 3 is down; task 2 has processed output of it that it does not make a second time."""
    job = fork()
    job.deterministic[1] = False
    failures = [failure([3]), failure([1], at_s=8.0)]
    made = setting("incremental", job, failures, [10.0, 30.0], starts=starts((10.0, 1, 4), (30.0, 3, 5)), until_s=60.0)
    made = timing(made, correlated_failures=1)
    trace = simulated(made)
    assert times(trace, "rolled-back") == [2.0, 10.0]
    carried_out(made)
    unaware = replace(made, mode=replace(made.mode, logs_order=True))  # it takes for granted what is not so
    assert times(simulated(unaware), "rolled-back") == [2.0]
    with pytest.raises(AssertionError, match="task 2 has not processed what task 1 emitted"):
        carried_out(unaware, logged=False)
    carried_out(unaware)

"""Exactly-once in every mode, on random jobs, failures (of what just starts, too), schedules and times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.plane import FlowOptions
from ftplan.simulation.dataflow.reference import ReferencePlane
from ftplan.simulation.recovery.control import simulate
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.setting import RecoverySetting
from tests.simulation.oracles.invariants import Invariants, assert_caught_up, assert_undisturbed
from tests.simulation.oracles.settings import settings_of


def carried_out(setting: RecoverySetting) -> ReferencePlane:
    """Simulate under the eyes of the invariants; return the plane.

    Where it is logged in which order tasks process, they do the same again.
    """
    planes: list[ReferencePlane] = []

    def factory(job: StreamJob, options: FlowOptions) -> ReferencePlane:
        if setting.mode.logs_order:
            job = replace(job, deterministic=np.ones(job.tasks, dtype=bool))
        planes.append(ReferencePlane(job, options, watch=Invariants(job)))
        return planes[0]

    simulate(setting, factory)
    return planes[0]


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=8)
@given(data=st.data())
def test_every_record_counts_once(mode: str, data: st.DataObject) -> None:
    setting = data.draw(settings_of(MODES[mode]))
    plane = carried_out(setting)
    assert_caught_up(plane)
    assert_undisturbed(plane)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(data=st.data())
def test_states_agree_where_a_task_is_not_deterministic(mode: str, data: st.DataObject) -> None:
    assert_caught_up(carried_out(data.draw(settings_of(MODES[mode], deterministic=False))))

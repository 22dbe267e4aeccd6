"""Simulations against closed forms: no failure, catching up, and the recovery time that costs are fitted with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.topology import topology
from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from ftplan.simulation.recovery.job import JobOptions, running_job
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.setting import (
    NodeFailure,
    RecoverySetting,
    RecoveryStart,
    RecoveryTiming,
    SimulatedNode,
)
from tests.simulation.jobs import BATCH_S, job
from tests.simulation.oracles.invariants import started
from tests.simulation.reference_plane.reference import ReferencePlane

DELAY_S = 0.002
quick = partial(ReferencePlane, identities=False)


def chain(rho: list[float], rate: float = 50.0) -> StreamJob:
    """Return a chain whose tasks use these shares of their core."""
    streams = [(task, task + 1, 1.0) for task in range(len(rho) - 1)]
    if not streams:
        return replace(job([rate, 0.0], [(0, 1, 1.0)], [rho[0], 1e-9]))
    return job([rate] + [0.0] * len(streams), streams, rho)


# No failure


@pytest.mark.parametrize("seed", range(4))
def test_without_failure_rates_are_the_derived_ones(seed: int) -> None:
    """Records processed over 100 s, on every task of a random topology, against the rates that planners use."""
    knobs = TopologyKnobs(seed=seed, operators=(4, 7), parallelism=(1, 4), full=0.3, joins=0.5, selectivity=(0.5, 1.5))
    graph = TaskGraph(topology(knobs))
    made = running_job(
        graph,
        graph.per_task("cpu"),
        np.zeros(graph.tasks),
        None,
        JobOptions(batch_s=0.5, record_bytes=100.0, headroom=1.25, window_s=10.0),
    ).job
    plane = CompiledPlane(made, FlowOptions(checkpoint_s=np.inf))
    for task in range(made.tasks):
        plane.start(task, plane.add_node(made.threads[task]), 0)
    plane.advance(120.0 + 1e-9)
    batches, before = plane.observed().processed, made.records_in(240)
    processed = before[batches[119], range(made.tasks)] - before[batches[19], range(made.tasks)]
    derived = rates(graph)
    per_s = np.where(made.source, derived.out, derived.into)
    assert per_s.max() > 10.0
    # a batch more or less at each end, and each stream rounds down
    allowed = 0.02 * 100.0 * per_s + 2.0 * made.streams
    assert (np.abs(processed - 100.0 * per_s) <= allowed).all()
    assert np.ptp(np.diff(batches[19:], axis=0).mean(axis=0)) <= 0.02


@settings(max_examples=10)
@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=4), st.booleans())
def test_without_failure_latency_is_the_sum_of_services_and_delays(rho: list[float], batch_mode: bool) -> None:
    plane = started(chain(rho), FlowOptions(delay_s=DELAY_S), len(rho), 1.0, identities=False)
    plane.batch_mode(batch_mode)
    plane.advance(10.0)
    seen = plane.observed()
    latency_s = seen.latency_s[1:, -1] / seen.finished[1:, -1]
    services_s = sum(rho) * BATCH_S + DELAY_S * (len(rho) - 1)
    assert latency_s == pytest.approx(services_s + (BATCH_S / 2 if batch_mode else 0.0))
    assert seen.finished[2:, -1] == pytest.approx(50.0)
    assert not seen.duplicates.any()


# Catching up


def tandem(rho: list[float], batches: int, stalled: int, from_s: float, until_s: float) -> FloatArray:
    """Return when each task finishes each batch, one task being stalled for a while: Lindley's recursion.

    Shape (tasks, batches).
    """
    done = np.zeros((len(rho), batches))
    for task, share in enumerate(rho):
        for batch in range(batches):
            ready = (batch + 1) * BATCH_S if task == 0 else done[task - 1, batch] + DELAY_S
            begin = max(ready, done[task, batch - 1] if batch else 0.0)
            end = begin + share * BATCH_S
            if task == stalled and begin < until_s and end > from_s:
                end = until_s + end - max(from_s, begin)
            done[task, batch] = end
    return done


@settings(max_examples=15)
@given(
    st.lists(st.floats(0.05, 0.9), min_size=2, max_size=3),
    st.integers(0, 2),
    st.floats(1.0, 2.0),
    st.floats(0.05, 3.0),
)
def test_catching_up_is_lindley_s_recursion(rho: list[float], which: int, from_s: float, down_s: float) -> None:
    task = which % len(rho)
    plane = started(chain(rho), FlowOptions(delay_s=DELAY_S, queue_batches=10**6), len(rho), 1.0, identities=False)
    plane.advance(from_s)
    plane.stall([task])
    plane.advance(from_s + down_s)
    plane.resume([task])
    plane.advance(8.0)
    done = tandem(rho, 100, task, from_s, from_s + down_s)
    ends = np.arange(1.0, 9.0)
    expected = np.array([(done < end - 1e-9).sum(axis=1) for end in ends])
    upper = np.array([(done < end + 1e-9).sum(axis=1) for end in ends])
    seen = plane.observed().processed
    assert ((expected <= seen) & (seen <= upper)).all()


@pytest.mark.parametrize("queue_batches", [10, 10**6])
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
def test_catching_up_takes_rho_over_1_minus_rho(rho: float, queue_batches: int) -> None:
    """A second of outage takes rho / (1 - rho) seconds more, with back-pressure or without."""
    others = [0.9 * rho, rho, 0.5 * rho]
    plane = started(chain(others), FlowOptions(delay_s=DELAY_S, queue_batches=queue_batches), 3, 1.0, identities=False)
    plane.advance(2.0)
    plane.stall([1])
    plane.advance(12.0)
    plane.resume([1])
    back_s = 12.0 + 10.0 * rho / (1.0 - rho)
    plane.advance(back_s - 2.0)
    assert plane.processed()[2] < (back_s - 2.0) / BATCH_S - 2
    plane.advance(back_s + 2 * BATCH_S)
    assert plane.processed()[2] >= np.floor((back_s + 2 * BATCH_S) / BATCH_S) - 2


# The closed form of recovery costs


@st.composite
def chains_that_fail(draw: st.DrawFn) -> RecoverySetting:
    """Draw a chain on one node each task, whose first node fails; its task starts on a node that is there."""
    tasks = draw(st.integers(2, 3))
    rho = draw(st.floats(0.2, 0.75))
    drawn = chain([rho] * tasks)
    drawn.state_bytes[:] = draw(st.sampled_from([0.0, 50.0 * MB]))
    nodes = tuple(SimulatedNode(f"n{number}", 1.0) for number in range(tasks + 1))
    failed = draw(st.integers(0, tasks - 1))
    detection_s = draw(st.floats(0.5, 15.0))
    return RecoverySetting(
        drawn,
        nodes,
        np.arange(tasks),
        (NodeFailure(0.0, frozenset({failed}), np.zeros(0, dtype=np.int64)),),
        (RecoveryStart(0.0, failed, tasks),),
        mode=MODES[draw(st.sampled_from(["task-local", "blocking"]))],
        timing=RecoveryTiming(
            detection_s=detection_s,
            restart_s=draw(st.floats(0.0, 15.0)),
            bandwidth_bytes_s=draw(st.sampled_from([10.0 * MB, np.inf])),
        ),
        checkpoint_s=10.0,
        checkpoint_age_s=draw(st.integers(5, 99)) * 0.1,
        delay_s=0.0005,
        warm_up_s=20.0,
        until_s=250.0,
        bin_s=BATCH_S / 2,
    )


@settings(max_examples=8)
@given(chains_that_fail())
def test_recovery_takes_what_the_closed_form_says(setting: RecoverySetting) -> None:
    """Detection, restart, transfer, replay, catching up: within 2 % where nothing else takes time."""
    rate, timing = 50.0, setting.timing
    rho = float(setting.job.record_time_s[0] * rate)
    parts = recovery_time(
        RecoveryParameters(
            timing.detection_s,
            timing.restart_s,
            timing.bandwidth_bytes_s / MB,
            setting.checkpoint_age_s / setting.checkpoint_s,
            rate / rho,
        ),
        rate,
        setting.checkpoint_s,
        float(setting.job.state_bytes[0]),
    )
    setting = replace(setting, until_s=float(parts.total_s) + 5.0)
    trace = run_recovery(setting, quick)
    seen = trace.observed
    time_s = (seen.start_s + np.arange(1, len(seen.processed) + 1) * seen.bin_s)[::2]  # in the middle of batches
    last = seen.processed[::2, -1]
    behind_s = np.where(last < 0, 0.0, time_s - seen.start_s - last * BATCH_S)
    usual_s = behind_s[time_s < 0.0].max()
    back_s = float(time_s[np.flatnonzero(behind_s > usual_s + BATCH_S / 2)[-1]]) + BATCH_S
    assert back_s == pytest.approx(float(parts.total_s), rel=0.02, abs=2 * BATCH_S)
    peak_s = float(parts.stopped_s) + setting.checkpoint_age_s
    assert behind_s.max() == pytest.approx(peak_s, rel=0.02, abs=BATCH_S * (1.0 + 1.0 / rho))  # it falls fast

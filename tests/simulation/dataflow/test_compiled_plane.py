"""The compiled plane by itself: closed forms, rooms that grow, and that it is all one how it runs."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings

from ftplan.compiled import called_often
from ftplan.errors import FtplanError
from ftplan.simulation.dataflow import compiled as compiled_module
from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import FlowOptions, Observed, StreamJob
from tests.simulation.dataflow.cases import begin, chain, job
from tests.simulation.dataflow.orders import Case, cases, play
from tests.simulation.jobs import jobs


@pytest.fixture(autouse=True)
def _nothing_done_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "_plain_steps", 0.0)


def observed(of: StreamJob, until_s: float, options: FlowOptions | None = None) -> Observed:
    """What is seen of a job whose tasks have a node each."""
    plane = CompiledPlane(of, options or FlowOptions())
    begin(plane, of.tasks)
    plane.advance(until_s)
    return plane.observed()


def assert_identical(seen: Observed, expected: Observed) -> None:
    for name, value in vars(seen).items():
        np.testing.assert_array_equal(value, getattr(expected, name), name)


def completion_s(of: StreamJob, batches: int, delay_s: float) -> np.ndarray:
    """When each task has processed each batch if all have cores enough: a max-plus recursion; (tasks, batches)."""
    service = np.diff(of.records_in(batches), axis=0).T * of.record_time_s[:, None]
    done = np.zeros((of.tasks, batches))
    for task in of.order.tolist():
        senders = of.sender[of.receiver == task]
        there = (np.arange(batches) + 1) * of.batch_s if not len(senders) else done[senders].max(axis=0) + delay_s
        before = np.cumsum(service[task]) - service[task]
        done[task] = np.maximum.accumulate(there - before) + before + service[task]
    return done


@given(of=jobs())
@settings(max_examples=30)
def test_tasks_with_cores_enough_follow_a_max_plus_recursion(of: StreamJob) -> None:
    seen = observed(of, 6.0, FlowOptions(queue_batches=1000, delay_s=0.003, bin_s=0.137))
    done = completion_s(of, 70, 0.003)
    ends = (np.arange(len(seen.trimmed)) + 1) * 0.137
    np.testing.assert_array_equal(seen.processed, (done[None] < ends[:, None, None] - 1e-9).sum(axis=2))
    records = np.diff(of.records_in(70), axis=0).T
    waited = np.where(done < ends[-1], records * (done - (np.arange(70) + 1) * of.batch_s), 0.0).sum(axis=1)
    np.testing.assert_allclose(seen.latency_s.sum(axis=0), np.where(of.output, waited, 0.0), atol=1e-7)


@given(of=jobs())
@settings(max_examples=30)
def test_a_task_processes_what_its_log_and_its_streams_bring(of: StreamJob) -> None:
    into = of.records_in(20)
    brought = of.read(20)
    for stream, receiver in enumerate(of.receiver.tolist()):
        brought[:, receiver] += of.records_on(stream, into)
    np.testing.assert_array_equal(into, brought)
    assert (np.diff(into, axis=0) >= 0).all()


@given(case=cases())
@settings(max_examples=15)
def test_compiled_and_as_it_is_are_one_to_the_last_bit(case: Case) -> None:
    compiled_module._plain_steps = 0.0
    plain = CompiledPlane(case.job, case.options)
    seen = play(plain, case)
    with called_often():
        fast = CompiledPlane(case.job, case.options)
        assert play(fast, case) == seen
    assert (plain._fast, fast._fast) == (False, True)
    assert_identical(fast.observed(), plain.observed())


@pytest.mark.parametrize("often", [False, True])
def test_what_is_compiled_on_the_way_goes_on_as_before(monkeypatch: pytest.MonkeyPatch, often: bool) -> None:
    expected = observed(chain(), 40.0)
    monkeypatch.setattr(compiled_module, "EVENTS", 3)
    plane = CompiledPlane(chain(), FlowOptions())
    begin(plane, 3)
    plane.advance(17.3)
    monkeypatch.setattr(compiled_module, "pays_to_compile", lambda steps: often)
    plane.advance(40.0)
    assert plane._fast == often
    assert_identical(plane.observed(), expected)


def test_many_short_simulations_compile_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(compiled_module, "pays_to_compile", lambda steps: bool(asked.append(steps)))
    for _ in range(3):
        observed(chain(), 40.0)
    assert max(asked) == pytest.approx(3 * max(asked[:3]))


def test_what_is_short_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert observed(chain(), 40.0).processed[-1].tolist() == [39, 39, 39]


@pytest.mark.parametrize("often", [False, True])
def test_much_may_be_under_way(often: bool) -> None:
    """Output takes 30 s: more is under way than there is room for at first."""
    options = FlowOptions(delay_s=30.0, checkpoint_s=1.0, queue_batches=1000)
    if often:
        with called_often():
            seen = observed(chain(), 400.0, options)
    else:
        seen = observed(chain(), 400.0, options)
    assert seen.processed[-1].tolist() == [399, 369, 339]
    assert seen.latency_s[-10:, 2] == pytest.approx(10 * (0.2 + 30.2 + 30.2))
    assert seen.checkpoints[0] == pytest.approx((61.6, 1))
    assert seen.checkpoints[-1] == pytest.approx((399.6, 339))
    assert len(seen.checkpoints) == 339


def test_all_cores_are_shared_by_what_works() -> None:
    """Batches of 1, 0.45 and 1.8 core-seconds on 2 cores, for tasks of 0.2, 1 and 2 threads.

    While all work they have 0.2, 0.9 and 0.9 cores; while the second waits for its next batch the third has 1.8.
    """
    of = job([10.0, 10.0, 10.0, 0.0], [(0, 3, 0.0)], [0.1, 0.045, 0.18, 0.0], threads=np.array([0.2, 1.0, 2.0, 1.0]))
    plane = CompiledPlane(of, FlowOptions(queue_batches=1000))
    begin(plane, 4, cores=2.0)
    expected = {
        1.499: [0, 0, 0], 1.501: [0, 1, 0], 2.499: [0, 1, 0], 2.501: [0, 2, 1], 3.749: [0, 3, 1], 3.751: [0, 3, 2],
        5.999: [0, 5, 3], 6.001: [1, 5, 3],
    }  # fmt: skip
    for at_s, processed in expected.items():
        plane.advance(at_s)
        assert plane.processed()[:3].tolist() == processed


def test_what_does_not_fit_in_memory_is_refused() -> None:
    with pytest.raises(FtplanError, match=r"in batches of 1 s, seen every 0\.001 s"):
        CompiledPlane(chain(), FlowOptions(bin_s=0.001), until_s=1e7)

"""When batches are done, by hand: 10 records a second, batches of 1 s that take a task 0.2 s, 0.1 s between tasks."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from tests.simulation.dataflow.cases import begin, chain, job
from tests.simulation.reference_plane.reference import ReferencePlane

QUIET = FlowOptions(delay_s=0.1, checkpoint_s=np.inf)


def done(of: StreamJob, until_s: float = 4.0, options: FlowOptions = QUIET, cores: float | None = None) -> list[float]:
    """When each task has processed its first batch, up to 0.01 s."""
    plane = ReferencePlane(of, options)
    begin(plane, of.tasks, cores)
    when = np.full(of.tasks, np.inf)
    for at_s in np.arange(0.005, until_s, 0.01):
        plane.advance(at_s)
        when[(plane.processed() > 0) & np.isinf(when)] = at_s - 0.005
    return [round(float(at_s), 2) for at_s in when]


def test_a_chain() -> None:
    assert done(chain()) == [1.2, 1.5, 1.8]


def test_fewer_records_take_less() -> None:
    assert done(chain(share=0.5)) == [1.2, 1.5, 1.7]


def test_a_join_waits_for_the_slower_stream_and_processes_the_records_of_both() -> None:
    joined = job([10, 10, 0], [(0, 2, 1.0), (1, 2, 0.5)], record_time_s=[0.02, 0.05, 0.02])
    assert done(joined) == [1.2, 1.5, 1.9]


def test_tasks_on_one_node_share_its_cores() -> None:
    sources = job([10, 10, 0], [(0, 2, 1.0), (1, 2, 1.0)], record_time_s=[0.02, 0.02, 0.0])
    assert done(sources, cores=1.0) == [1.4, 1.4, 1.5]
    assert done(sources, cores=2.0) == [1.2, 1.2, 1.3]


def test_no_task_uses_more_than_its_threads() -> None:
    uneven = job([10, 10, 0], [(0, 2, 1.0), (1, 2, 1.0)], [0.02, 0.03, 0.0], threads=np.array([0.25, 1.0, 1.0]))
    # 0.2 core-seconds at a quarter of a core; 0.3 on the three quarters that are left.
    assert done(uneven, cores=1.0) == [1.8, 1.4, 1.9]


@pytest.mark.parametrize(("batch_mode", "latency_s"), [(False, 0.7), (True, 1.2)])
def test_latency_counts_from_the_end_of_a_batch_or_from_its_middle(batch_mode: bool, latency_s: float) -> None:
    plane = ReferencePlane(chain(share=0.5), QUIET)
    begin(plane, 3)
    plane.batch_mode(batch_mode)
    plane.advance(6.0)
    seen = plane.observed()
    assert seen.processed.tolist() == [[0, 0, 0], *([b, b, b] for b in range(1, 6))][:6]
    assert seen.received.tolist() == [[b, b] for b in range(6)]
    assert seen.finished.tolist() == [[0, 0, 0], *[[0, 0, 5]] * 5]
    np.testing.assert_allclose(seen.latency_s[1:, 2], 5 * latency_s)
    assert not seen.duplicates.any()


def test_what_happens_at_the_end_of_a_bin_counts_in_the_next() -> None:
    plane = ReferencePlane(chain(record_time_s=0.0), FlowOptions(delay_s=0.5, bin_s=0.5, checkpoint_s=1.0))
    begin(plane, 3)
    plane.advance(2.5)
    seen = plane.observed()
    assert seen.processed.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 1]]
    assert seen.finished[:, 2].tolist() == [0, 0, 0, 0, 10]
    assert seen.trimmed.tolist() == [0, 0, 0, 0, 1]


def test_a_task_is_no_more_than_the_queue_ahead_of_one_that_it_feeds() -> None:
    slow = job([10, 0], [(0, 1, 1.0)], record_time_s=[0.02, 0.3])
    plane = ReferencePlane(slow, FlowOptions(delay_s=0.1, queue_batches=2, checkpoint_s=np.inf))
    begin(plane, 2)
    plane.advance(7.25)  # the second has batch 0 at 1.3 and takes 3 s for each
    assert plane.processed().tolist() == [3, 1]
    plane.advance(7.45)
    assert plane.processed().tolist() == [3, 2]
    plane.advance(7.55)  # room at 7.3
    assert plane.processed().tolist() == [4, 2]
    plane.buffer(True)
    plane.advance(7.76)  # no matter any more
    assert plane.processed().tolist() == [5, 2]


def test_a_stalled_task_keeps_its_work_and_one_that_moves_does_it_again() -> None:
    plane = ReferencePlane(chain(), QUIET)
    begin(plane, 3)
    plane.advance(1.1)
    plane.stall([0])
    plane.advance(1.4)
    plane.resume([0])
    plane.advance(1.49)
    assert plane.processed()[0] == 0
    plane.advance(1.51)
    assert plane.processed()[0] == 1
    plane.advance(2.15)
    plane.move(0, plane.add_node(1.0))
    plane.advance(2.34)
    assert plane.processed()[0] == 1
    plane.advance(2.36)
    assert plane.processed()[0] == 2


def test_what_a_stalled_task_gets_is_queued() -> None:
    plane = ReferencePlane(chain(), QUIET)
    begin(plane, 3)
    plane.stall([1])
    plane.advance(3.45)
    assert plane.processed().tolist() == [3, 0, 0]
    assert plane.ledger().queued.tolist() == [30, 0]
    plane.resume([1])
    plane.advance(4.06)
    assert plane.processed().tolist() == [3, 3, 1]


def test_pace() -> None:
    plane = ReferencePlane(chain(), QUIET)
    begin(plane, 3)
    plane.advance(1.1)
    plane.pace([0], 0.25)  # 0.1 core-seconds are left
    plane.advance(1.49)
    assert plane.processed()[0] == 0
    plane.advance(1.51)
    assert plane.processed()[0] == 1
    plane.pace([0], 1.0)
    plane.advance(2.21)
    assert plane.processed()[0] == 2

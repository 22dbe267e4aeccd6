"""Failures on the reference plane, by hand: what is sent again, what is dropped, what is lost; and exactly-once."""

from __future__ import annotations

import numpy as np

from ftplan.simulation.dataflow.job import FlowOptions
from tests.simulation.dataflow.cases import begin, chain, job
from tests.simulation.oracles.printed_order import PrintedOrder
from tests.simulation.reference_plane.reference import ReferencePlane, audit, failure_free
from tests.simulation.reference_plane.streams import InputOrderFactory, RepairedOrder

EVERY_2_S = FlowOptions(delay_s=0.1, checkpoint_s=2.0)


def incremental() -> ReferencePlane:
    """Task 1 fails at 5.05 s; the others go back to batch 4 at 6 s; the source fails at 6.45 s and starts at 6.5 s."""
    plane = ReferencePlane(chain(), EVERY_2_S)
    begin(plane, 3)
    plane.advance(5.05)
    assert plane.processed().tolist() == [4, 4, 4]
    assert plane.complete() == 4
    plane.stop([1])
    plane.advance(6.0)
    plane.roll_back([0, 2], 4)
    plane.buffer(True)
    plane.advance(6.45)
    assert plane.processed().tolist() == [6, -1, 4]
    plane.start(1, 1, 4)
    plane.advance(6.47)
    plane.stop([0])
    plane.advance(6.5)
    plane.start(0, 0, 4)
    return plane


def test_a_task_that_starts_gets_what_was_kept_and_drops_what_comes_again() -> None:
    plane = incremental()
    plane.advance(6.56)
    assert plane.ledger().queued.tolist() == [20, 0]  # sent at 6.45; the sender has failed since
    plane.advance(6.94)
    assert plane.processed().tolist() == [6, 5, 4]  # 6.75
    plane.advance(7.06)
    assert plane.processed().tolist() == [6, 6, 5]  # 6.95, 7.05
    plane.advance(9.0)
    assert plane.processed().tolist() == [8, 8, 8]
    assert plane.observed().duplicates.sum(axis=0).tolist() == [0, 20, 0]
    ledger = plane.ledger()
    # Stream 0: batches 0 to 3; 4, and again 4 and 5, to the task that is down; 4 and 5 when it starts; 4 to 7 at last.
    assert ledger.sent.tolist() == [40 + 10 + 20 + 20 + 40, 80]
    assert ledger.lost.tolist() == [30, 0]
    assert ledger.duplicate.tolist() == [20, 0]
    assert ledger.processed.tolist() == [80, 80]
    assert audit(plane) == []


def test_every_task_processes_what_it_would_have_without_failure() -> None:
    plane = incremental()
    plane.advance(20.0)
    for task, history in enumerate(failure_free(chain(), 19)):
        assert plane.history(task) == history
    assert plane.history(2).numbers(1) == list(range(1, 191))  # type: ignore[union-attr]


def replayed_behind_a_barrier(order: InputOrderFactory) -> ReferencePlane:
    """A source fails after its barrier and sends all again, while the other stream of the join has brought nothing."""
    of = job([10, 10, 0], [(0, 2, 1.0), (1, 2, 1.0)])
    plane = ReferencePlane(of, EVERY_2_S, order=order)
    begin(plane, 3)
    plane.stall([1])
    plane.advance(1.5)
    plane.stop([0])
    plane.start(0, 0, 0)
    plane.advance(1.9)
    plane.resume([1])
    plane.advance(8.0)
    assert plane.processed().tolist() == [7, 7, 7]
    return plane


def test_the_printed_order_is_caught() -> None:
    assert audit(replayed_behind_a_barrier(RepairedOrder)) == []
    plane = replayed_behind_a_barrier(PrintedOrder)
    wrong = audit(plane)
    assert "stream 0: task 2 holds not each number once and in order" in wrong
    assert "stream 1: task 2 holds another batch 0 than task 1 has emitted" in wrong


def test_buffers_begin_where_tasks_went_back_to_and_end_at_the_complete_checkpoint() -> None:
    plane = ReferencePlane(chain(), EVERY_2_S)
    begin(plane, 3)
    plane.advance(4.9)
    assert plane.kept().tolist() == [0, 0]
    plane.buffer(True)
    plane.advance(5.25)
    assert plane.kept().tolist() == [10, 0]
    plane.roll_back([0, 1, 2], 4)
    assert plane.kept().tolist() == [0, 0]
    plane.advance(6.79)
    assert (plane.complete(), plane.kept().tolist()) == (4, [20, 20])
    plane.advance(6.81)
    assert (plane.complete(), plane.kept().tolist()) == (6, [0, 0])
    plane.advance(7.25)
    plane.buffer(False)
    assert plane.kept().tolist() == [0, 0]
    assert plane.observed().buffering.tolist() == [False] * 4 + [True] * 3


def test_what_is_under_way_to_a_task_that_fails_is_gone_and_what_it_sent_arrives() -> None:
    plane = ReferencePlane(chain(), EVERY_2_S)
    begin(plane, 3)
    plane.advance(1.25)
    plane.stop([1])
    assert plane.ledger().lost.tolist() == [10, 0]
    plane.start(1, 1, 0)
    plane.advance(1.55)  # nothing was kept
    assert plane.processed().tolist() == [1, 0, 0]
    assert plane.ledger().under_way.tolist() == [0, 0]
    plane.advance(2.45)  # batch 1 without batch 0 before it
    assert plane.ledger().lost.tolist() == [20, 0]
    other = ReferencePlane(chain(), EVERY_2_S)
    begin(other, 3)
    other.advance(1.55)
    other.stop([1])
    other.advance(1.85)
    assert other.processed().tolist() == [1, -1, 1]
    assert other.observed().received.tolist() == [[0, 0]]


def test_a_task_that_goes_back_alone_gets_what_its_live_sender_kept() -> None:
    plane = ReferencePlane(chain(), EVERY_2_S)
    begin(plane, 3)
    plane.buffer(True)
    plane.advance(3.35)
    plane.roll_back([1], 2)
    plane.advance(3.66)  # sent at 3.35 again, there at 3.45
    assert plane.processed().tolist() == [3, 3, 2]
    plane.advance(3.86)
    assert plane.processed().tolist() == [3, 3, 2]
    plane.advance(5.0)
    assert plane.processed().tolist() == [4, 4, 4]
    assert audit(plane) == []


def test_tasks_with_checkpoints_of_their_own_restart_alone() -> None:
    options = FlowOptions(delay_s=0.1, checkpoint_s=4.0, coordinated=False, phase=np.array([0, 1, 3]))
    plane = ReferencePlane(chain(), options)
    begin(plane, 3)
    plane.buffer(True)
    plane.advance(7.0)
    assert [plane.own_checkpoint(task) for task in range(3)] == [4, 5, 3]
    # The oldest of them counts: task 0 has its first at 4.2, task 1 its second at 5.5.
    assert [(round(at_s, 9), batch) for at_s, batch in plane.observed().checkpoints] == [(4.2, 1), (5.5, 3)]
    assert plane.complete() == 3
    assert plane.kept().tolist() == [30, 30]
    plane.stop([1])
    plane.advance(7.3)
    plane.start(1, 1, plane.own_checkpoint(1))
    plane.advance(7.61)
    assert plane.processed().tolist() == [7, 6, 6]
    plane.advance(12.0)
    assert plane.processed().tolist() == [11, 11, 11]
    assert plane.observed().duplicates.sum(axis=0).tolist() == [0, 0, 10]
    assert audit(plane) == []
    assert plane.history(2) == failure_free(chain(), 11)[2]


def test_what_was_kept_outlives_a_task_with_checkpoints_of_its_own() -> None:
    """Task 2 goes back further than task 1, which fed it and failed as well; whichever of them starts first."""
    for order in ((1, 2), (2, 1)):
        options = FlowOptions(delay_s=0.1, checkpoint_s=4.0, coordinated=False, phase=np.array([0, 1, 3]))
        plane = ReferencePlane(chain(), options)
        begin(plane, 3)
        plane.buffer(True)
        plane.advance(7.0)
        plane.stop([1, 2])
        for task in order:
            plane.start(task, task, plane.own_checkpoint(task))
        plane.advance(7.05)
        assert plane.processed().tolist() == [6, 5, 3]
        assert plane.ledger().under_way.tolist() == [10, 20]  # batch 5; batches 3 and 4
        plane.advance(12.0)
        assert plane.processed().tolist() == [11, 11, 11]
        assert not plane.observed().duplicates.any()
        assert plane.history(2) == failure_free(chain(), 11)[2]


def alone(deterministic: bool) -> ReferencePlane:
    """Task 1 fails and starts from its own checkpoint, while the task that it feeds has more of its output."""
    of = chain(share=0.5, deterministic=np.array([True, deterministic, True]))
    plane = ReferencePlane(of, FlowOptions(delay_s=0.1, checkpoint_s=2.0))
    begin(plane, 3)
    plane.buffer(True)
    plane.advance(5.9)
    plane.stop([1])
    plane.start(1, 1, plane.complete())
    plane.advance(7.0)
    return plane


def test_a_task_that_is_not_deterministic_forces_the_others_back() -> None:
    assert audit(alone(deterministic=True)) == []
    plane = alone(deterministic=False)
    assert audit(plane) == ["stream 1: task 2 holds another batch 4 than task 1 has emitted"]
    assert plane.complete() == 6
    both = ReferencePlane(
        chain(deterministic=np.array([True, False, True])), FlowOptions(delay_s=0.1, checkpoint_s=2.0)
    )
    begin(both, 3)
    both.buffer(True)
    both.advance(5.9)
    both.stop([1])
    both.roll_back([0, 2], both.complete())
    both.start(1, 1, both.complete())
    both.advance(9.0)
    assert audit(both) == []


def test_a_state_that_is_built_again_without_a_checkpoint() -> None:
    plane = ReferencePlane(chain(share=0.5), FlowOptions(delay_s=0.1, checkpoint_s=np.inf))
    begin(plane, 3)
    plane.buffer(True)
    plane.advance(5.9)
    plane.stop([1, 2])
    plane.start(1, 1, 3)
    plane.start(2, 2, 3)
    plane.advance(8.0)
    assert plane.processed().tolist() == [7, 7, 7]
    assert audit(plane) == []
    history = plane.history(2)
    assert history is not None
    assert (history.since, history.numbers(1)[0]) == (3, 16)


def test_nothing_is_kept_of_identities_unless_they_are_asked_for() -> None:
    of = job([10, 10, 0], [(0, 2, 1.0), (1, 2, 0.25)])
    planes = [ReferencePlane(of, EVERY_2_S, identities=identities) for identities in (True, False)]
    for plane in planes:
        begin(plane, 3)
        plane.advance(9.0)
        plane.stop([2])
        plane.roll_back([0, 1], 8)
        plane.start(2, 2, 8)
        plane.advance(15.0)
    named, plain = (plane.observed() for plane in planes)
    assert (named.processed == plain.processed).all()
    assert named.checkpoints == plain.checkpoints
    assert planes[1].history(2) is None

"""Whatever is ordered, no state ever holds a record twice, out of order, or another than without failure."""

from __future__ import annotations

from hypothesis import given, settings

from tests.simulation.dataflow.orders import Case, cases, play
from tests.simulation.reference_plane.reference import ReferencePlane, audit, failure_free


def conserves(plane: ReferencePlane) -> None:
    assert not plane.ledger().missing().any()
    assert (plane.kept() >= 0).all()


@given(case=cases())
@settings(max_examples=40)
def test_states_are_those_of_a_run_without_failure(case: Case) -> None:
    plane = ReferencePlane(case.job, case.options, watch=conserves)
    processed = play(plane, case)[-1]
    assert audit(plane) == []
    undisturbed = failure_free(case.job, max(*processed, 0))
    for task, history in enumerate(undisturbed):
        seen = plane.history(task)
        if seen is not None:
            assert seen.since + len(seen.taken) == processed[task]
            assert seen.taken == history.taken[seen.since : processed[task]]
            assert seen.emitted == history.emitted[seen.since : processed[task]]

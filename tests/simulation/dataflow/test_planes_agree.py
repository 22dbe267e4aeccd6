"""Two implementations, one semantics: whatever is ordered, both planes observe the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import FlowOptions, Observed
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.run import run_recovery
from tests.simulation.dataflow.orders import Case, Order, cases, play
from tests.simulation.jobs import job
from tests.simulation.oracles.settings import settings_of
from tests.simulation.reference_plane.reference import ReferencePlane


def assert_same(seen: Observed, expected: Observed) -> None:
    for name in ("processed", "received", "trimmed", "buffering", "duplicates", "finished"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(expected, name), name)
    np.testing.assert_allclose(seen.latency_s, expected.latency_s, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(completed(seen), completed(expected), atol=1e-9)


def completed(seen: Observed) -> list[tuple[float, int]]:
    """The last complete checkpoint of each moment that brought one."""
    return list({round(at_s, 6): (at_s, batch) for at_s, batch in seen.checkpoints}.values())


def agree(case: Case) -> Observed:
    reference = ReferencePlane(case.job, case.options, identities=False)
    compiled = CompiledPlane(case.job, case.options)
    assert play(reference, case) == play(compiled, case)
    assert_same(compiled.observed(), reference.observed())
    return reference.observed()


@given(case=cases())
@settings(max_examples=60)
def test_whatever_is_ordered(case: Case) -> None:
    agree(case)


def test_an_incremental_recovery_of_many_queries() -> None:
    """A source, a parser, windows and aggregates, 1,000 records a second; most fail, one of them again, and return."""
    windows = [(1, task, 1.57) for task in range(2, 6)]
    aggregates = [(2 + (task + k) % 4, task, 0.2) for task in range(6, 14) for k in range(1 + task % 3)]
    of = job([1000.0] + [0.0] * 13, [(0, 1, 1.0), *windows, *aggregates], [0.2] * 6 + [0.3] * 8)
    options = FlowOptions(checkpoint_s=5.0)
    orders = [
        Order(12.3, "stop", (1, *range(3, 11)), 0, 1.0),
        Order(14.1, "roll back all", (), 0, 1.0),
        *(Order(15.2 + 0.71 * k, "start", (task,), 1 + k % 4, 1.0) for k, task in enumerate((1, 3, 6, 4, 7))),
        Order(19.9, "stop", (1, 6), 0, 1.0),
        *(Order(20.2 + 0.71 * k, "start", (task,), 1 + k % 4, 1.0) for k, task in enumerate((1, 5, 6, 8, 9, 10))),
        Order(30.7, "buffer", (), 0, 0.0),
    ]
    seen = agree(Case(of, options, (2.5,) * 5, tuple(task % 5 for task in range(14)), tuple(orders), 36.0))
    assert seen.duplicates.sum() > 1000
    assert (seen.processed[-1] > 355).all()
    assert seen.trimmed[-1] == 350


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
@settings(max_examples=6)
def test_a_recovery_in_each_mode(mode: str, data: st.DataObject) -> None:
    setting = data.draw(settings_of(MODES[mode]))
    expected = run_recovery(setting, lambda job, options: ReferencePlane(job, options, identities=False))
    trace = run_recovery(setting, CompiledPlane)
    assert_same(trace.observed, expected.observed)
    assert [event[1:] for event in trace.events] == [event[1:] for event in expected.events]
    np.testing.assert_allclose([event.at_s for event in trace.events], [event.at_s for event in expected.events])

"""Two implementations, one semantics: whatever is ordered, both planes observe the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.plane import DataPlane, FlowOptions
from ftplan.simulation.dataflow.reference import ReferencePlane
from tests.simulation.dataflow.orders import Case, Order, cases, play
from tests.simulation.jobs import job


def completed(plane: DataPlane) -> list[tuple[float, int]]:
    """The last complete checkpoint of each moment that brought one."""
    return list({round(at_s, 6): (at_s, batch) for at_s, batch in plane.observed().checkpoints}.values())


def agree(case: Case) -> ReferencePlane:
    reference = ReferencePlane(case.job, case.options, identities=False)
    compiled = CompiledPlane(case.job, case.options)
    assert play(reference, case) == play(compiled, case)
    expected, seen = reference.observed(), compiled.observed()
    for name in ("processed", "received", "trimmed", "buffering", "duplicates", "finished"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(expected, name), name)
    np.testing.assert_allclose(seen.latency_s, expected.latency_s, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(completed(compiled), completed(reference), atol=1e-9)
    return reference


@given(case=cases())
@settings(max_examples=60)
def test_whatever_is_ordered(case: Case) -> None:
    agree(case)


def test_an_incremental_recovery_of_many_queries() -> None:
    """A source, a parser, windows and aggregates, 1,000 records a second; most fail, one of them again, and return."""
    windows = [(1, task, 1.57) for task in range(2, 6)]
    aggregates = [(2 + (task + k) % 4, task, 0.2) for task in range(6, 14) for k in range(1 + task % 3)]
    of = job([1000.0] + [0.0] * 13, [(0, 1, 1.0), *windows, *aggregates], [0.2] * 6 + [0.3] * 8)
    options = FlowOptions(snapshot_core_s=np.full(14, 0.01), upload_s=np.full(14, 0.5), checkpoint_s=5.0)
    orders = [
        Order(12.3, "stop", (1, *range(3, 11)), 0, 1.0),
        Order(14.1, "roll back all", (), 0, 1.0),
        *(Order(15.2 + 0.71 * k, "start", (task,), 1 + k % 4, 1.0) for k, task in enumerate((1, 3, 6, 4, 7))),
        Order(19.9, "stop", (1, 6), 0, 1.0),
        *(Order(20.2 + 0.71 * k, "start", (task,), 1 + k % 4, 1.0) for k, task in enumerate((1, 5, 6, 8, 9, 10))),
        Order(30.7, "buffer", (), 0, 0.0),
    ]
    seen = agree(Case(of, options, (2.5,) * 5, tuple(task % 5 for task in range(14)), tuple(orders), 36.0)).observed()
    assert seen.duplicates.sum() > 1000
    assert (seen.processed[-1] > 355).all()
    assert seen.trimmed[-1] == 350

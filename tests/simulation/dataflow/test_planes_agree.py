"""Two implementations, one semantics: whatever is ordered, both planes observe the same."""

from __future__ import annotations

import numpy as np
from ftplan.simulation.dataflow.compiled import CompiledPlane
from hypothesis import given, settings

from ftplan.simulation.dataflow.plane import DataPlane
from ftplan.simulation.dataflow.reference import ReferencePlane
from tests.simulation.dataflow.orders import Case, cases, play


def completed(plane: DataPlane) -> list[tuple[float, int]]:
    """The last complete checkpoint of each moment that brought one."""
    return list({round(at_s, 6): (at_s, batch) for at_s, batch in plane.observed().checkpoints}.values())


@given(case=cases())
@settings(max_examples=60)
def test_both_planes_observe_the_same(case: Case) -> None:
    reference = ReferencePlane(case.job, case.options, identities=False)
    compiled = CompiledPlane(case.job, case.options)
    assert play(reference, case) == play(compiled, case)
    expected, seen = reference.observed(), compiled.observed()
    for name in ("processed", "received", "trimmed", "buffering", "duplicates", "finished"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(expected, name), name)
    np.testing.assert_allclose(seen.latency_s, expected.latency_s, atol=1e-6)
    np.testing.assert_allclose(completed(compiled), completed(reference), atol=1e-9)

"""The two planes of a recovery, held against each other."""

from __future__ import annotations

from functools import partial

import numpy as np

from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.setting import RecoverySetting
from tests.simulation.reference_plane.reference import ReferencePlane


def assert_same(made: RecoverySetting) -> None:
    one, other = run_recovery(made), run_recovery(made, partial(ReferencePlane, identities=False))
    assert one.events == other.events
    np.testing.assert_allclose(one.caught_up_s, other.caught_up_s)
    for name in ("processed", "received", "trimmed", "latency_s", "finished", "duplicates"):
        np.testing.assert_allclose(getattr(one.observed, name), getattr(other.observed, name), atol=1e-9, err_msg=name)

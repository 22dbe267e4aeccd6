"""Whatever fails and whenever: the compiled plane says what the plane with real messages says."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.setting import RecoverySetting
from tests.simulation.oracles.settings import settings_of
from tests.simulation.recovery.cases import failure, fork, setting, starts
from tests.simulation.reference_plane.reference import ReferencePlane


def assert_same(made: RecoverySetting) -> None:
    one, other = run_recovery(made), run_recovery(made, partial(ReferencePlane, identities=False))
    assert one.events == other.events
    np.testing.assert_allclose(one.caught_up_s, other.caught_up_s)
    for name in ("processed", "received", "trimmed", "latency_s", "finished", "duplicates"):
        np.testing.assert_allclose(getattr(one.observed, name), getattr(other.observed, name), atol=1e-9, err_msg=name)


@pytest.mark.parametrize("mode", MODES)
def test_on_two_queries_that_come_back_one_after_the_other(mode: str) -> None:
    plan = starts((40.0, 2, 4), (80.0, 3, 5))
    assert_same(setting(mode, fork(), [failure([2, 3])], (40.0, 80.0), starts=plan, until_s=120.0))


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
@settings(max_examples=6)
def test_on_random_settings(mode: str, data: st.DataObject) -> None:
    assert_same(data.draw(settings_of(MODES[mode], deterministic=data.draw(st.booleans()))))

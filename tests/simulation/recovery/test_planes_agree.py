"""Whatever fails and whenever: the compiled plane says what the plane with real messages says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.recovery.modes import MODES
from tests.simulation.oracles.settings import settings_of
from tests.simulation.recovery.cases import failure, fork, setting, starts
from tests.simulation.recovery.planes import assert_same


@pytest.mark.parametrize("mode", MODES)
def test_on_two_queries_that_come_back_one_after_the_other(mode: str) -> None:
    plan = starts((40.0, 2, 4), (80.0, 3, 5))
    assert_same(setting(mode, fork(), [failure([2, 3])], (40.0, 80.0), starts=plan, until_s=120.0))


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
@settings(max_examples=6)
def test_on_random_settings(mode: str, data: st.DataObject) -> None:
    assert_same(data.draw(settings_of(MODES[mode], deterministic=data.draw(st.booleans()))))

"""Parts of a budget; no test waits for a clock."""

from __future__ import annotations

import pytest

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget, of_command, part_ended, stopped


def test_a_part_ends_when_its_share_has_gone() -> None:
    assert Budget(100.0).part(0.25).time_limit_s == pytest.approx(25.0, rel=0.01)


def test_a_part_of_bounded_work_may_take_all_the_time() -> None:
    """So that a busy machine ends no part of it early, and the answer is the same."""
    part = Budget(100.0, iterations=3).part(0.25)
    assert part.time_limit_s == pytest.approx(100.0, rel=0.01)
    assert part.iterations == 3


def test_a_command_says_whether_the_clock_stopped_it_or_a_part_of_it() -> None:
    other = Warn("SPREAD", "tasks were spread")
    (part, kept) = of_command([part_ended(9.0), other, part_ended(3.0)], 60.0)
    assert kept == other
    assert part == part_ended(60.0)
    assert of_command([part_ended(9.0), stopped(3.0)], 60.0) == (stopped(60.0),)
    assert of_command([other], 60.0) == (other,)

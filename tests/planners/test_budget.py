"""Parts of a budget; no test waits for a clock."""

from __future__ import annotations

import pytest

from ftplan.planners.budget import Budget


def test_a_part_ends_when_its_share_has_gone() -> None:
    assert Budget(100.0).part(0.25).time_limit_s == pytest.approx(25.0, rel=0.01)


def test_a_part_of_bounded_work_may_take_all_the_time() -> None:
    """So that a busy machine ends no part of it early, and the answer is the same."""
    part = Budget(100.0, iterations=3).part(0.25)
    assert part.time_limit_s == pytest.approx(100.0, rel=0.01)
    assert part.iterations == 3

"""What is back over time, as plans keep it: curves change at every point, and the area above them is what is lost."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ftplan

FIGURE_2 = Path(__file__).resolve().parents[2] / "examples" / "figure-2"


@pytest.fixture(scope="module")
def plan() -> ftplan.Plan:
    problem = ftplan.load(**{role: FIGURE_2 / f"{role}.yaml" for role in ("topology", "cluster", "failure")})
    return ftplan.plan("recovery-schedule", problem, objective="priority-time", iterations=2)


def above(curve: list[Any], total: float, horizon_s: float) -> float:
    """Return the area between a curve and all that failed, up to the horizon."""
    points = [(0.0, 0.0), *((at, value) for at, value in curve if at < horizon_s), (horizon_s, 0.0)]
    return sum((total - value) * (until - at) for (at, value), (until, _) in pairwise(points))


def test_the_area_above_a_curve_is_what_is_lost(plan: ftplan.Plan) -> None:
    summary, horizon_s = plan.summary, plan.options["horizon_s"]
    total = summary["failed_priority"]
    own = [[point["at_s"], point["priority"]] for point in plan.plan["timeline"]]
    assert above(own, total, horizon_s) == pytest.approx(summary["after"]["priority_time"])
    for name in ("before", "step_by_step"):
        assert above(summary[name]["timeline"], total, horizon_s) == pytest.approx(summary[name]["priority_time"])


def test_the_bound_over_time_changes_at_each_point_and_leaves_no_more_than_the_bound(plan: ftplan.Plan) -> None:
    most = plan.summary["most_back"]
    assert all(before[0] < after[0] and before[1] != after[1] for before, after in pairwise(most))
    lost = above(most, plan.summary["failed_priority"], plan.options["horizon_s"])
    assert lost <= plan.objective.bound * (1 + 1e-9) + 1e-9

"""What is back over time, as plans keep it: curves change at every point, and the area above them is what is lost."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ftplan
from tests.places import ROOT

FIGURE_2 = ROOT / "examples" / "figure-2"


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


def test_queries_that_give_way_in_the_plan_alone_are_up_in_what_it_is_held_against(tmp_path: Path) -> None:
    """What matters most fails; what runs on the other node may give way until a third one comes."""
    operators = [{"id": "rare", "priority": 9}, {"id": "often", "priority": 1}]
    topology = {"operators": [{**o, "parallelism": 1, "cpu": 1, "state_bytes": 2**20} for o in operators], "edges": []}
    nodes = [{"id": "n1", "cpu": 1.25}, {"id": "n2", "cpu": 1.25}]
    placed = {"tasks": {"rare": ["n1"], "often": ["n2"]}}
    cluster = {"nodes": nodes, "network": {"bandwidth_mb_s": 1}, "placement": placed}
    failure = {"fail": ["node:n1"], "arrivals": [{"at_s": 120, "node": {"id": "n3", "cpu": 1.25}}]}
    files = {"topology": topology, "cluster": cluster, "failure": failure}
    for role, entries in files.items():
        text = json.dumps({"format": f"ftplan/{role}", "format_version": "1.0", **entries})
        (tmp_path / f"{role}.json").write_text(text)
    problem = ftplan.load(**{role: tmp_path / f"{role}.json" for role in files})
    plan = ftplan.plan("recovery-schedule", problem, objective="priority-time", iterations=2, pause_lower_priority=True)
    assert plan.summary["before"]["timeline"] == [[0.0, 1.0], [121.0, 10.0]]
    assert [(p["at_s"], p["priority"]) for p in plan.plan["timeline"]] == [(1.0, 9.0), (121.0, 10.0)]

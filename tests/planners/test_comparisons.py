"""A plan made without comparisons is the plan; only what it is held against is missing."""

from __future__ import annotations

from typing import Any

import pytest

import ftplan
from ftplan.planners.making import without_comparisons
from tests.places import ROOT

STORM = ROOT / "examples" / "storm-recovery"
#: What a summary says of other plans, by command.
HELD_AGAINST = {"recovery-schedule": ("before", "step_by_step", "random", "sampled"), "replicate-tasks": ("random",)}


@pytest.mark.parametrize(
    ("command", "options"),
    [("recovery-schedule", {"objective": "priority"}), ("replicate-tasks", {"budget": "20%", "iterations": 3})],
)
def test_only_comparisons_are_left_out(command: str, options: dict[str, Any]) -> None:
    problem = ftplan.load(**{role: STORM / f"{role}.yaml" for role in ("topology", "cluster", "failure")})  # type: ignore[arg-type]
    whole = ftplan.plan(command, problem, **options).to_dict()
    with without_comparisons():
        bare = ftplan.plan(command, problem, **options).to_dict()
    for name in HELD_AGAINST[command]:
        assert whole["summary"][name] is not None
        assert bare["summary"][name] is None
        whole["summary"][name] = None
    whole["warnings"] = [warning for warning in whole["warnings"] if warning in bare["warnings"]]
    assert bare == whole
    assert ftplan.plan(command, problem, **options).summary[HELD_AGAINST[command][0]] is not None

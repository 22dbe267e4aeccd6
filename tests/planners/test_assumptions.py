"""What a plan's objective rests on although no input says it: stated beside the verdict, and refused on demand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import Plan
from ftplan.planners.incumbents import Incumbents, ending_at, wanted_gap
from ftplan.planners.views import view
from ftplan.reports.proof import badge
from tests.planners.plan_cases import SMALL


def planned(question: str, *, stats: str | None = "stats", **options: Any) -> Plan:
    problem = ftplan.load(
        topology=SMALL / "topology.yaml",
        cluster=SMALL / "cluster.yaml",
        stats=None if stats is None else SMALL / stats,
    )
    return ftplan.plan(question, problem, iterations=5, **options)


def codes(plan: Plan) -> set[str]:
    return {item.code for item in plan.assumptions}


OVER_TIME = {"objective": "priority-time", "fail": ["zone:a"]}


def test_a_repair_over_time_rests_on_what_takes_time() -> None:
    assert codes(planned("recovery-schedule", **OVER_TIME)) == {
        "DEFAULT_ARRIVALS",
        "DETECTION_ASSUMED",
        "RESTORE_TIME_UNKNOWN",
    }
    assert codes(planned("recovery-schedule", **OVER_TIME, bandwidth=10.0)) == {"DEFAULT_ARRIVALS", "DETECTION_ASSUMED"}
    assert codes(planned("recovery-schedule", **OVER_TIME, bandwidth=10.0, arrivals=False)) == {"DETECTION_ASSUMED"}


def test_steps_rest_on_who_comes_alone() -> None:
    assert codes(planned("recovery-schedule", objective="priority", fail=["zone:a"])) == {"DEFAULT_ARRIVALS"}


def test_a_capacity_that_is_derived_is_assumed() -> None:
    plan = planned("allocate-checkpoints")
    assumed = {item.code: item.value for item in plan.assumptions}
    assert assumed["CAPACITY_ASSUMED"] == plan.options["capacity_per_core"]
    assert "CAPACITY_ASSUMED" not in codes(planned("allocate-checkpoints", capacity_per_core=100.0))


def test_fidelity_rests_on_rates() -> None:
    assert "RATES_ASSUMED" in codes(planned("replicate-tasks", stats=None, budget="50%"))
    assert "RATES_ASSUMED" not in codes(planned("replicate-tasks", stats="stats-tasks", budget="50%"))


def test_the_verdict_counts_them_everywhere(tmp_path: Path) -> None:
    plan = planned("recovery-schedule", objective="priority", fail=["zone:a"])
    assert plan.status == "optimal"
    assert badge(plan).text == "optimal for these inputs; 1 assumption"
    headline = {str(row[0]): str(row[1]) for row in view(plan.kind).answer(plan).tables[0].rows}
    assert headline["status"] == "optimal for these inputs; 1 assumption"
    assert headline["assumed"].endswith("[DEFAULT_ARRIVALS]")
    (tmp_path / "plan.json").write_text(plan.to_json())
    document = json.loads(plan.to_json())["assumptions"]
    assert [sorted(item) for item in document] == [["code", "text", "value"]]
    assert load_plan(tmp_path / "plan.json").value.assumptions == plan.assumptions


def test_strict_inputs_refuse_each() -> None:
    with pytest.raises(FtplanError, match=r"--strict-inputs: 1 assumption: .* \[DEFAULT_ARRIVALS\]"):
        planned("recovery-schedule", objective="priority", fail=["zone:a"], strict_inputs=True)
    plan = planned("recovery-schedule", objective="priority", fail=["zone:a"], arrivals=False, strict_inputs=True)
    assert plan.assumptions == ()
    assert "strict_inputs" not in plan.options


@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_a_search_ends_at_the_wanted_gap_and_claims_no_more(gap: float) -> None:
    """Few pairs are searched to the end; a gap that is small enough ends a large search, as ``feasible``."""
    with ending_at(gap):
        assert wanted_gap(10) == 0.0
        log: Incumbents[str] = Incumbents("min", "cost", gap=wanted_gap(10**6))
    log.offer("plan", 100.0, "greedy")
    for bound, (closed, status) in zip(
        (90.0, 99.5, 100.0), ((False, "feasible"), (gap > 0.0, "feasible"), (True, "optimal")), strict=True
    ):
        log.prove(bound, "relaxation")
        assert (log.closed, log.status) == (closed, status)

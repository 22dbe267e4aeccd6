"""Scenarios of a failure file count in every evaluation: each one's values, and their mean by probability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ftplan
from ftplan.api import Evaluation
from ftplan.cli.main import run
from ftplan.errors import FtplanError
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.schemas import schema
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
FILES = {"topology": SMALL / "topology.yaml", "cluster": SMALL / "cluster.yaml"}
STATS = {**FILES, "stats": SMALL / "stats"}
#: Kinds that are scored with statistics.
WITH_STATS = ("allocate-checkpoints", "peer-ring", "rebalance", "scale-out")

#: Weights that do not sum to 1, one of them 0, and one in which nothing more fails than in all.
SCENARIOS: list[dict[str, Any]] = [
    {"id": "racks", "probability": 0.02, "fail": ["zone:b", "zone:c"]},
    {"id": "calm", "probability": 0.06, "fail": []},
    {"id": "never", "probability": 0.0, "fail": ["zone:a", "zone:b"]},
]


def failure(*fail: str, scenarios: Any = SCENARIOS) -> dict[str, Any]:
    return {"format": "ftplan/failure", "format_version": "1.0", "fail": list(fail), "scenarios": scenarios}


def planned(kind: str) -> ftplan.Plan:
    problem = ftplan.load(**(STATS if kind in WITH_STATS else FILES), spread=True)
    if kind == "rebalance":
        return ftplan.plan(kind, problem, iterations=5)
    if kind == "allocate-checkpoints":
        return ftplan.plan(kind, problem, algorithm="even")
    if kind == "peer-ring":
        return ftplan.plan(kind, problem, iterations=5, replication=2)
    if kind == "scale-out":
        return ftplan.plan(kind, problem, iterations=5, task_capacity=0.2, forecast="none")
    if kind == "recovery-schedule":
        return ftplan.plan(kind, problem, algorithm="best-density", fail=["node:n1"])
    if kind == "drain-schedule":
        return ftplan.plan(kind, problem, algorithm="greedy", max=1)
    return ftplan.plan(kind, problem, algorithm="structure-aware", budget=4)


def evaluated(plan: ftplan.Plan, given: Any, **more: Any) -> Evaluation:
    files = STATS if plan.kind in WITH_STATS else FILES
    return ftplan.evaluate(plan, ftplan.load(**files, failure=given, spread=True), **more)


def besides(kind: str) -> str:
    """Return a selector of what a kind may have fail beside the scenarios."""
    return "node:n1" if kind == "peer-ring" else "task:clicks/0"


def values(metrics: Any) -> dict[str, float | None]:
    return {m.name: m.value for m in metrics}


KINDS = (
    *(
        "allocate-checkpoints",
        "drain-schedule",
        "peer-ring",
        "rebalance",
        "recovery-schedule",
        "scale-out",
        "replicate-tasks",
    ),
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_of_what_each_scenario_is_worth_alone(kind: str) -> None:
    plan = planned(kind)
    found = evaluated(plan, failure(besides(kind)))
    assert [(s.id, s.probability) for s in found.scenarios] == [("calm", 0.06), ("never", 0.0), ("racks", 0.02)]
    assert besides(kind) in found.failures
    assert "zone:b" not in found.failures
    alone = {
        s["id"]: values(evaluated(plan, failure(besides(kind), *s["fail"], scenarios=[])).metrics) for s in SCENARIOS
    }
    differing = 0
    for scenario in found.scenarios:
        assert values(scenario.metrics) == alone[scenario.id]
    for metric in found.metrics:
        calm, rack = alone["calm"][metric.name], alone["racks"][metric.name]
        if calm is None or rack is None:
            assert metric.value is None
        else:
            assert metric.value == pytest.approx(0.75 * calm + 0.25 * rack, rel=1e-12, abs=1e-12)
            differing += calm != rack
    assert differing, "the scenarios differ in nothing: the case shows nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_fails_in_a_scenario(kind: str) -> None:
    plan = planned(kind)
    if kind == "recovery-schedule":
        plan = ftplan.Plan(kind, plan.plan)  # made by hand: it names no failure of its own
    found = evaluated(plan, failure())
    calm = next(s for s in found.scenarios if s.id == "calm")
    assert calm.failures == ()
    best = {
        "allocate-checkpoints": ("recoverable-share", 1.0),
        "drain-schedule": ("nodes-at-once", 1.0),
        "peer-ring": ("lost-groups", 0.0),
        "rebalance": ("blocked-moves", 0.0),
        "recovery-schedule": ("priority-back-share", 1.0),
        "scale-out": ("tasks-lost", 0.0),
        "replicate-tasks": ("output-fidelity", 1.0),
    }
    name, value = best[kind]
    assert values(calm.metrics)[name] == value


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_what_the_schema_says(kind: str) -> None:
    for given in (failure(besides(kind)), failure("node:n1", scenarios=[])):
        document = json.loads(evaluated(planned(kind), given).to_json())
        jsonschema.validate(document, schema("evaluation"))
        assert load_evaluation(document).value == document
    worst = ftplan.evaluate(planned("replicate-tasks"), ftplan.load(**FILES, spread=True))
    assert worst.failures == ("worst-case",)
    jsonschema.validate(json.loads(worst.to_json()), schema("evaluation"))
    load_evaluation(json.loads(worst.to_json()))
    with pytest.raises(FtplanError, match="failures"):
        load_evaluation({**json.loads(worst.to_json()), "failures": ["worst"]})


def test_limits_hold_for_the_mean(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan = planned("replicate-tasks")
    mean = evaluated(plan, failure())["output-fidelity"]
    assert mean is not None
    assert evaluated(plan, failure(), fail_under=[f"output-fidelity={mean - 1e-9}"]).unmet == ()
    assert len(evaluated(plan, failure(), fail_under=[f"output-fidelity={mean + 1e-3}"]).unmet) == 1
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "failure.json").write_text(json.dumps(failure()))
    args = [
        *("evaluate", str(tmp_path / "plan.json"), "-f", str(tmp_path / "failure.json"), "--format", "table", "-q"),
        *("-t", str(FILES["topology"]), "-c", str(FILES["cluster"]), "--spread"),
    ]
    assert run(args) == 0
    shown = capsys.readouterr().out
    assert "mean over 3 scenarios" in shown
    assert all(f"{s['id']} " in shown for s in SCENARIOS)


def test_scenarios_without_any_weight_are_refused() -> None:
    given = failure(scenarios=[{"id": "a", "probability": 0, "fail": ["zone:b"]}])
    with pytest.raises(FtplanError, match="probability 0"):
        evaluated(planned("allocate-checkpoints"), given)


def test_what_fails_besides_fails_in_each_scenario() -> None:
    plan = planned("allocate-checkpoints")
    one = evaluated(plan, failure(), fail=["node:n2"])
    assert values(one.metrics) == values(evaluated(plan, failure("node:n2")).metrics)

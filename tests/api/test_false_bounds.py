"""A bound that a plan beats is a fault of the planner, never an optimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ftplan.cli.main import run
from ftplan.model.plan import Objective, sound_bound
from ftplan.planners import registry
from tests.places import ROOT

SMALL, FIGURE = ROOT / "tests" / "data" / "small", ROOT / "examples" / "figure-2"

#: A kind's command, its options, and how far a planner's bound is moved to the wrong side of the value.
CASES = {
    "allocate-checkpoints": (
        ["-t", SMALL / "topology.yaml", "-c", SMALL / "cluster.yaml", "-s", SMALL / "stats"],
        "exact",
        1.0,
    ),
    "recovery-schedule": (
        [
            *("-t", FIGURE / "topology.yaml", "-c", FIGURE / "cluster.yaml", "-f", FIGURE / "failure.yaml"),
            *("--objective", "priority"),
        ],
        "best-density",
        -1e-3,
    ),
    "replicate-tasks": (["-t", FIGURE / "topology.yaml", "--budget", "3"], "structure-aware", -1e-3),
}


def wrong(planner: Callable[..., Any], by: float) -> Callable[..., Any]:
    """Return the planner with a bound that its own plan beats, as a part of the value."""

    def planned(problem: Any, options: Any) -> Any:
        found = planner(problem, options)
        value = found.answer.value if hasattr(found.answer, "value") else None
        if value is None and hasattr(found.answer, "steps"):
            value = sum(step.objective.value for step in found.answer.steps)
        if value is None:
            value = problem.value(found.answer.replicated)
        return replace(found, status="optimal", bound=value + by * max(abs(value), 1.0))

    return planned


@pytest.mark.parametrize("command", CASES)
@pytest.mark.parametrize("false", [True, False])
def test_a_planted_bound_is_a_fault(
    command: str, false: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs, algorithm, by = CASES[command]
    planner = wrong(registry.load(registry.row(command, algorithm)), by if false else -by)
    monkeypatch.setattr(registry, "load", lambda row: planner)
    args = [command, *map(str, inputs), "--algorithm", algorithm, "--format", "json", "-q"]
    code = run(args)
    said = capsys.readouterr()
    assert code == (70 if false else 0), said.err
    if false:
        assert said.out == ""
        assert "reported as proven" in said.err


def test_only_rounding_is_snapped() -> None:
    assert sound_bound("max", 3.0, 4.0) == 4.0
    assert sound_bound("min", 3.0, 2.0) == 2.0
    assert sound_bound("max", 3.0, 3.0 - 1e-12) == 3.0
    assert sound_bound("min", 3.0, 3.0 + 1e-12) == 3.0
    assert sound_bound("min", 1e-13, 2e-13, size=1.0) == 1e-13
    for sense, bound in (("max", 2.999), ("min", 3.001), ("max", math.nan)):
        with pytest.raises(RuntimeError):
            sound_bound(sense, 3.0, bound)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError):
            Objective.of("x", sense, 3.0, bound)  # type: ignore[arg-type]

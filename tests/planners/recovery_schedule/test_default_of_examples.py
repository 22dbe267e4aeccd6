"""The schedule that an operator gets without options is the best, or nearly, of all that the command can make.

On every example from which tasks can be lost; work is bounded, so that no clock decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ftplan
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.algorithms.repair import whole_repair
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.options import OBJECTIVES, RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import prepare
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.recovery_cases import EXAMPLES, example

#: How much worse the default may be than the best that is found.
SHARE = 1.01
#: What makes other schedules: exact and dynamic programming prove what these find, and begin with the same ones.
OTHERS = [("operator-centric", OBJECTIVES[0]), ("auto", "fidelity-time")]
OTHERS += [(name, objective) for name in ("best-density", "local-search") for objective in OBJECTIVES]
STORM = EXAMPLES / "storm-recovery"


def asked(problem: ftplan.Problem, **options: Any) -> RecoveryProblem:
    return prepare(problem, RecoveryScheduleOptions.of("recovery-schedule", options)).problem


def imported(engine: str, *files: str, fail: str, **options: Any) -> RecoveryProblem:
    """Return the failure of a node of a job that an engine names itself."""
    found = ftplan.import_topology([EXAMPLES / engine / name for name in files], engine, **options)
    return asked(ftplan.load(topology=found.topology, cluster=found.cluster), fail=[fail], bandwidth=100.0)


def without_failure_file(folder: str, topology: str, fail: str, **options: Any) -> RecoveryProblem:
    home = EXAMPLES / folder
    problem = ftplan.load(topology=home / topology, cluster=home / "cluster.yaml", spread=folder == "risingwave")
    return asked(problem, fail=[fail], **options)


CASES: dict[str, Callable[[], RecoveryProblem]] = {
    "figure-2": lambda: asked(example("figure-2")),
    "fifteen-queries": lambda: asked(example("fifteen-queries")),
    "storm-recovery": lambda: asked(example("storm-recovery")),
    "storm-recovery, with costs": lambda: asked(example("storm-recovery"), costs=STORM / "recovery.yaml"),
    "storm-recovery, another rack": lambda: without_failure_file("storm-recovery", "topology.yaml", "zone:rack-a"),
    "risingwave": lambda: without_failure_file("risingwave", "views.yaml", "node:compute-0", bandwidth=100.0),
    "kafka-streams": lambda: imported(
        "kafka-streams", "topology.txt", "log-dirs.txt", "members.txt", fail="zone:rack-a", cores=4.0,
        zone_map=EXAMPLES / "kafka-streams" / "zones.csv",
    ),
    "flink": lambda: imported("flink", "collected", fail="node:127.0.0.11"),
}  # fmt: skip


def lost(problem: RecoveryProblem, algorithm: str | None = None, objective: str | None = None, work: int = 1) -> float:
    """Return priority x seconds down by an algorithm and an objective, those of the command where none is named."""
    options = RecoveryOptions(
        objective=objective or RecoveryScheduleOptions().objective,  # type: ignore[arg-type]
        time_limit_s=3600.0,
        iterations=work,
    )
    found = registry.load(registry.row("recovery-schedule", algorithm))(problem, options).answer
    return float("inf") if found is None else priority_time_of(found, problem)


@pytest.fixture(autouse=True)
def _no_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the bounds, which take most of the work and change no schedule."""
    monkeypatch.setattr(whole_repair, "_bound", lambda repair, share: True)


@pytest.mark.parametrize("name", CASES)
def test_no_option_saves_more_than_a_hundredth(name: str) -> None:
    problem = CASES[name]()
    assert problem.failed.any()
    default = lost(problem, work=2)
    for algorithm, objective in OTHERS:
        assert default <= SHARE * lost(problem, algorithm, objective), (algorithm, objective)
    # never worse than each step by itself: it is what the search begins with
    assert default <= lost(problem, objective="priority", work=2) * (1.0 + 1e-9)

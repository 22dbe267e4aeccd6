"""False bounds and false plans, planted on purpose: none of them passes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftplan
from ftplan.api.verification import verify
from ftplan.errors import FtplanError
from ftplan.planners.recovery_schedule.algorithms.repair import objectives
from ftplan.planners.recovery_schedule.algorithms.repair.repair_bound import RepairBound
from ftplan.planners.recovery_schedule.make import MOST_STAIRS, _stairs
from tests.planners.recovery_schedule.repair_documents import loaded, random_case

#: A repair with restores and replay; in the other running queries may give way besides.
PLAIN, GIVING_WAY = 21, 19
#: What verify says it does not compute again.
BY_THE_PLANNER = ("bound",)


def planned(seed: int, objective: str, *, pause: bool = False, algorithm: str = "auto") -> ftplan.Plan:
    return ftplan.plan(
        "recovery-schedule",
        loaded(random_case(seed, deterministic=True)),
        objective=objective,
        algorithm=algorithm,
        pause_lower_priority=pause,
        iterations=3,
        samples=0,
    )


@pytest.mark.usefixtures("few_random_orders")
@pytest.mark.parametrize(
    ("name", "objective", "pause"),
    [
        ("repair_bound", "priority-time", False),
        ("repair_bound", "priority-time", True),
        ("loss_with_pauses", "priority-time", True),
        ("fidelity_repair_bound", "fidelity-time", False),
    ],
)
def test_a_bound_that_a_plan_beats_is_found_out(
    name: str, objective: str, pause: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = getattr(objectives, name)

    def false(*args: Any, **more: Any) -> Any:
        bound = true(*args, **more)
        if bound is None or isinstance(bound, float):
            return 1e6
        return replace(bound, value=1e6 if objective == "priority-time" else 0.0)

    monkeypatch.setattr(objectives, name, false)
    with pytest.raises(RuntimeError, match="was reported as proven"):
        planned(GIVING_WAY if pause else PLAIN, objective, pause=pause)


@pytest.mark.usefixtures("few_random_orders")
def test_a_solver_that_proves_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = objectives.solve_intervals
    none = np.zeros(1)
    monkeypatch.setattr(objectives, "repair_bound", lambda *_, **__: RepairBound(0.0, none, none, none))
    planned(PLAIN, "priority-time", algorithm="exact")

    def false(*args: Any) -> Any:
        placement, _, _ = solve(*args)
        return placement, 1e6, True

    monkeypatch.setattr(objectives, "solve_intervals", false)
    with pytest.raises(RuntimeError, match="was reported as proven"):
        planned(PLAIN, "priority-time", algorithm="exact")


@pytest.mark.usefixtures("few_random_orders")
@pytest.mark.parametrize(("seed", "objective"), [(PLAIN, "priority-time"), (GIVING_WAY, "fidelity-time")])
def test_no_number_of_a_schedule_can_be_another(seed: int, objective: str) -> None:
    problem, document = loaded(random_case(seed, deterministic=True)), json.loads(planned(seed, objective).to_json())
    assert not verify(document, problem).violations
    numbers = [path for path, _ in _numbers(document["plan"]) if path[-1] not in BY_THE_PLANNER]
    assert len(numbers) > 20
    for path in [*(("plan", *path) for path in numbers), ("objective", "value"), ("options", "horizon_s")]:
        false = copy.deepcopy(document)
        at = false
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] += max(1, abs(at[path[-1]]) // 1000)  # more than rounding, also of the gap of a value of 0
        try:
            found = verify(false, problem).violations
        except FtplanError:
            continue
        assert found, path


@given(st.lists(st.integers(0, 20), max_size=900))
def test_few_stairs_are_nowhere_below_many(priorities: list[int]) -> None:
    most = [(float(k), float(priority)) for k, priority in enumerate(priorities)]
    stairs = _stairs(most) or []
    assert len(stairs) <= MOST_STAIRS
    assert bool(stairs) == bool(most)
    for at_s, priority in most:
        here = max((row for row in stairs if row[0] <= at_s), key=lambda row: row[0])
        assert here[1] == priority if len(most) <= MOST_STAIRS else here[1] >= priority


def _numbers(part: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], float]]:
    """Yield the numbers of a document with where they are."""
    if isinstance(part, dict | list):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from _numbers(value, (*path, key))
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield path, part

"""Plans whose numbers are spelled otherwise mean the same; options that no flag would take are refused."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import diff, evaluate, verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.planners.views import view
from tests.planners.plan_cases import CASES

Case = Callable[[Path], tuple[ftplan.Plan, ftplan.Problem]]
#: What no option takes, or only some do.
WRONG: tuple[Any, ...] = ("", "x", [], {}, -1, True, [1], 0.5, {"a": 1}, [None], "1", 10**30)


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    return float(value) if type(value) is int else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_whole_numbers_may_have_a_point(case: Case, tmp_path: Path) -> None:
    plan, problem = case(tmp_path)
    document = json.loads(plan.to_json())
    spelled = load_plan({**document, "plan": _as_floats(document["plan"])}).value
    assert verify(spelled, problem).valid
    assert view(spelled.kind).answer(spelled).json
    if plan.plan is not None:
        assert evaluate(spelled, problem).metrics == evaluate(plan, problem).metrics
        assert not diff(spelled, plan).changed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_recorded_options_are_read_as_flags_are(case: Case, tmp_path: Path) -> None:
    """Each either means something, or is refused in a sentence: nothing else is raised."""
    plan, problem = case(tmp_path)
    document = json.loads(plan.to_json())
    for name in document["options"]:
        for value in WRONG:
            with contextlib.suppress(FtplanError):
                bent = load_plan({**document, "options": {**document["options"], name: value}}).value
                view(bent.kind).answer(bent)
                verify(bent, problem)


def test_a_request_is_held_to_its_option() -> None:
    document = {"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": []}}
    with pytest.raises(FtplanError, match=r"options\.capacity_per_core_requested: '' is not"):
        load_plan({**document, "options": {"capacity_per_core_requested": ""}})
    assert load_plan({**document, "options": {"overload": "90%"}}).value.options == {"overload": 0.9}

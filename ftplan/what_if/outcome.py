"""One case carried out: its row as text, which is the same wherever it ran, and its plan where it is wanted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from ftplan.compiled import called_often
from ftplan.model.plan import canonical_number

if TYPE_CHECKING:
    from ftplan.what_if.sweep import Sweep


#: Cases of one process from which compiling kernels pays where none of them is in the cache yet.
OFTEN = 200


class Outcome(NamedTuple):
    """A case that was carried out: its number, its row as one line of JSON, and its plan as text.

    ``stopped`` tells that the clock ended the search, so that another run may differ.
    """

    number: int
    row: str
    stopped: bool = False
    plan: str | None = None


def outcome_of(sweep: Sweep, number: int, with_plan: bool = False, *, often: bool = False) -> Outcome:
    """Carry out one case; an error of the case is a row, and it has no plan.

    *often* tells that this process carries out so many cases that compiling kernels pays.
    """
    with called_often() if often else nullcontext():
        row, answer = sweep.row_and_answer(number, whole=with_plan)
    stopped = answer is not None and any(warning.code == "TIME_LIMIT" for warning in answer.warnings)
    return Outcome(number, line_of(row), stopped, answer.to_json() if with_plan and answer is not None else None)


def line_of(row: Mapping[str, Any]) -> str:
    """Return a row as one line of JSON: numbers rounded as plans round them, None where a number is not finite."""
    return json.dumps(plain(row), ensure_ascii=False, allow_nan=False)


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as plain data, with its numbers rounded."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return canonical_number(value) if math.isfinite(value) else None
    return value

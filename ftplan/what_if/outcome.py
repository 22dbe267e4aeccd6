"""One case done: its row as text, which is the same wherever it ran, and its plan where it is wanted.

:class:`PlanFiles` keeps the plan of each case in a file of its own.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ftplan.compiled import called_often
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.io.output import refuse_existing, write_text
from ftplan.model.plan import canonical_number
from ftplan.what_if.annotations import annotations_of

if TYPE_CHECKING:
    from ftplan.what_if.cases import WhatIfCases

#: Cases of one process from which compiling kernels pays where none of them is in the cache yet.
COMPILING_CASES = 200


class PlanFiles:
    """A folder with a file for each case that was answered: ``0012-ID.json``, by number and id of the case."""

    def __init__(self, folder: str | os.PathLike[str], cases: WhatIfCases, *, force: bool = False) -> None:
        """Make the folder if there is none.

        Raises FtplanError if it cannot be written to, or holds anything and *force* is false.
        """
        self.folder, self.cases = Path(folder), cases
        name = display_name(folder)
        if self.folder.is_dir():
            if not force and any(self.folder.iterdir()):
                raise FtplanError(f"{name}: holds files already; give --force to overwrite those of the same cases")
            return
        refuse_existing(folder)
        self.folder.mkdir()

    def path(self, number: int) -> Path:
        """Return the file of a case."""
        digits = max(4, len(str(len(self.cases) - 1)))
        shown = re.sub(r"[^\w.=+-]+", "-", self.cases.case(number).id)[:80].strip("-.")
        return self.folder / f"{number:0{digits}d}-{shown}.json"

    def written(self, number: int, row: Mapping[str, Any]) -> bool:
        """Return whether all that a row which is done has to leave is there: an error leaves no plan."""
        return row.get("status") == "error" or self.path(number).is_file()

    def write(self, outcomes: Iterable[CaseOutcome]) -> None:
        """Write the plans of cases, each whole or not at all.

        Raises OutputError if the disk fails.
        """
        for outcome in outcomes:
            if outcome.plan is not None:
                write_text(self.path(outcome.number), outcome.plan, force=True)


class CaseOutcome(NamedTuple):
    """A case that was carried out: its number, its row as one line of JSON, and its plan as text.

    ``annotations`` are those of its answer (:mod:`ftplan.what_if.annotations`), as one line of JSON.
    """

    number: int
    row: str
    annotations: str = "{}"
    plan: str | None = None


def outcome_of(cases: WhatIfCases, number: int, with_plan: bool = False, *, often: bool = False) -> CaseOutcome:
    """Carry out one case; an error of the case is a row, and it has no plan.

    *often* tells that this process carries out so many cases that compiling kernels pays.
    """
    with called_often() if often else nullcontext():
        row, answer = cases.row_and_answer(number, whole=with_plan)
    annotations = json.dumps(annotations_of(answer), ensure_ascii=False)
    return CaseOutcome(
        number, line_of(row), annotations, answer.to_json() if with_plan and answer is not None else None
    )


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

"""What the scenes of several simulations share: a plan that was given, and how finely answers tell of time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ftplan.errors import FtplanError
from ftplan.io.documents import sha256_of_bytes
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import InputFile, Plan
from ftplan.planners.plan_inputs import a_plan

#: Cells of time that an answer tells of at most where nobody asks for more, and how long they may be, in seconds.
CELLS, ROUND_S = 120, (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
#: Cells at most where somebody asks.
MOST_CELLS = 100_000


class GivenPlan(NamedTuple):
    """A plan that was given, what messages call it, and its fingerprint; None for none."""

    plan: Plan | None
    name: str
    file: InputFile | None

    @classmethod
    def of(cls, given: Any, role: str, kind: str, command: str) -> GivenPlan:
        """Read a plan of a kind that was given as one, as a path or as a document.

        Raises FtplanError if it cannot be read, is of another kind, or holds no answer.
        """
        if given is None:
            return cls(None, role, None)
        if isinstance(given, Plan):
            plan, file = given, InputFile(role, None, sha256_of_bytes(given.to_json().encode()))
        else:
            loaded = load_plan(given)
            plan, file = loaded.value, replace(loaded.input, role=role)
        name = file.path or role
        if plan.kind != kind:
            raise FtplanError(f"{name}: is a plan of kind {plan.kind}: {command} takes a {kind}")
        if plan.plan is None:
            raise FtplanError(f"{name}: holds no answer, its status is {plan.status} ({plan.reason})")
        return cls(a_plan(plan), name, file)

    @property
    def path(self) -> str | None:
        """Where it was read."""
        return None if self.file is None else self.file.path


def resolution(until_s: float, every_s: float | None) -> float:
    """Return *every_s*, or where nobody asks a round number of seconds of which few enough cells make the time.

    Raises FtplanError if it is longer than the simulated time, or makes too many cells.
    """
    if every_s is not None:
        if until_s > MOST_CELLS * every_s:
            text = f"{every_s:g} s makes {until_s / every_s:,.0f} cells of time; at most {MOST_CELLS:,} are told"
            raise FtplanError(f"--every: {text}")
        if every_s > until_s:
            raise FtplanError(f"--every: {every_s:g} s is more than the {until_s:g} s that are simulated")
        return every_s
    return next((seconds for seconds in ROUND_S if until_s <= CELLS * seconds), until_s / CELLS)

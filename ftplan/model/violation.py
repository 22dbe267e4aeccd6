"""What a plan or an answer breaks: a rule, with a sentence, or with by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ftplan.model.tolerances import NOISE, ROUNDING


class Breach(NamedTuple):
    """A rule that an answer, or a part of it, breaks.

    ``limit`` is what the rule asks for, ``current`` what the answer has, and ``needed`` the value of the limit with
    which it would keep the rule (None where no value would). ``where`` is a selector: of a key group, task, query, zone
    or node.
    """

    rule: str
    limit: Any
    current: Any
    needed: Any
    where: str | None
    message: str


def over(value: float, limit: float) -> bool:
    """Return whether a value exceeds a limit by more than rounding."""
    return value > limit + ROUNDING * max(abs(limit), abs(value)) + NOISE


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: a code of the closed list, a sentence, and what it concerns as a selector."""

    code: str
    message: str
    where: str | None = None

"""Rules that an answer breaks, with by how much."""

from __future__ import annotations

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

"""A rule that a plan breaks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: a code of the closed list, a sentence, and what it concerns as a selector."""

    code: str
    message: str
    where: str | None = None

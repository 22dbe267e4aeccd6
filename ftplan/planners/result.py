"""The one result of every planner, exact or heuristic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ftplan.model.plan import Infeasible, Status, Warn

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Result(Generic[Answer]):
    """What a planner found.

    ``answer`` is None only where the status is ``infeasible`` or ``no-plan-in-time``. ``bound`` is proven for the
    rules in ``rules``; None where none was asked for. The value is recomputed from the plan by ``metrics``.
    """

    status: Status
    answer: Answer | None
    rules: tuple[str, ...]
    bound: float | None = None
    reason: str | None = None
    infeasible: Infeasible | None = None
    warnings: tuple[Warn, ...] = ()

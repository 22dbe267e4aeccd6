"""Drain schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.api.drain.options import DrainScheduleOptions
from ftplan.api.kinds import PlanKind
from ftplan.model.kinds import DRAIN_SCHEDULE

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _restarts(plan: Plan) -> bool:
    return any(item["nodes"] for item in (plan.plan or {})["rounds"])


KIND = PlanKind(
    row=DRAIN_SCHEDULE,
    options=DrainScheduleOptions,
    folder="ftplan.api.drain",
    changes=_restarts,
    summary_of_question=("random",),
)

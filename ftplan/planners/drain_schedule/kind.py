"""Drain schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import DRAIN_SCHEDULE
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.kind import PlanKind

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _restarts(plan: Plan) -> bool:
    return any(item["nodes"] for item in (plan.plan or {})["rounds"])


KIND = PlanKind(
    row=DRAIN_SCHEDULE,
    options=DrainScheduleOptions,
    folder="ftplan.planners.drain_schedule",
    changes=_restarts,
    summary_of_question=("random",),
)

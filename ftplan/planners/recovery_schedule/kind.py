"""Recovery schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.planners.kind import PlanKind
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _recovers(plan: Plan) -> bool:
    return any(step["recover"] for step in (plan.plan or {})["steps"])


KIND = PlanKind(
    row=RECOVERY_SCHEDULE,
    options=RecoveryScheduleOptions,
    folder="ftplan.planners.recovery_schedule",
    changes=_recovers,
    summary_of_question=("before", "random"),
)

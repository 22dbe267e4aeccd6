"""Recovery schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.api.kinds import PlanKind
from ftplan.api.recovery.options import RecoveryScheduleOptions
from ftplan.model.kinds import RECOVERY_SCHEDULE

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _recovers(plan: Plan) -> bool:
    return any(step["recover"] for step in (plan.plan or {})["steps"])


KIND = PlanKind(
    row=RECOVERY_SCHEDULE,
    options=RecoveryScheduleOptions,
    folder="ftplan.api.recovery",
    changes=_recovers,
    summary_of_question=("before", "random"),
)

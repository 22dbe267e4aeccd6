"""Scale-outs as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import SCALE_OUT
from ftplan.planners.kind import PlanKind
from ftplan.planners.scale_out.options import ScaleOutOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    return any(
        item["parallelism_to"] != item["parallelism_from"] or item.get("steps")
        for item in (plan.plan or {})["operators"]
    )


KIND = PlanKind(
    row=SCALE_OUT,
    options=ScaleOutOptions,
    folder="ftplan.planners.scale_out",
    changes=_changes,
    summary_of_question=("alarming", "churn", "max_parallelism", "baselines", "least_extra_cpu"),
)

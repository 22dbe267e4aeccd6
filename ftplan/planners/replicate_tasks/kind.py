"""Task replications as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import REPLICATE_TASKS
from ftplan.planners.kind import PlanKind
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _starts_or_stops(plan: Plan) -> bool:
    body = plan.plan or {}
    if body["activate"] is None:  # nobody knows what runs now
        return bool(body["replicas"])
    return bool(body["activate"] or body["deactivate"])


KIND = PlanKind(
    row=REPLICATE_TASKS,
    options=TaskReplicationOptions,
    folder="ftplan.planners.replicate_tasks",
    changes=_starts_or_stops,
)

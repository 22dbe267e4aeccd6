"""Rebalances as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import REBALANCE
from ftplan.planners.kind import PlanKind
from ftplan.planners.rebalance.options import RebalanceOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    body = plan.plan or {}
    return bool(body["moves"] or body.get("new_copies"))


KIND = PlanKind(
    row=REBALANCE,
    options=RebalanceOptions,
    folder="ftplan.planners.rebalance",
    changes=_changes,
    summary_of_question=("suggestion",),
)

"""Rebalances as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.api.kinds import PlanKind
from ftplan.api.rebalance.options import RebalanceOptions
from ftplan.model.kinds import REBALANCE

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    body = plan.plan or {}
    return bool(body["moves"] or body.get("new_copies"))


KIND = PlanKind(
    row=REBALANCE,
    options=RebalanceOptions,
    folder="ftplan.api.rebalance",
    changes=_changes,
    summary_of_question=("suggestion",),
)

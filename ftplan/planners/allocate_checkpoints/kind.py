"""Checkpoint allocations as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import ALLOCATE_CHECKPOINTS
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.kind import PlanKind

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _moves(plan: Plan) -> bool:
    moves = (plan.plan or {})["moves"]
    return moves is None or bool(moves)


KIND = PlanKind(
    row=ALLOCATE_CHECKPOINTS,
    options=CheckpointAllocationOptions,
    folder="ftplan.planners.allocate_checkpoints",
    changes=_moves,
)

"""``ftplan allocate-checkpoints``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS


@planning.command(
    ALLOCATE_CHECKPOINTS,
    default="correlated, safe at any size",
    changes="moves checkpoints",
    picture="the copies on each node",
)
def command(**given: Any) -> int:
    """Plan on which node the checkpoint of each key group lies.

    Checkpoints go where load runs against their own: when a node is overloaded, its key groups can move to their
    checkpoints without a transfer of state. Needs a topology, a cluster with a placement, and statistics.

    Any upkeep option keeps the checkpoints in place and moves those that improve the plan most: until it is within
    --threshold (0 if not given) of a fresh plan, or --max-moves or --max-bytes is reached. What breaks a rule is
    mended first. Without these options the plan is a fresh one.
    """
    return planning.answered(ALLOCATE_CHECKPOINTS, planning.planned(ALLOCATE_CHECKPOINTS, given), given)

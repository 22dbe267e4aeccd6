"""``ftplan recovery-schedule``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import RECOVERY_SCHEDULE


@planning.command(
    RECOVERY_SCHEDULE,
    default="auto, the best of what fits in the time limit",
    changes="recovers any task",
    algorithm_after="coordinator_cpu",
    picture="what is back over time",
)
def command(**given: Any) -> int:
    """Plan which failed tasks come back first, where and when.

    After a failure, room is scarce and nodes trickle in. Tasks come back in an order that makes the most valuable
    queries whole as early as possible; a query is an output task and all tasks upstream of it. Needs a topology, what
    failed (--fail, --failure), and a cluster with a placement or --capacity.
    """
    return planning.answered(RECOVERY_SCHEDULE, planning.planned(RECOVERY_SCHEDULE, given), given)

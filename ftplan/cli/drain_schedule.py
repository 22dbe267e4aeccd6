"""``ftplan drain-schedule``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import DRAIN_SCHEDULE


@planning.command(
    DRAIN_SCHEDULE,
    default="exact, the best rounds that the time allows, with a proven bound",
    changes="restarts any node",
    algorithm_after="partial",
    picture="the nodes of each round",
)
def command(**given: Any) -> int:
    """Plan which nodes restart together, in how few rounds.

    A round restarts its nodes together, and all are back before the next one begins. Tasks on them stand still
    meanwhile, unless their active replica runs on another node or --move moves them. The fewest rounds are planned in
    which output fidelity, important queries, the copies of each key group, and primaries and their replicas are kept as
    asked. Needs a topology and a cluster with a placement.
    """
    return planning.answered(DRAIN_SCHEDULE, planning.planned(DRAIN_SCHEDULE, given), given)

"""``ftplan replicate-tasks``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import REPLICATE_TASKS


@planning.command(
    REPLICATE_TASKS,
    default="structure-aware, safe at any size",
    changes="starts or stops replicas",
    algorithm_after="target",
    picture="that curve",
)
def command(**given: Any) -> int:
    """Plan which tasks get an active replica, and where.

    Under a budget, replicas go to the tasks that keep most output alive while a failure is repaired: to whole trees of
    tasks from sources to an output, since a gap in one makes the rest useless. Needs a topology and a budget or a
    target. Without --fail and --failure any task may fail, all at once; scenarios of a failure file count with their
    probabilities. With a cluster each replica gets a node outside its primary's zone.
    """
    given["curve"] = given["curve"] or given["plot"] is not None
    return planning.answered(REPLICATE_TASKS, planning.planned(REPLICATE_TASKS, given), given)

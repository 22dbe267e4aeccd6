"""``ftplan rebalance``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import REBALANCE


@planning.command(
    REBALANCE,
    default="adaptive, safe at any size, with a proven bound",
    changes="moves any key group or makes a checkpoint anew",
    picture="utilisation of each node before and after",
)
def command(**given: Any) -> int:
    """Plan which key groups move where, so that load is balanced and pauses are short.

    A key group whose checkpoint lies on its new node only replays what came in since; without one its state is sent.
    The moves of least cost are planned that leave no node overloaded (--overload) or uneven (--tolerance), that drain
    nodes (--remove) or fill them (--add), in phases in which no node is overloaded either. Each move says what it
    costs, each phase how long it takes, and the plan how to undo it and where checkpoints lie afterwards. Needs a
    topology, a cluster with a placement, and statistics.
    """
    return planning.answered(REBALANCE, planning.planned(REBALANCE, given), given)

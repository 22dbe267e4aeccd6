"""``ftplan peer-ring``."""

from __future__ import annotations

from typing import Any

from ftplan.cli import planning
from ftplan.model.kinds import PEER_RING


@planning.command(
    PEER_RING,
    default="exact",
    changes="moves any key group, owner or copy",
    picture="the ring: who owns which arc",
)
def command(**given: Any) -> int:
    """Plan where workers stand on a consistent-hashing ring, so that load is even and failures lose nothing.

    A worker owns the key groups from its token up to the next one, and the next --replication workers clockwise keep
    copies. Tokens and the order of zones are planned so that copies lie in different zones wherever that can be, then
    load is as even as key groups allow, then as few bytes as possible move away from the ring in place (--current).
    The plan says which failures lose what and how likely that is, what each move sends, how long take-overs last, and
    with --fail what one failure does to it. Needs a topology and a cluster; load comes from statistics, else from the
    topology's rates.
    """
    return planning.answered(PEER_RING, planning.planned(PEER_RING, given), given)

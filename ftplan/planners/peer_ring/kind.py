"""Peer rings as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import PEER_RING
from ftplan.planners.kind import PlanKind
from ftplan.planners.peer_ring.options import PeerRingOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    return any(item.get("event") != "failure" for item in (plan.plan or {}).get("moves") or ())


KIND = PlanKind(
    row=PEER_RING,
    options=PeerRingOptions,
    folder="ftplan.planners.peer_ring",
    changes=_changes,
    summary_of_question=("before", "random", "virtual_nodes"),
)
"""What can be asked of a peer ring."""

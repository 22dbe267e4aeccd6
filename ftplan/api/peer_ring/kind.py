"""Peer rings as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.api.kinds import PlanKind
from ftplan.api.peer_ring.options import PeerRingOptions
from ftplan.model.kinds import PEER_RING

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    return any(item.get("event") != "failure" for item in (plan.plan or {}).get("moves") or ())


KIND = PlanKind(
    row=PEER_RING,
    options=PeerRingOptions,
    folder="ftplan.api.peer_ring",
    changes=_changes,
    summary_of_question=("before", "random", "virtual_nodes"),
)
"""What can be asked of a peer ring."""

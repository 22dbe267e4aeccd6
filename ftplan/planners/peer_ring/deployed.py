"""What there is to say of nodes beside the ring, and of what the ring in place was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray
from ftplan.planners.named_nodes import listed
from ftplan.planners.peer_ring.current import RingInPlace
from ftplan.planners.peer_ring.members import Members, able


def standing(
    nodes: Members, fails: BoolArray, cluster: Cluster, here: RingInPlace | None, keep: bool
) -> Iterator[Warn]:
    """Yield what there is to say of nodes beside the ring, of failures of such, and of the ring in place, *here*."""
    out = able(cluster) & ~nodes.members & ~nodes.tier & ~nodes.removed
    if here is not None and out.any():
        verb = "is" if int(out.sum()) == 1 else "are"
        text = f"{listed(out, cluster)} could be on the ring and {verb} not: --add lets nodes join"
        yield Warn("NOT_ON_RING", text)
    beside = fails & ~nodes.members & ~nodes.tier
    if beside.any():
        text = f"{listed(beside, cluster)}: not on the ring, so that its failure changes nothing there"
        yield Warn("FAILURE_BESIDE_RING", text)
    if here is None:
        return
    if not keep and here.ring.tier is not None and not nodes.tier.any():
        yield Warn("TIER_DROPPED", "the ring in place has tiered copies, and without --tier the planned one has none")
    dead = np.array([node.id in here.failed for node in cluster.nodes], dtype=np.bool_)
    if (dead & ~nodes.removed & ~fails).any():
        text = f"the plan of the ring in place answers a failure of {listed(dead, cluster)}: its ring before that is"
        fix = "name these nodes by --fail for what comes of it, or by --remove for a ring without them"
        yield Warn("FAILURE_NOT_TAKEN", f"{text} taken; {fix}")

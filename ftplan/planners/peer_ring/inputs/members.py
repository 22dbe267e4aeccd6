"""Who is on the planned ring, who joins or leaves, and who only holds last copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray
from ftplan.planners.named_nodes import listed, named_nodes
from ftplan.planners.peer_ring.inputs.current import RingInPlace
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.ring import Ring


class Members(NamedTuple):
    """Flags of nodes, each (N,), see :class:`ftplan.planners.peer_ring.problem.RingProblem`."""

    members: BoolArray
    tier: BoolArray
    added: BoolArray
    removed: BoolArray


def requested_members(options: PeerRingOptions, cluster: Cluster, current: Ring | None) -> Members:
    """Return who is on the ring: those that can be, or of a ring in place its nodes, with --add and without --remove.

    Raises
    ------
    FtplanError
        If nodes are named that are not there, cannot be on a ring, or are where they are asked to be already.
    """
    added = named_nodes(options.add, cluster, "add", "; a node that joins has to be in the cluster file: add it there")
    removed, tier = (named_nodes(texts, cluster, name) for texts, name in _leaving(options))
    can = eligible_nodes(cluster)
    _no_two(cluster, ("add", added), ("remove", removed))
    _no_two(cluster, ("add", added), ("tier", tier))
    keeps_none = tier & ~cluster.accepting("checkpoints")
    if keeps_none.any():
        raise FtplanError(f"--tier: {listed(keeps_none, cluster)} takes no checkpoints (accepts in the cluster file)")
    if current is None:
        _no_two(cluster, ("remove", removed), ("tier", tier))
        members = can & ~removed & ~tier
    else:
        members = _changed(cluster, current, Members(can, tier, added, removed))
    if not members.any():
        raise FtplanError("no node is left for the ring: it needs nodes with cpu that take tasks and checkpoints")
    return Members(members, tier, added, removed)


def _leaving(options: PeerRingOptions) -> tuple[tuple[tuple[str, ...], str], ...]:
    return (options.remove, "remove"), (options.tier, "tier")


def eligible_nodes(cluster: Cluster) -> BoolArray:
    """Return which nodes can be on a ring: those with cpu that take tasks and checkpoints, (N,)."""
    return cluster.accepting("tasks") & cluster.accepting("checkpoints") & (cluster.cpu > 0.0)


def _changed(cluster: Cluster, current: Ring, asked: Members) -> BoolArray:
    """Return the members of a ring in place once it has changed."""
    here = np.zeros(len(cluster.nodes), dtype=np.bool_)
    here[current.node] = True
    for chosen, option, text in (
        (asked.added & here, "add", "is on the ring in place already"),
        (asked.added & ~asked.members, "add", "cannot be on a ring: that takes cpu, tasks and checkpoints (accepts)"),
        (asked.removed & ~here, "remove", "is not on the ring in place"),
        (asked.tier & here & ~asked.removed, "tier", "is on the ring in place: let it leave by --remove too"),
    ):
        if chosen.any():
            raise FtplanError(f"--{option}: {listed(chosen, cluster)} {text}")
    unable = here & ~asked.removed & ~asked.members
    if unable.any():
        raise FtplanError(
            f"{listed(unable, cluster)} is on the ring in place, and can be no longer: that takes cpu, tasks and "
            "checkpoints (accepts in the cluster file); let it leave by --remove"
        )
    return (here | asked.added) & ~asked.removed


def _no_two(cluster: Cluster, one: tuple[str, BoolArray], other: tuple[str, BoolArray]) -> None:
    both = one[1] & other[1]
    if both.any():
        raise FtplanError(f"--{one[0]} and --{other[0]} both name {listed(both, cluster)}")


def check_options(options: PeerRingOptions) -> None:
    """Refuse options that contradict each other, or ask for nothing without a ring in place.

    Raises
    ------
    FtplanError
        With what is missing.
    """
    if options.rebalance and (options.add or options.remove):
        other = "add" if options.add else "remove"
        raise FtplanError(f"--rebalance keeps the nodes of the ring, and --{other} changes them: give one of them")
    if options.current is not None:
        return
    asked = {"add": options.add, "rebalance": options.rebalance, "max-bytes": options.max_bytes is not None}
    for name, given in asked.items():
        if given:
            raise FtplanError(f"--{name} changes a ring in place: give its plan by --current")


def check_replication(options: PeerRingOptions, nodes: Members) -> None:
    """Refuse more copies than there are nodes for.

    Raises
    ------
    FtplanError
        With the most that there can be.
    """
    count, tiered = int(nodes.members.sum()), bool(nodes.tier.any())
    if tiered and options.replication < 1:
        raise FtplanError("--tier holds the last of the backups: --replication has to be 1 or more")
    most = count if tiered else count - 1
    if options.replication > most:
        some = "1 node" if count == 1 else f"{count:,} nodes"
        text = f"a ring of {some} has room for {'1 backup' if most == 1 else f'{most:,} backups'} of each key group"
        fix = f"give --replication {most} at most"
        raise FtplanError(f"{text}, not {options.replication:,}: owner and backups are different nodes; {fix}")


def check_order(options: PeerRingOptions, here: RingInPlace | None) -> None:
    """Refuse to let neighbours share load where nodes have several tokens, and so no one neighbour.

    Raises
    ------
    FtplanError
        With what would move load there.
    """
    if options.rebalance and here is not None and not here.ring.simple:
        text = "--rebalance moves load between neighbours, and nodes of the ring in place have several tokens"
        raise FtplanError(f"{text}: plan it anew without --rebalance")


def check_kept(options: PeerRingOptions, here: RingInPlace | None, keep: bool) -> None:
    """Refuse another number of copies than those of a ring that stays, since only a failure is asked for.

    Raises
    ------
    FtplanError
        With the number that it keeps.
    """
    kept = None if here is None else here.replication
    if keep and kept is not None and kept != options.replication:
        copies = "1 copy" if kept == 1 else f"{kept:,} copies"
        text = f"the ring in place keeps {copies} of each key group beside its owner, not {options.replication}"
        raise FtplanError(f"{text}: give --replication {kept} for what its failure does")


def deployment_warnings(
    nodes: Members, fails: BoolArray, cluster: Cluster, here: RingInPlace | None, keep: bool
) -> Iterator[Warn]:
    """Yield what there is to say of nodes beside the ring, of failures of such, and of the ring in place, *here*."""
    out = eligible_nodes(cluster) & ~nodes.members & ~nodes.tier & ~nodes.removed
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

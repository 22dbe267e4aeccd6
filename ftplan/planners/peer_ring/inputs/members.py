"""Who is on the planned ring, who joins or leaves, who only holds last copies; and the ring that is in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.kinds import PEER_RING
from ftplan.model.plan import InputFile, Warn
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.deployed import main_body, table_of
from ftplan.planners.named_nodes import listed, named_nodes
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.ring import Ring, read_tokens

#: What is to be done about a node of the ring in place that the cluster file lacks.
MISSING_NODE_FIX = "; keep it in the cluster file and say --fail node:{0} if it is dead, --remove node:{0} if it leaves"


class RingInPlace(NamedTuple):
    """A ring that is in place."""

    ring: Ring
    replication: int | None  # copies beside the owner that it keeps, None where that is not stated
    file: InputFile
    failed: tuple[str, ...] = ()  # nodes of it that its plan lets fail, by id: the ring is that before this failure


def ring_in_place(given: Any, nodes: Sequence[str], position: FloatArray) -> RingInPlace:
    """Read the option ``current``: a plan of a peer ring; of one that answers a failure, the ring before it.

    Raises FtplanError if it is of another kind, holds no answer, or names a node that is not there.
    """
    body, name, file, _ = main_body(given, "current", PEER_RING)
    entries = table_of(body, name, PEER_RING)
    ring = ring_of_entries(entries, nodes, position, f"{name}: plan.ring", MISSING_NODE_FIX)
    stated = {len(item["backups"]) for item in entries if item.get("backups") is not None}
    after = body.get("after_failure")
    left = None if after is None else {item.get("node") for item in after}
    failed = () if left is None else tuple(nodes[node] for node in ring.nodes.tolist() if nodes[node] not in left)
    return RingInPlace(ring, stated.pop() if len(stated) == 1 else None, file, failed)


def ring_of_entries(
    entries: Sequence[Mapping[str, Any]], nodes: Sequence[str], position: FloatArray, place: str, gone: str = ""
) -> Ring:
    """Return the ring of the entries of a plan, tokens within rounding of a position at that position.

    Where all entries state their backups and one of these has no token, the last backup of each is a tiered copy.

    *nodes*: ids of all nodes, by number. *place*: what messages call the list of entries. *gone*: what a message adds
    about a node that is not there, with its id for ``{0}``.

    Raises FtplanError if there is no entry, a node is not there, or two tokens are one.
    """
    if not entries:
        raise FtplanError(f"{place}: no node has a token")
    number = {node: k for k, node in enumerate(nodes)}

    def numbered(name: Any, where: str) -> int:
        if name not in number:
            raise FtplanError(f"{where}: unknown node {name!r}{suggestion(str(name), number)}{gone.format(name)}")
        return number[name]

    node = np.array([numbered(item.get("node"), f"{place}[{k}]") for k, item in enumerate(entries)], dtype=np.int64)
    token = read_tokens(np.array([_token(item, f"{place}[{k}]") for k, item in enumerate(entries)]), position)
    order = np.lexsort((node, token))
    same = np.flatnonzero(np.diff(token[order]) == 0.0)
    if same.size:
        first, second = (entries[int(order[k])]["node"] for k in (same[0], same[0] + 1))
        raise FtplanError(f"{place}: {first} and {second} have one token, {float(token[order[same[0]]]):.12g}")
    backups = [item.get("backups") for item in entries]
    here = set(node.tolist())
    tier = None
    if all(backups):
        held = [[numbered(name, f"{place}[{k}].backups") for name in names or ()] for k, names in enumerate(backups)]
        if any(other not in here for names in held for other in names):
            tier = np.array([names[-1] for names in held], dtype=np.int64)[order]
    return Ring(token[order], node[order], tier)


def _token(item: Mapping[str, Any], place: str) -> float:
    token = item.get("token")
    if isinstance(token, bool) or not isinstance(token, (int, float)) or not 0.0 <= token < 1.0:
        raise FtplanError(f"{place}.token: expected a number of at least 0 and below 1, got {token!r}")
    return float(token)


class Members(NamedTuple):
    """Flags of nodes, each (N,), see :class:`ftplan.planners.peer_ring.problem.RingProblem`."""

    members: BoolArray
    tier: BoolArray
    added: BoolArray
    removed: BoolArray


def requested_members(options: PeerRingOptions, cluster: Cluster, current: Ring | None) -> Members:
    """Return who is on the ring: those that can be, or of a ring in place its nodes, with --add and without --remove.

    Raises FtplanError if nodes are named that are not there, cannot be on a ring, or are where they are asked to be
    already.
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

    Raises FtplanError with what is missing.
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

    Raises FtplanError with the most that there can be.
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

    Raises FtplanError with what would move load there.
    """
    if options.rebalance and here is not None and not here.ring.simple:
        text = "--rebalance moves load between neighbours, and nodes of the ring in place have several tokens"
        raise FtplanError(f"{text}: plan it anew without --rebalance")


def check_kept(options: PeerRingOptions, here: RingInPlace | None, keep: bool) -> None:
    """Refuse another number of copies than those of a ring that stays, since only a failure is asked for.

    Raises FtplanError with the number that it keeps.
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

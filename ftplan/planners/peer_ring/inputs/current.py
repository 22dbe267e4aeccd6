"""The ring that is in place, the ring of a plan, and what there is to warn of nodes that are not on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.kinds import PEER_RING
from ftplan.model.plan import InputFile
from ftplan.model.topology import FloatArray
from ftplan.planners.deployed import main_body, table_of
from ftplan.planners.peer_ring.ring import Ring, read_tokens

#: What is to be done about a node of the ring in place that the cluster file lacks.
MISSING_NODE_FIX = "; keep it in the cluster file and say --fail node:{0} if it is dead, --remove node:{0} if it leaves"


class RingInPlace(NamedTuple):
    """A ring that is in place.

    Attributes
    ----------
    replication
        Copies beside the owner that it keeps, None where that is not stated.
    failed
        Nodes of it that its plan lets fail, by id: the ring is that before this failure.
    """

    ring: Ring
    replication: int | None
    file: InputFile
    failed: tuple[str, ...] = ()


def ring_in_place(given: Any, nodes: Sequence[str], position: FloatArray) -> RingInPlace:
    """Read the option ``current``: a plan of a peer ring; of one that answers a failure, the ring before it.

    Raises
    ------
    FtplanError
        If it is of another kind, holds no answer, or names a node that is not there.
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

    Parameters
    ----------
    nodes
        Ids of all nodes, by number.
    place
        What messages call the list of entries.
    gone
        What a message adds about a node that is not there, with its id for ``{0}``.

    Raises
    ------
    FtplanError
        If there is no entry, a node is not there, or two tokens are one.
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

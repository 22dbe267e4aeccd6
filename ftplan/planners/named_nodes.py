"""Nodes that options name, by id or by selector."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster
from ftplan.model.names import parse_selector
from ftplan.model.topology import BoolArray

#: Nodes that a message lists.
LISTED = 10


def named_nodes(texts: Iterable[str], cluster: Cluster, option: str, advice: str = "") -> BoolArray:
    """Return the nodes that ids or selectors name, (N,).

    Raises FtplanError if one is unknown, or names no nodes.

    Parameters
    ----------
    option
        What took them, as messages call it.
    advice
        What a message adds where a node is not there.
    """
    chosen = np.zeros(len(cluster.nodes), dtype=np.bool_)
    for text in texts:
        if ":" not in text:
            if text not in cluster.position:
                near = suggestion(text, cluster.position)
                raise FtplanError(f"--{option}: unknown node {text!r}{near}{advice}")
            chosen[cluster.position[text]] = True
            continue
        try:
            selector = parse_selector(text)
            check_selector(selector, cluster=cluster)
        except FtplanError as error:
            raise FtplanError(f"--{option}: {error}{advice}") from None
        if selector.kind not in ("node", "zone"):
            raise FtplanError(f"--{option}: {text} names no nodes: give node ids, node:ID or zone:ID")
        nodes = cluster.nodes_of(selector)
        if not nodes:
            raise FtplanError(f"--{option}: {text} has no node")
        chosen[[cluster.position[node] for node in nodes]] = True
    return chosen


def listed(chosen: BoolArray, cluster: Cluster) -> str:
    """Return the ids of nodes as a message lists them: the first ones, and how many more there are."""
    names = [cluster.nodes[i].id for i in np.flatnonzero(chosen).tolist()]
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"

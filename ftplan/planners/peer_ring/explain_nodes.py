"""What a node or a zone of a peer ring has, and where else a node's token could be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.names import Selector
from ftplan.model.topology import FloatArray
from ftplan.planners.assessments import Explanation
from ftplan.planners.peer_ring.alternative_tokens import (
    PlannedRing,
    alternative_rows,
    columns_of,
    places_of,
    shown,
    verdict,
)
from ftplan.planners.peer_ring.metrics import utilisations
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import lost_state
from ftplan.planners.peer_ring.takeover.recovery import losses

_OF_NODE = ("token", "key groups", "load", "state, bytes", "backups")
_OF_ZONE = ("node", "key groups", "load over the fair share", "utilisation", "state, bytes", "copies, bytes")
#: Most tokens of a node that are listed.
MOST_LISTED_TOKENS = 20


def one_token_each(planned: PlannedRing) -> bool:
    """Return whether each node has one token, at a position, so that tokens can be moved one by one."""
    return planned.ring.simple and bool(np.isin(planned.ring.token, planned.problem.position).all())


def share(problem: RingProblem, ring: Ring, node: int) -> float | None:
    """Return the load of a node over its fair share; None where it has none."""
    fair = float(problem.fair[node])
    return float(problem.loads(ring)[node]) / fair if fair > 0.0 else None


def state_of(problem: RingProblem, state: float) -> float | None:
    """Return a sum of states; None where none is known."""
    return float(state) if problem.state_known else None


def explain_node(what: Selector, planned: PlannedRing, cluster: Cluster) -> Explanation:
    """Explain a node: its arcs and copies, who takes over, and other places of its token.

    Raises FtplanError if the cluster has no such node.
    """
    problem, ring = planned.problem, planned.ring
    if what.name not in cluster.position:
        raise FtplanError(f"{what}: unknown node {what.name!r}{suggestion(what.name, cluster.position)}")
    node = cluster.position[what.name]
    if node not in ring.nodes.tolist():
        return Explanation(
            str(what), f"{what}: not on the ring", ("why",), (), tuple(_why_not(planned, node, cluster)), ()
        )
    rows = _tokens(planned, node)
    of_fair, used = share(problem, ring, node), float(utilisations(problem, ring)[node])
    many = sum(row["key groups"] for row in rows)
    title = f"{what}: owns {many:,} key group{'' if many == 1 else 's'}"
    title += "" if of_fair is None else f", {of_fair:.4g} of its fair share of load"
    notes = [
        f"it is used to {used:.1%}, where {problem.overload:.1%} is an overload"
        if np.isfinite(used)
        else "it has no capacity for what it owns",
        *_takers(planned, node),
    ]
    columns: tuple[str, ...] = ()
    cuts: list[dict[str, Any]] = []
    if one_token_each(planned) and len(ring.token) > 1:
        number = planned.number_of(node)
        columns, cuts = columns_of(problem), alternative_rows(planned, number, places_of(planned, number))
        notes += verdict(planned, cuts) if len(cuts) > 1 else ["its token has no other place between its neighbours"]
    elif not ring.simple:
        notes.append("its tokens follow from its name and the seed alone: none of them is placed by load")
    if len(rows) > MOST_LISTED_TOKENS:
        notes.append(f"{len(rows) - MOST_LISTED_TOKENS:,} more tokens are not listed")
    return Explanation(
        str(what), title, _OF_NODE, tuple(rows[:MOST_LISTED_TOKENS]), tuple(notes), (), columns, shown(problem, cuts)
    )


def _tokens(planned: PlannedRing, node: int) -> list[dict[str, Any]]:
    """Return a row for each token of a node, the most loaded first where there are many."""
    problem, ring = planned.problem, planned.ring
    held, load = ring.holders(problem.replication), problem.arcs(ring, problem.load)
    state = problem.arcs(ring, problem.state)
    groups = np.bincount(ring.owner(problem.position)[problem.atom], minlength=len(ring.token))
    mine = np.flatnonzero(ring.node == node).tolist()
    if len(mine) > MOST_LISTED_TOKENS:
        mine.sort(key=lambda token: (-float(load[token]), token))
    return [
        dict(
            zip(
                _OF_NODE,
                (
                    float(ring.token[token]),
                    int(groups[token]),
                    float(load[token]),
                    state_of(problem, state[token]),
                    ", ".join(problem.nodes[other] for other in held[token, 1:].tolist()),
                ),
                strict=True,
            )
        )
        for token in mine
    ]


def _takers(planned: PlannedRing, node: int) -> Iterator[str]:
    """Say who takes over if a node fails, and how long that lasts."""
    problem = planned.problem
    found = losses(problem, planned.ring)
    place = int(np.flatnonzero(found.nodes == node)[0])
    if int(found.taker[place]) < 0:
        yield "if it fails, its key groups are lost: nobody has copies"
        return
    many, taker = int(found.takers[place]), problem.nodes[int(found.taker[place])]
    who = taker if many == 1 else f"{many:,} nodes take over, {taker} last: it"
    level = float(found.caught_up_s[place])
    then = f"has caught up after {level:.4g} s" if np.isfinite(level) else "never catches up: it needs help"
    verb = "takes over and " if many == 1 else ""
    yield f"if it fails, {who} {verb}is ready after {found.ready_s[place]:.4g} s, and {then}"


def _why_not(planned: PlannedRing, node: int, cluster: Cluster) -> Iterator[str]:
    """Say why a node is not on the ring."""
    problem, ring = planned.problem, planned.ring
    if ring.tier is not None and (ring.tier == node).any():
        held = float(problem.arcs(ring, problem.state)[ring.tier == node].sum())
        size = f", {held:,.0f} bytes" if problem.state_known else ""
        yield f"it holds the last copy of {int((ring.tier == node).sum()):,} arcs{size}, and nothing else"
        return
    item = cluster.nodes[node]
    missing = [name for name in ("tasks", "checkpoints") if name not in item.accepts]
    if problem.removed[node]:
        yield "it leaves the ring, or is left out of it (--remove)"
    elif problem.tier[node]:
        yield "it is of the tier (--tier)"
    elif missing:
        yield f"it takes no {' and no '.join(missing)} (accepts in the cluster file)"
    elif item.cpu <= 0.0:
        yield "it has no cpu"
    else:
        yield "it could be on the ring: --add lets it join a ring in place"


def explain_zone(what: Selector, planned: PlannedRing, cluster: Cluster) -> Explanation:
    """Explain a zone: its nodes, and what its loss loses.

    Raises FtplanError if no node is in the zone.
    """
    problem, ring = planned.problem, planned.ring
    nodes = sorted(cluster.position[node] for node in cluster.nodes_of(what))
    if not nodes:
        raise FtplanError(f"{what}: no node of the cluster is in this zone")
    inside = np.isin(np.arange(len(problem.nodes)), nodes)
    held = ring.holders(problem.replication)
    state, groups = (
        problem.arcs(ring, problem.state),
        np.bincount(ring.owner(problem.position)[problem.atom], minlength=len(ring.token)),
    )
    own, many = (_by_node(problem, ring.node, worth) for worth in (state, groups.astype(np.float64)))
    copies = np.sum([_by_node(problem, held[:, k], state) for k in range(1, held.shape[1])], axis=0)
    copies = np.broadcast_to(copies, own.shape)
    used, holding = utilisations(problem, ring), np.unique(held)
    rows = []
    for node in nodes:
        here = node in holding
        values = (
            problem.nodes[node],
            int(many[node]),
            share(problem, ring, node) if here else None,
            float(used[node]) if np.isfinite(used[node]) else None,
            state_of(problem, own[node]),
            state_of(problem, copies[node]),
        )
        rows.append(dict(zip(_OF_ZONE, values, strict=True)))
    together = int((inside[held].sum(axis=1) > 1).sum())
    gone = lost_state(problem, ring, inside)
    size = f", {gone.state:,.0f} bytes" if problem.state_known else ""
    count = int(gone.key_groups.sum())
    notes = [
        f"{together:,} of {len(ring.token):,} arcs have two copies or more in it",
        f"its loss loses {count:,} key groups{size}" if count else "its loss loses nothing",
    ]
    return Explanation(str(what), f"{what}: what its nodes hold", _OF_ZONE, tuple(rows), tuple(notes), ())


def _by_node(problem: RingProblem, node: Any, worth: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(node, worth, minlength=len(problem.nodes)), dtype=np.float64)

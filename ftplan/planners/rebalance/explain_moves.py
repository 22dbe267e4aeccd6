"""What comes to a node and goes, what becomes of a zone, and how the key groups of an operator move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.assessments import Explanation
from ftplan.planners.rebalance.candidates import PlannedRebalance
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.migration_costs import ASSISTED
from ftplan.planners.rebalance.problem import Migration

#: Rows of what comes to a node and goes.
_PASSING = ("key group", "way", "from", "to", "by", "phase", "load", "latency, s", "pause, s")
_OF_NODE = ("node", "utilisation before", "after", "comes", "goes", "copies before", "after all")


def load_text(load: float) -> str:
    """Return a load as a person wants to read it."""
    return f"{load:,.0f}" if abs(load) >= 1e5 else f"{load:.6g}"


def explain_node(what: Selector, planned: PlannedRebalance, loads: FloatArray) -> Explanation:
    """Explain a node: its load, that in each window from *loads*, (W, K), and what comes and goes."""
    problem, node = planned.problem, planned.cluster.position[planned.cluster.node(what.name).id]
    rows = [row for row in _passing(planned) if node in (row["_from"], row["_to"])]
    for row in rows:
        row["way"] = "comes" if row["_to"] == node else "goes"
    rows.sort(key=lambda row: (row["way"], -row["load"]))
    before, after = float(problem.start_load[node]), float(planned.load[node])
    ways = [sum(row["way"] == way for row in rows) for way in ("comes", "goes")]
    title = f"{what}: key groups that come: {ways[0]:,}, that go: {ways[1]:,}"
    held = [sum(node in copies for copies in some) for some in (problem.copies, planned.copies)]
    foreign = float(problem.foreign[node])
    notes = [
        f"load {_load(planned, node, before)}, afterwards {_load(planned, node, after)}"
        + (f"; of it {load_text(foreign)} of other work" if foreign else ""),
        *_limits(planned, node),
        *_windows(planned, node, loads),
        f"{held[0]:,} checkpoints lie on it, afterwards {held[1]:,}",
        *_relief(planned, node, before, "it has to give up" if before != after else "it would have to give up"),
    ]
    return Explanation(str(what), title, _PASSING, tuple(_shown(row, _PASSING) for row in rows), tuple(notes), ())


def _load(planned: PlannedRebalance, node: int, load: float) -> str:
    capacity = float(planned.problem.capacity[node])
    return load_text(load) + (f" ({load / capacity:.3f} of its capacity)" if capacity > 0.0 else "")


def _limits(planned: PlannedRebalance, node: int) -> Iterator[str]:
    problem = planned.problem
    upper, lower = float(problem.upper[node]), float(problem.lower[node])
    if problem.removed[node]:
        yield "it is drained: nothing may stay on it"
        return
    least = f", at least {load_text(lower)}" if np.isfinite(lower) else ""
    yield f"at most {load_text(upper)} may be{least}" + ("" if problem.hosts[node] else "; it takes no key groups")


def _windows(planned: PlannedRebalance, node: int, loads: FloatArray) -> Iterator[str]:
    """Say in which share of the windows a node is overloaded, from the load of key groups in each, (W, K)."""
    problem = planned.problem
    shares = []
    for place in (problem.home, places_after(problem, planned.answer.moves)):
        load = loads[:, place == node].sum(axis=1) + problem.foreign[node]
        shares.append(float((load > problem.ceiling[node] * (1.0 + ROUNDING)).mean()) if len(load) else 0.0)
    yield f"it is overloaded in {shares[0]:.1%} of the windows, afterwards in {shares[1]:.1%}"


def _relief(planned: PlannedRebalance, node: int, load: float, gives: str) -> Iterator[str]:
    """Say how many key groups have to go at least, by arithmetic: the heaviest ones first."""
    problem = planned.problem
    limit = 0.0 if problem.removed[node] else float(problem.upper[node])
    own = np.flatnonzero(problem.home == node)
    if not over(load, limit) and not (problem.removed[node] and len(own)):
        yield f"it could take {load_text(max(0.0, limit - float(planned.load[node])))} more"
        return
    heaviest = np.sort(problem.load[own])[::-1]
    excess = load - limit
    enough = np.flatnonzero(np.cumsum(heaviest) >= excess * (1.0 - ROUNDING))
    count = len(own) if problem.removed[node] else None if not len(enough) else int(enough[0]) + 1
    many = "more than all of its key groups" if count is None else f"{count:,} of its {len(own):,} key groups at least"
    yield f"to be relieved of {load_text(excess)} {gives} {many}"


def _passing(planned: PlannedRebalance) -> list[dict[str, Any]]:
    """Return a row for each move, with the numbers of its nodes."""
    problem = planned.problem
    return [
        {
            "key group": f"{problem.operators[move.group]}/{int(problem.key_group[move.group])}",
            "way": None,
            "from": problem.nodes[int(problem.home[move.group])],
            "to": problem.nodes[move.target],
            "by": move.protocol,
            "phase": planned.stated[move.group].phase,
            "load": float(problem.load[move.group]),
            "latency, s": planned.latency_s(move),
            "pause, s": planned.pause_s[move.group],
            "why": planned.stated[move.group].reason,
            "_from": int(problem.home[move.group]),
            "_to": move.target,
            "_group": move.group,
        }
        for move in planned.answer.moves
    ]


def _shown(row: Mapping[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in columns}


def explain_zone(what: Selector, planned: PlannedRebalance) -> Explanation:
    """Explain a zone: what its nodes carry, and what crosses its border."""
    problem = planned.problem
    ids = planned.cluster.nodes_of(what)
    nodes = [k for k, name in enumerate(problem.nodes) if name in ids]
    if not nodes:
        raise FtplanError(f"{what}: no node of the cluster is in this zone")
    passing = _passing(planned)
    rows = []
    for node in nodes:
        uses = [_share(load, float(problem.capacity[node])) for load in (problem.start_load[node], planned.load[node])]
        counts = [sum(row[end] == node for row in passing) for end in ("_to", "_from")]
        held = [sum(node in copies for copies in some) for some in (problem.copies, planned.copies)]
        rows.append(dict(zip(_OF_NODE, (problem.nodes[node], *uses, *counts, *held), strict=True)))
    inside = set(nodes)
    ends = [(row["_from"] in inside, row["_to"] in inside) for row in passing]
    come, go, within = (sum(end == some for end in ends) for some in ((False, True), (True, False), (True, True)))
    notes = [f"key groups that come from other zones: {come:,}, that go to them: {go:,}, within the zone: {within:,}"]
    return Explanation(str(what), f"{what}: what its nodes carry", _OF_NODE, tuple(rows), tuple(notes), ())


def _share(load: float, capacity: float) -> float | None:
    return float(load) / capacity if capacity > 0.0 else None


def explain_operator(what: Selector, planned: PlannedRebalance) -> Explanation:
    """Explain an operator: which of its key groups move."""
    problem = planned.problem
    groups = [k for k, operator in enumerate(problem.operators) if operator == what.name]
    if not groups:
        raise FtplanError(f"{what}: has no key groups that could move, or there is no such operator")
    own = set(groups)
    moves: list[Migration] = [move for move in planned.answer.moves if move.group in own]
    columns = (*(name for name in _PASSING if name != "way"), "why")
    rows = [_shown(row, columns) for row in _passing(planned) if row["_group"] in own]
    assisted = sum(move.protocol in ASSISTED for move in moves)
    notes = [f"{len(groups) - len(moves):,} of its {len(groups):,} key groups stay"]
    if moves:
        latency = sum(planned.latency_s(move) for move in moves)
        notes.append(
            f"{assisted:,} of {len(moves):,} moves use a checkpoint on their target; {latency:.6g} s of pauses"
        )
        load = sum(float(problem.load[move.group]) for move in moves)
        whole = float(problem.load[groups].sum())
        notes.append(f"load {load_text(load)} per window moves, of {load_text(whole)}")
    title = f"{what}: {len(moves):,} of its key groups move"
    return Explanation(str(what), title, columns, tuple(rows), tuple(notes), ())

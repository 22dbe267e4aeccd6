"""Why a key group moves or stays, what becomes of a node or a zone, and how an operator's key groups move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.rebalance.candidates import PlannedRebalance, candidate_rows, way_columns
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.from_plan import group_numbers, numbered, question_of
from ftplan.planners.rebalance.migration_costs import ASSISTED
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.problem import Migration, Rebalance
from ftplan.planners.rebalance.rules import CODES, broken

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


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain ``key-group:OP/N``, ``node:ID``, ``zone:ID`` or ``operator:ID``.

    A key group: why it moves or stays, and every node with what each protocol costs there, and the rule that rules it
    out with by how much. A node: its load, what comes and goes, and what it would take to relieve it. A zone: its
    nodes. An operator: its moves.

    Raises FtplanError if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    answer, protocol = numbered(plan, prepared.problem), RebalanceOptions.of_plan(plan).protocol
    planned = PlannedRebalance.of(prepared.problem, prepared.cluster, answer, protocol)
    parts = {
        "key-group": lambda: _key_group(what, planned),
        "node": lambda: explain_node(what, planned, prepared.series.loads),
        "zone": lambda: explain_zone(what, planned),
        "operator": lambda: explain_operator(what, planned),
    }
    return explained(what, "a rebalance", parts)


def _key_group(what: Selector, planned: PlannedRebalance) -> Explanation:
    problem = planned.problem
    group = group_numbers(problem).get((what.name, int(what.index or 0)))
    if group is None:
        raise FtplanError(f"{what}: there is no such key group among those that can move")
    move, rows = planned.moved.get(group), candidate_rows(planned, group)
    home = problem.nodes[int(problem.home[group])]
    title = f"{what}: stays on {home}"
    if move is not None:
        stated = planned.stated[group]
        pause = planned.pause_s[group]
        title = f"{what}: moves from {home} to {problem.nodes[move.target]} by {move.protocol} in phase {stated.phase}"
        title += f", paused for {pause:.6g} s"
    copies = ", ".join(problem.nodes[node] for node in problem.copies[group]) or "no node"
    after = ", ".join(problem.nodes[node] for node in planned.copies[group]) or "no node"
    state = float(problem.state[group])
    notes = [
        f"load {load_text(problem.load[group])} per window, {load_text(problem.rate[group])} records/s, "
        f"state {state:,.0f} bytes; checkpoints on {copies}, afterwards on {after}",
        *_why(planned, group),
        *_cheaper(planned, group, rows),
    ]
    columns = (
        "node",
        "zone",
        "utilisation then",
        *way_columns(problem, group),
        "chosen",
        "ruled out by",
        "limit",
        "would be",
    )
    listed = tuple({name: row[name] for name in columns} for row in rows)
    return Explanation(str(what), title, columns, listed, tuple(notes), ())


def _why(planned: PlannedRebalance, group: int) -> Iterator[str]:
    """Say what would be wrong if a group stayed, or why it can."""
    problem, move = planned.problem, planned.moved.get(group)
    home = int(problem.home[group])
    if move is None:
        load, upper = float(planned.load[home]), float(problem.upper[home])
        most = load_text(upper)
        yield f"{problem.nodes[home]} has a load of {load_text(load)} with it, at most {most} may be: it can stay"
        return
    left = [tuple(m for m in phase if m.group != group) for phase in planned.answer.phases]
    own = tuple(copy for copy in planned.answer.new_copies if copy.group != group)
    without = Rebalance(tuple(phase for phase in left if phase), own)
    before = {(breach.rule, breach.where) for breach in broken(problem, planned.answer)}
    new = [breach for breach in broken(problem, without) if (breach.rule, breach.where) not in before]
    for breach in {breach.rule: breach for breach in reversed(new)}.values():
        yield f"if it stayed: {CODES.get(breach.rule, breach.rule)}: {breach.message}"
    saved = problem.value(planned.answer.moves) - problem.value(without.moves)
    if not new and saved < 0.0:
        yield f"it could stay, but the objective would be {-saved:.6g} more"
    elif not new:
        yield f"no rule asks for it: without it the objective would be {saved:.6g} less"
    yield f"by {move.protocol}: {planned.stated[group].reason}"


def _cheaper(planned: PlannedRebalance, group: int, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Name the cheapest other node that nothing rules out, if it is cheaper."""
    problem, move = planned.problem, planned.moved.get(group)
    others = [row for row in rows if not row["chosen"] and row["ruled out by"] is None]
    if move is None or not others:
        yield from ["every other node is ruled out"] if move is not None else []
        return
    best, own = min(others, key=lambda row: row["cost"]), problem.cost(move)
    if best["cost"] < own - ROUNDING * max(1.0, abs(own)):
        yield f"{best['node']} breaks no rule and would cost {own - best['cost']:.6g} less"
    else:
        count = f"{len(others):,} other {'node breaks' if len(others) == 1 else 'nodes break'} no rule"
        yield f"{count}, and none is cheaper than {own:.6g} ({problem.criterion})"

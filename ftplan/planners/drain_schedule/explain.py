"""Why a node restarts in its round, what becomes of a zone, and when a query is down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Breach
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.from_plan import numbered_rounds, question_of
from ftplan.planners.drain_schedule.metrics import effect
from ftplan.planners.drain_schedule.packing import pack
from ftplan.planners.drain_schedule.prepare import PreparedDrain
from ftplan.planners.drain_schedule.problem import DrainProblem
from ftplan.planners.drain_schedule.rules import CODES, ROOM, broken, conflicts, down, duration_s, to_move

#: Seconds for which room is looked for in all other rounds together, and names that a sentence lists.
LOOKING_S, NAMED = 10.0, 5


@dataclass(frozen=True, eq=False)
class _Schedule:
    """The rounds of a plan, by number of nodes, and the question that they answer."""

    prepared: PreparedDrain
    rounds: list[list[int]]

    @property
    def problem(self) -> DrainProblem:
        return self.prepared.problem

    def round_of(self, node: int) -> int | None:
        return next((k for k, nodes in enumerate(self.rounds) if node in nodes), None)

    def ids(self, nodes: Sequence[int]) -> str:
        return ", ".join(self.problem.nodes[node] for node in nodes)


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain a node (``node:ID``), a zone (``zone:ID``) or a query (``query:OP/INDEX``).

    A node: its round, and every other round with the rules that rule it out there and by how much. A zone: the rounds
    of its nodes, and what each of them alone takes down. A query: the rounds in which it is down, and the tasks and
    nodes that this is for.

    Raises FtplanError if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    schedule = _Schedule(prepared, numbered_rounds(plan, prepared.cluster))
    parts = {
        "node": lambda: _node(what, schedule),
        "zone": lambda: _zone(what, schedule),
        "query": lambda: _query(what, schedule),
    }
    return explained(what, "a drain schedule", parts)


def _node(what: Selector, schedule: _Schedule) -> Explanation:
    drain = schedule.problem
    node = drain.nodes.index(schedule.prepared.cluster.node(what.name).id)
    own = schedule.round_of(node)
    budget = Budget(LOOKING_S)
    rows = []
    for k, nodes in enumerate(schedule.rounds):
        if k == own:
            continue
        breaches: list[Any] = list(_breaches(drain, [*nodes, node], budget))
        rows += [_row(k, schedule.ids(nodes), breach) for breach in breaches or [None]]
    if own is None:
        title = "restarts in no round"
    else:
        company = schedule.ids([n for n in schedule.rounds[own] if n != node])
        title = f"restarts in round {own}" + (f", together with {company}" if company else ", alone")
    columns = ("round", "nodes", "ruled out by", "limit", "would be", "what")
    notes = [*_alone(drain, node), *_partners(drain, node)]
    if own is None:
        notes += [f"even alone: {CODES[b.rule]}: {b.message}" for b in _breaches(drain, [node], budget)]
    if own is not None:
        possible = [row["round"] for row in rows if row["ruled out by"] is None]
        notes.append(
            f"nothing rules out round {', '.join(map(str, possible))} either: there would be as many rounds"
            if possible
            else "every other round is ruled out"
        )
    return Explanation(str(what), f"{what}: {title}", columns, tuple(rows), tuple(notes), drain.warnings)


def _breaches(drain: DrainProblem, nodes: Sequence[int], budget: Budget) -> Iterator[Breach]:
    """Yield the rules that nodes would break together, and whether what moves finds room."""
    yield from broken(drain, nodes)
    mask, room = drain.mask(nodes), drain.room
    if room is None:
        return
    packing = pack(drain, mask, budget)
    if packing.moves is not None:
        return
    cores = float(room.task_cpu[to_move(drain, mask)].sum())
    free = float(np.maximum(room.cpu[room.accepting & ~mask], 0.0).sum())
    what = "do not take" if packing.proven else "were not seen in time to take"
    text = f"{free:.6g} cores free on other nodes {what} tasks of {cores:.6g}"
    yield Breach(ROOM, free, cores, cores, None, text)


def _row(number: int, nodes: str, breach: Breach | None) -> dict[str, Any]:
    return {
        "round": number,
        "nodes": nodes,
        "ruled out by": None if breach is None else CODES[breach.rule],
        "limit": None if breach is None else breach.limit,
        "would be": None if breach is None else breach.current,
        "what": None if breach is None else breach.message,
    }


def _alone(drain: DrainProblem, node: int) -> Iterator[str]:
    """Say what a node runs, and what its restart alone does."""
    tasks = int((drain.task_node == node).sum())
    item = effect(drain, [node])
    if drain.limits.move:
        yield f"it runs {tasks:,} tasks, which move for the round, and takes {item.duration_s:g} s"
        return
    text = f"it runs {tasks:,} tasks; alone its restart takes {item.duration_s:g} s and leaves an output fidelity of "
    yield f"{text}{item.fidelity:.6g}, with {len(item.queries):,} of {int(drain.graph.output.sum()):,} queries down"


def _partners(drain: DrainProblem, node: int) -> Iterator[str]:
    """Say with which nodes it never goes, for a copy or a replica."""
    apart = conflicts(drain)[node]
    apart[node] = False
    others = [drain.nodes[other] for other in np.flatnonzero(apart & drain.chosen).tolist()]
    if others:
        more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
        count = "another node" if len(others) == 1 else f"{len(others):,} other nodes"
        yield f"copies or replicas keep it from {count}: {', '.join(others[:NAMED])}{more}"


def _zone(what: Selector, schedule: _Schedule) -> Explanation:
    drain, cluster = schedule.problem, schedule.prepared.cluster
    ids = cluster.nodes_of(what)
    nodes = [k for k, name in enumerate(drain.nodes) if name in ids]
    if not nodes:
        raise FtplanError(f"{what}: no node of the cluster is in this zone")
    rows: list[Mapping[str, Any]] = []
    for node in nodes:
        item, own = effect(drain, [node]), schedule.round_of(node)
        rows.append(
            {
                "node": drain.nodes[node],
                "round": own,
                "tasks": int((drain.task_node == node).sum()),
                "duration, s": item.duration_s,
                "fidelity alone": item.fidelity,
                "queries down alone": len(item.queries),
            }
        )
    together = [len(set(some) & set(nodes)) for some in schedule.rounds]
    used = sum(count > 0 for count in together)
    limit = drain.limits.max_per_zone
    said = "" if limit is None else f", at most {limit} may"
    notes = [
        f"its {len(nodes)} nodes restart in {used} rounds, at most {max(together, default=0)} of them together{said}"
    ]
    whole = [node for node in nodes if drain.chosen[node]]
    breaches = broken(drain, whole)
    notes += [f"all of them together: {CODES[breach.rule]}: {breach.message}" for breach in breaches]
    if not breaches:
        notes.append("all of them together would break no rule that concerns them alone")
    columns = ("node", "round", "tasks", "duration, s", "fidelity alone", "queries down alone")
    title = f"{what}: when its nodes restart"
    return Explanation(str(what), title, columns, tuple(rows), tuple(notes), drain.warnings)


def _query(what: Selector, schedule: _Schedule) -> Explanation:
    drain = schedule.problem
    graph = drain.graph
    output = graph.number(what.name, int(what.index or 0))
    if not graph.output[output]:
        raise FtplanError(f"{what}: is no output task, so that no query ends there")
    needed = graph.selected(what)
    rows: list[Mapping[str, Any]] = []
    total = 0.0
    for k, nodes in enumerate(schedule.rounds):
        tasks = np.flatnonzero(needed & down(drain, drain.mask(nodes)))
        if not len(tasks):
            continue
        length = duration_s(drain, drain.mask(nodes))
        total += length
        names = [f"{operator}/{index}" for operator, index in graph.names(tasks[:NAMED])]
        more = f" and {len(tasks) - NAMED:,} more" if len(tasks) > NAMED else ""
        on = sorted(set(drain.task_node[tasks].tolist()))
        rows.append({"round": k, "duration, s": length, "on": schedule.ids(on), "tasks down": ", ".join(names) + more})
    priority = float(drain.priority[output])
    note = (
        f"of priority {priority:g}, it is down in {len(rows)} of {len(schedule.rounds)} rounds, for {total:g} s in all"
    )
    limit = drain.limits.keep_priority
    notes = [note] + ([] if limit is None or priority < limit else [f"--keep-priority {limit:g} keeps it up"])
    columns = ("round", "duration, s", "on", "tasks down")
    title = f"{what}: the rounds in which it is down"
    return Explanation(str(what), title, columns, tuple(rows), tuple(notes), drain.warnings)

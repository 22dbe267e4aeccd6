"""Why a recovery schedule brings back a query, a task or what stands on a node when it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.topology import BoolArray
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.recovery_schedule.candidates import COLUMNS, candidates
from ftplan.planners.recovery_schedule.candidates import notes as nodes_notes
from ftplan.planners.recovery_schedule.explain_times import missed_by, paused_notes, rolled_back, time_notes
from ftplan.planners.recovery_schedule.incident import Incident, incident_of
from ftplan.planners.recovery_schedule.profit_density import profit_density
from ftplan.planners.recovery_schedule.replay.replay import ReplayEvent, ScheduleReplay, replay
from ftplan.planners.recovery_schedule.replay.step_entries import above

#: Queries that a note names at most.
MAX_NAMED = 5


@dataclass(frozen=True, eq=False)
class _Played:
    """A plan that has been played through, seen from one failure on.

    ``since`` is the event of that failure, ``down`` what it leaves down, shape (tasks,); ``entries`` are (event,
    entry) of each task that comes back from then on, in order.
    """

    plan: Plan
    incident: Incident
    replay: ScheduleReplay
    since: int
    down: BoolArray
    queries: FailedQueries
    entries: Mapping[int, list[tuple[ReplayEvent, Mapping[str, Any]]]]

    def name(self, task: int) -> str:
        return "{}/{}".format(*self.incident.graph.name(task))

    def missing(self, query: int, event: ReplayEvent) -> BoolArray:
        """Return the tasks of a query that are still down just before a step, shape (tasks,)."""
        graph = self.incident.graph
        flags = np.zeros(graph.tasks, dtype=np.bool_)
        flags[query] = True
        needed = graph.upstream(flags) & self.down
        for task, started in self.entries.items():
            needed[task] &= not any(before.at_s < event.at_s for before, _ in started)
        return needed


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain a query (``query:OP/I``), a task (``task:OP/I``) or what comes back on a node (``node:ID``).

    Of a query or task that fails more than once the last time is explained.

    A query: the failed tasks that it waited for, which was the last, and for each earlier step how many cores it
    lacked there or which queries were chosen instead. A task: the queries that wait for it, why it did not start in an
    earlier step, and every node with the rule that ruled it out and by how much. A node: what starts there.

    Raises
    ------
    FtplanError
        If the selector is of another kind, or names what the topology does not have or what did not fail.
    """
    played = _played(plan, problem)
    parts = {
        "query": lambda: _query(what, played),
        "task": lambda: _task(what, played),
        "node": lambda: _node(what, played),
    }
    return explained(what, "a recovery schedule", parts)


def _played(plan: Plan, problem: Problem) -> _Played:
    incident = incident_of(plan, problem)
    replayed = replay((plan.plan or {})["steps"], incident)
    wrong = [fault for fault in replayed.faults if fault.code == "UNKNOWN_TASK"]
    if wrong:
        raise FtplanError(f"plan: {wrong[0].message}: verify names everything that is wrong")
    return _since(0, plan, incident, replayed)


def _since(since: int, plan: Plan, incident: Incident, replayed: ScheduleReplay) -> _Played:
    """Return the plan as the failure at an event leaves it."""
    steps = (plan.plan or {})["steps"]
    down = _down(replayed.events[since], incident.graph.tasks)
    entries: dict[int, list[tuple[ReplayEvent, Mapping[str, Any]]]] = {}
    for event in replayed.events[since:]:
        for item in steps[event.step]["recover"] if event.step is not None else ():
            entries.setdefault(incident.graph.number(item["operator"], item["index"]), []).append((event, item))
    return _Played(plan, incident, replayed, since, down, failed_queries(incident.graph, down), entries)


def _down(event: ReplayEvent, tasks: int) -> BoolArray:
    """Return what a failure leaves down, with what gives way then, shape (tasks,); nothing where nothing fails."""
    down = np.zeros(tasks, dtype=np.bool_) if event.down is None else event.down.copy()
    down[event.gave_way] = True
    return down


def _last_failure(played: _Played, tasks: BoolArray) -> _Played:
    """Return the plan from the last failure on that left any of some tasks down, shape (tasks,)."""
    events = played.replay.events
    struck = [i for i, event in enumerate(events) if bool((_down(event, len(tasks)) & tasks).any())]
    if not struck or struck[-1] == played.since:
        return played
    return _since(struck[-1], played.plan, played.incident, played.replay)


def _query(what: Selector, played: _Played) -> Explanation:
    graph = played.incident.graph
    query = graph.number(what.name, int(what.index or 0))
    if not graph.output[query]:
        raise FtplanError(f"{what}: {what.name!r} is no output operator: explain task:{what.name}/{what.index}")
    flags = np.zeros(graph.tasks, dtype=np.bool_)
    flags[query] = True
    played = _last_failure(played, graph.upstream(flags))
    row = np.flatnonzero(played.queries.query == query)
    if len(row) == 0:
        told = rolled_back(query, played.replay, played.incident)
        if not told:
            raise FtplanError(f"{what}: no failure takes this query down")
        return Explanation(str(what), f"{what}: it loses no task", (), (), told, ())
    q = played.queries
    missed = missed_by(q, int(row[0]))
    shared = {int(task): int(q.sharing[bundle]) for task, bundle in zip(q.task, q.bundle, strict=True)}
    rows = [line for task in missed for line in _lines(task, shared[task], played)]
    times = [line["ready, s"] for line in rows if line["ready, s"] is not None]
    for line in rows:
        line["last"] = bool(times) and line["ready, s"] == max(times)
    columns = ("task", "node", "step", "ready, s", "cores", "failed queries that share it", "last")
    notes = tuple(_query_notes(query, missed, played))
    return Explanation(str(what), f"{what}: the failed tasks that it waits for", columns, tuple(rows), notes, ())


def _lines(task: int, shared: int, played: _Played) -> list[dict[str, Any]]:
    """Return a row for each start of a task, one without a step if it never starts."""
    cost = float(played.incident.cost[task])
    starts: list[tuple[Any, Mapping[str, Any]]] = [*played.entries.get(task, [])] or [(None, {})]
    return [
        {
            "task": played.name(task),
            "node": item.get("node"),
            "step": None if event is None else event.step,
            "ready, s": None if event is None else float(item.get("ready_s") or event.at_s),
            "cores": float(item.get("cpu") or cost),
            "failed queries that share it": shared,
            "last": False,
        }
        for event, item in starts
    ]


def _query_notes(query: int, missed: list[int], played: _Played) -> list[str]:
    outage = [o for o in played.replay.outages if o.query == query][-1]
    priority = played.incident.graph.per_task("priority")[query]
    back = "does not come back" if outage.back_s is None else f"is back at {outage.back_s:.6g} s"
    notes = [f"query:{played.name(query)} of priority {priority:.6g} {back}"]
    if outage.event is not None:
        notes[0] += f", whole by step {played.replay.events[outage.event].step}"
    delays = played.incident.delays
    if outage.back_s is not None and (np.any(delays.replay_s) or np.any(delays.catch_up)):
        notes.append("back means caught up: with what is processed again, and with what came in while it was down")
    notes += time_notes(outage, missed, played.entries, played.replay, played.incident)
    if any(task in event.gave_way for event in played.replay.events for task in missed):
        notes.append("tasks of it give way to failed queries of higher priority")
    end = len(played.replay.events) if outage.event is None else outage.event
    sooner = None
    for event in played.replay.events[played.since : end]:
        if event.step is None:
            continue
        missing = played.missing(query, event)
        need = float(played.incident.cost[missing].sum())
        if above(need, event.capacity):
            notes.append(
                f"step {event.step} at {event.at_s:.6g} s: lacked {need - event.capacity:.6g} cores (needs "
                f"{need:.6g}, {round(event.capacity, 9):.6g} free)"
            )
            continue
        heaviest = float(played.incident.cost[missing].max(initial=0.0))
        if above(heaviest, max((node.free for node in event.nodes.values()), default=0.0)):
            text = f"step {event.step} at {event.at_s:.6g} s: no node had the {heaviest:.6g} cores of its largest task"
            notes.append(text)
            continue
        sooner = event if sooner is None else sooner
        notes.append(_instead(query, need, event, played))
    notes.append(_sooner(query, sooner, played))
    return notes


def _density(query: int, event: ReplayEvent, played: _Played) -> float:
    """Return the profit density of a query in what is missing of it at a step, infinite where nothing is missing."""
    q, graph = played.queries, played.incident.graph
    missing = np.where(played.missing(query, event), played.incident.cost, 0.0)[q.task]
    weight = np.bincount(q.bundle, missing, q.bundles).astype(np.float64)
    return float(profit_density(q, graph.per_task("priority")[q.query], weight)[q.query == query][0])


def _shown(query: int, event: ReplayEvent, played: _Played) -> str:
    density = _density(query, event, played)
    return f"{played.name(query)} ({'free' if density == np.inf else f'{density:.4g}'})"


def _instead(query: int, need: float, event: ReplayEvent, played: _Played) -> str:
    chosen = [other for other, _ in event.whole if other in played.queries.query]
    more = f" and {len(chosen) - MAX_NAMED} more" if len(chosen) > MAX_NAMED else ""
    names = ", ".join(_shown(other, event, played) for other in chosen[:MAX_NAMED]) + more
    text = f"step {event.step} at {event.at_s:.6g} s: its {need:.6g} cores would have fitted if it had been first"
    own = _shown(query, event, played)
    return f"{text}; chosen instead, with priority per core: {names or 'none'}; its own: {own}"


def _sooner(query: int, sooner: ReplayEvent | None, played: _Played) -> str:
    if sooner is not None:
        return f"sooner: being first at step {sooner.step}, at {sooner.at_s:.6g} s"
    start = next((event for event in played.replay.events[played.since :] if event.step is not None), None)
    if start is None:
        return "sooner: the plan has no steps"
    need = float(played.incident.cost[played.missing(query, start)].sum())
    if not above(need, start.capacity):
        return "sooner: not by its order"
    return f"sooner: {need - start.capacity:.6g} more cores at {start.at_s:.6g} s"


def _task(what: Selector, played: _Played) -> Explanation:
    task = played.incident.graph.number(what.name, int(what.index or 0))
    flags = np.zeros(played.incident.graph.tasks, dtype=np.bool_)
    flags[task] = True
    played = _last_failure(played, flags)
    if not played.down[task] and task not in played.entries:
        raise FtplanError(f"{what}: has not failed, and no step recovers it")
    q, priority = played.queries, played.incident.graph.per_task("priority")
    places = np.flatnonzero(q.task == task)
    waiting = q.query[q.row[q.member == q.bundle[places[0]]]].tolist() if len(places) else []
    back = {o.query: o.back_s for o in played.replay.outages}
    rows = [
        {"query": played.name(query), "priority": float(priority[query]), "back, s": back.get(query)}
        for query in waiting
    ]
    started = played.entries.get(task, [])
    notes = paused_notes(task, played.replay)
    notes += [_why(task, event, item, waiting, played) for event, item in started]
    notes += _not_before(task, played)
    reasons = [u.get("reason") for u in (played.plan.plan or {}).get("unrecovered") or () if _is(u, what)]
    notes += [f"stays down: {reason}" for reason in reasons]
    steps = [event for event in played.replay.events[played.since :] if event.step is not None]
    at = started[-1][0] if started else (steps[-1] if steps else None)
    nodes: list[dict[str, Any]] = []
    if at is not None:
        nodes = candidates(
            task, at, (played.plan.plan or {})["steps"][at.step]["recover"], played.replay, played.incident
        )
        notes += nodes_notes(nodes)
    title = f"{what}: the failed queries that wait for it"
    columns = ("query", "priority", "back, s")
    return Explanation(str(what), title, columns, tuple(rows), tuple(notes), (), COLUMNS, tuple(nodes))


def _not_before(task: int, played: _Played) -> list[str]:
    """Say of each step before the one that starts a task why it did not, of the first and last ones at most."""
    started = played.entries.get(task, [])
    reasons = []
    for event in played.replay.events[played.since :]:
        if event.step is None or (started and event.at_s >= started[0][0].at_s):
            continue
        recover = (played.plan.plan or {})["steps"][event.step]["recover"]
        rows = [
            row for row in candidates(task, event, recover, played.replay, played.incident) if row["lacks"] is not None
        ]
        place = f"step {event.step} at {event.at_s:.6g} s"
        free = [row for row in rows if row["ruled out by"] is None]
        if free:
            reasons.append(f"{place} left room for it on {free[0]['node'] or 'the capacity'}, and did not choose it")
        elif rows:
            nearest = rows[0]["node"]
            reasons.append(
                f"{place} left no node with its {float(played.incident.cost[task]):.6g} cores: "
                f"{rows[0]['lacks']:.6g} are missing{'' if nearest is None else f' on {nearest}, the nearest to it'}"
            )
        else:
            reasons.append(f"{place}: no node that takes tasks is there")
    if len(reasons) > 2 * MAX_NAMED:
        reasons[MAX_NAMED:-MAX_NAMED] = [f"… {len(reasons) - 2 * MAX_NAMED} steps likewise"]
    return reasons


def _is(item: Mapping[str, Any], what: Selector) -> bool:
    return bool(item["operator"] == what.name and item["index"] == what.index)


def _why(task: int, event: ReplayEvent, item: Mapping[str, Any], waiting: list[int], played: _Played) -> str:
    whole = [query for query, _ in event.whole if query in set(waiting)]
    node = "" if item.get("node") is None else f" on {item['node']}"
    text = f"step {event.step} at {event.at_s:.6g} s starts it{node}, {float(played.incident.cost[task]):.6g} cores"
    if item.get("prefetch"):
        text += ": begun with capacity that completed no query"
    if whole:
        more = f" and {len(whole) - MAX_NAMED} more" if len(whole) > MAX_NAMED else ""
        verb = "are" if len(whole) > 1 else "is"
        text += f"; by this step {', '.join(map(played.name, whole[:MAX_NAMED]))}{more} {verb} whole"
    return text


def _node(what: Selector, played: _Played) -> Explanation:
    cluster, incident = played.incident.cluster, played.incident
    known = {arrival.node.id for arrival in incident.arrivals} | set(cluster.position if cluster is not None else ())
    if what.name not in known:
        raise FtplanError(f"{what}: neither the cluster nor the arrivals have this node")
    rows: list[dict[str, Any]] = []
    for event in played.replay.events:
        for item in (played.plan.plan or {})["steps"][event.step]["recover"] if event.step is not None else ():
            if item.get("node") == what.name:
                task = incident.graph.number(item["operator"], item["index"])
                rows.append(
                    {
                        "step": event.step,
                        "task": played.name(task),
                        "cores": float(item.get("cpu") or incident.cost[task]),
                        "ready, s": float(item.get("ready_s") or event.at_s),
                        "prefetch": bool(item.get("prefetch")),
                    }
                )
    notes = []
    last: ReplayEvent | None = next((m for m in reversed(played.replay.events) if what.name in m.nodes), None)
    if last is None:
        notes.append("no step finds it there")
    else:
        taken = sum(row["cores"] for row in rows if row["step"] == last.step)
        left = max(0.0, last.nodes[what.name].free - taken)
        notes.append(f"{left:.6g} cores are left there after step {last.step} at {last.at_s:.6g} s")
    columns = ("step", "task", "cores", "ready, s", "prefetch")
    return Explanation(str(what), f"{what}: what comes back here, in order", columns, tuple(rows), tuple(notes), ())

"""What comes of a recovery schedule when things happen otherwise than planned, and the metrics of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ftplan.model.measures.downtimes import Downtimes, fidelity_time, whole_from
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.topology import FloatArray
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.outages import Outage, OutageLog
from ftplan.planners.recovery_schedule.replay.repair import ReplayedCluster
from ftplan.planners.recovery_schedule.replay.replay import named
from ftplan.planners.recovery_schedule.replay.step_entries import above


def repair_scores(outcome: RepairOutcome, incident: Incident, horizon_s: float) -> dict[str, float | None]:
    """Return all metrics of kind recovery-schedule, by name; queries that are not back count until the horizon."""
    graph = incident.graph
    priority = graph.per_task("priority")
    downtimes = Downtimes.of([(o.query, o.down_s, o.back_s) for o in outcome.outages], priority)
    failed = np.unique(downtimes.query)
    still = np.unique(downtimes.query[downtimes.down_at(horizon_s)])
    worth = float(priority[failed].sum())
    capped = np.maximum(np.minimum(downtimes.back_s, horizon_s) - downtimes.down_s, 0.0)
    return {
        "queries-back-share": 1.0 - len(still) / len(failed) if len(failed) else 1.0,
        "priority-back-share": 1.0 - float(priority[still].sum()) / worth if len(failed) else 1.0,
        "first-back-s": downtimes.first_back_s(horizon_s),
        "last-back-s": downtimes.last_back_s(horizon_s),
        "mean-back-s": float(capped.mean()) if len(capped) else 0.0,
        "priority-time": downtimes.priority_time(horizon_s),
        "fidelity-time": _fidelity_time(outcome, incident, horizon_s),
        "prefetched-share": outcome.prefetched / outcome.started if outcome.started else 0.0,
        "restore-s": outcome.restore_s,
        "unrecovered-tasks": float(np.isinf(outcome.caught_up).sum()),
    }


def _fidelity_time(outcome: RepairOutcome, incident: Incident, horizon_s: float) -> float:
    """Return the output fidelity integrated over the horizon; tasks work when they have caught up."""
    live = np.ones(incident.graph.tasks, dtype=np.bool_)
    live[list(outcome.failed)] = False
    events: dict[tuple[float, bool], list[int]] = {}
    for task, at_s in outcome.lost:
        events.setdefault((at_s, False), []).append(task)
    for task, begins, ends in outcome.uptimes:
        events.setdefault((begins, True), []).append(task)
        if np.isfinite(ends):
            events.setdefault((ends, False), []).append(task)
    model = fidelity_model(incident.graph, rates(incident.graph))
    return fidelity_time(model, live, events, horizon_s)


@dataclass(frozen=True, slots=True, eq=False)
class RepairOutcome:
    """What happened to the outages and to the tasks."""

    outages: tuple[Outage, ...]
    failed: frozenset[int]  # tasks that were down at the start
    uptimes: tuple[tuple[int, float, float], ...]  # (task, from, until) of tasks that caught up, infinite if they stay
    lost: tuple[tuple[int, float], ...]  # (task, time) of those that failed later although they never had before
    caught_up: FloatArray  # (T,) at the end, infinite for tasks that are down
    restore_s: float  # from the decision until the task runs, summed over all entries
    prefetched: int  # tasks that were begun with left-over capacity
    started: int


@dataclass(slots=True)
class _Due:
    """A task that waits for its node (its nodes, if it is split), and when its step is due."""

    at_s: float
    task: int
    prefetch: bool
    places: list[tuple[str | None, float]] = field(default_factory=list)  # (node, share of the task)


@dataclass(slots=True)
class _TaskLog:
    uptimes: dict[int, list[list[float]]] = field(default_factory=dict)
    lost: list[tuple[int, float]] = field(default_factory=list)
    restore_s: float = 0.0
    prefetched: set[int] = field(default_factory=set)
    started: set[int] = field(default_factory=set)

    def strike(self, task: int, at_s: float) -> None:
        """Note that a task fails while the repair is under way."""
        uptimes = self.uptimes.get(task)
        if not uptimes:
            self.lost.append((task, at_s))
        elif uptimes[-1][0] >= at_s:
            uptimes.pop()  # it had not caught up
        else:
            uptimes[-1][1] = at_s

    def run(self, tasks: Iterable[int], repair: ReplayedCluster) -> None:
        """Note that tasks work from when they have caught up."""
        for task in tasks:
            self.uptimes.setdefault(task, []).append([float(repair.caught_up[task]), np.inf])


def outcome(steps: Sequence[Mapping[str, Any]], incident: Incident) -> RepairOutcome:
    """Carry a schedule out against what really fails and arrives; where all is as planned the plan comes true.

    Parameters
    ----------
    steps
        As in a plan file, checked for their types.
    incident
        Nodes arrive in the middle of their range.

    Notes
    -----
    A step begins when the first of the nodes that its trigger names arrives, else at its ``at_s``. A task starts on
    its node as soon as its step has begun and the node is there with room; where that never happens it stays down.
    Tasks that are not down then are passed over, those that give way do where they run, and failed tasks that the plan
    does not name stay down: nobody plans anew. Cost O(times * (tasks + substreams)).
    """
    repair, outages, log = ReplayedCluster(incident), OutageLog(incident.graph), _TaskLog()
    waiting = list(_due(steps, incident))
    pauses = {float(step["at_s"]): step["pause"] for step in steps if step.get("pause")}
    failed: frozenset[int] = frozenset()
    for at_s in _times(incident, waiting, pauses):
        completely = at_s == 0.0 and incident.complete
        fail = [] if completely else [entry.select for entry in incident.fail if entry.at_s == at_s]
        coming = [arrival for arrival in incident.arrivals if _middle(arrival.at_s) == at_s]
        repair.advance(at_s, fail, coming, completely=completely)
        if repair.lost:
            latest = whole_from(incident.graph, repair.caught_up)
            outages.open(latest, at_s)
            if repair.rolled_back:
                outages.roll_back(latest, at_s, 0)
        if at_s == 0.0:
            failed = frozenset(repair.lost)
        for task in repair.rolled_back if at_s == 0.0 else (*repair.lost, *repair.rolled_back):
            log.strike(task, at_s)
        log.run(repair.rolled_back, repair)
        gave_way = [_give_way(item, at_s, repair, log) for item in pauses.get(at_s, ())]
        if any(gave_way):
            outages.open(whole_from(incident.graph, repair.caught_up), at_s)
        waiting = [due for due in waiting if due.at_s > at_s or not _start(due, at_s, repair, log)]
        outages.close(whole_from(incident.graph, repair.caught_up), 0)
    return RepairOutcome(
        outages=outages.all(),
        failed=failed,
        uptimes=tuple((task, a, b) for task, spans in sorted(log.uptimes.items()) for a, b in spans),
        lost=tuple(log.lost),
        caught_up=repair.caught_up,
        restore_s=log.restore_s,
        prefetched=len(log.prefetched),
        started=len(log.started),
    )


def _middle(at_s: tuple[float, float]) -> float:
    return (at_s[0] + at_s[1]) / 2


def _due(steps: Sequence[Mapping[str, Any]], incident: Incident) -> Iterator[_Due]:
    """Yield the entries of the plan in its order, with the time at which they may start."""
    graph = incident.graph
    arrives = {arrival.node.id: _middle(arrival.at_s) for arrival in incident.arrivals}
    for step in steps:
        named_times = [arrives[node] for node in named(step.get("trigger"), "arrival") if node in arrives]
        at_s = min(named_times, default=float(step["at_s"]))
        entries: dict[int, _Due] = {}
        for item in step["recover"]:
            task = graph.number(item["operator"], item["index"])
            due = entries.setdefault(task, _Due(at_s, task, bool(item.get("prefetch"))))
            due.places.append((item.get("node"), incident.share(task, item)))
        yield from entries.values()


def _times(incident: Incident, waiting: Sequence[_Due], pauses: Iterable[float]) -> list[float]:
    """Return the times at which something happens or may start, in order."""
    times = {0.0, *pauses, *(entry.at_s for entry in incident.fail), *(due.at_s for due in waiting)}
    return sorted(times | {_middle(arrival.at_s) for arrival in incident.arrivals})


def _give_way(item: Mapping[str, Any], at_s: float, repair: ReplayedCluster, log: _TaskLog) -> bool:
    """Pause a task, or its replica, where it can be; return whether the task was stopped."""
    task = repair.incident.graph.number(item["operator"], item["index"])
    if item.get("replica"):
        if repair.standby(task) is not None:
            repair.drop_standby(task)
        return False
    if repair.is_down(task) or len(repair.where(task)) != 1:
        return False
    repair.pause(task, at_s)
    log.strike(task, at_s)
    return True


def _start(due: _Due, at_s: float, repair: ReplayedCluster, log: _TaskLog) -> bool:
    """Start a task if it can; return whether it waits no longer."""
    if not repair.is_down(due.task):
        return True
    cost = float(repair.incident.cost[due.task])
    if not all(_fits(node, cost * share, repair) for node, share in due.places):
        return False
    for node, share in due.places:
        log.restore_s += repair.restore(due.task, node, share, at_s) - at_s
    log.run([due.task], repair)
    log.started.add(due.task)
    if due.prefetch:
        log.prefetched.add(due.task)
    return True


def _fits(node: str | None, cpu: float, repair: ReplayedCluster) -> bool:
    machine = repair.machines.get(node)
    if machine is None or not machine.takes_tasks:
        return False
    left = min(machine.room, repair.left) if machine.from_start else machine.room
    return cpu == 0.0 or not above(cpu, left)

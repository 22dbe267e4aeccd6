"""What comes of a recovery schedule when things happen otherwise than planned: other failures, other arrivals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ftplan.metrics.downtimes import whole_from
from ftplan.model.names import natural_key
from ftplan.model.topology import FloatArray
from ftplan.simulation.incident import Incident
from ftplan.simulation.outages import Outage, Outages
from ftplan.simulation.recovery_entry import above
from ftplan.simulation.recovery_replay import named
from ftplan.simulation.repair import Repair


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What happened. ``runs`` are (task, from, until) of each task that came back, until infinite if it stays."""

    outages: tuple[Outage, ...]
    failed: frozenset[int]  # tasks that were down at the start
    runs: tuple[tuple[int, float, float], ...]
    lost: tuple[tuple[int, float], ...]  # (task, time) of those that failed later although they never had before
    ready: FloatArray  # (T,) at the end, infinite for tasks that are down
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
class _Log:
    runs: dict[int, list[list[float]]] = field(default_factory=dict)
    lost: list[tuple[int, float]] = field(default_factory=list)
    restore_s: float = 0.0
    prefetched: set[int] = field(default_factory=set)
    started: set[int] = field(default_factory=set)


def outcome(steps: Sequence[Mapping[str, Any]], incident: Incident) -> Outcome:
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
    Tasks that are not down then are passed over, and failed tasks that the plan does not name stay down: nobody plans
    anew. Cost O(times * (tasks + substreams)).
    """
    repair, outages, log = Repair(incident), Outages(incident.graph), _Log()
    waiting = list(_due(steps, incident))
    failed: frozenset[int] = frozenset()
    for at_s in _times(incident, waiting):
        begins = at_s == 0.0
        if _happen(at_s, incident, repair, log):
            outages.open(whole_from(incident.graph, repair.ready), at_s)
        if begins:
            failed = frozenset(np.flatnonzero(np.isinf(repair.ready)).tolist())
        waiting = [due for due in waiting if due.at_s > at_s or not _start(due, at_s, repair, log)]
        outages.close(whole_from(incident.graph, repair.ready), 0)
    return Outcome(
        outages=outages.all(),
        failed=failed,
        runs=tuple((task, a, b) for task, spans in sorted(log.runs.items()) for a, b in spans),
        lost=tuple(log.lost),
        ready=repair.ready,
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
        found: dict[int, _Due] = {}
        for item in step["recover"]:
            task = graph.number(item["operator"], item["index"])
            cost, share = float(incident.cost[task]), 1.0
            if item.get("key_groups") and item.get("cpu") is not None and cost > 0.0:
                share = float(item["cpu"]) / cost
            due = found.setdefault(task, _Due(at_s, task, bool(item.get("prefetch"))))
            due.places.append((item.get("node"), share))
        yield from found.values()


def _times(incident: Incident, waiting: Sequence[_Due]) -> list[float]:
    """Return the times at which something happens or may start, in order."""
    times = {0.0, *(entry.at_s for entry in incident.fail), *(due.at_s for due in waiting)}
    return sorted(times | {_middle(arrival.at_s) for arrival in incident.arrivals})


def _happen(at_s: float, incident: Incident, repair: Repair, log: _Log) -> bool:
    """Let failures and arrivals happen, in this order; return whether anything failed."""
    before = np.isinf(repair.ready)
    if at_s == 0.0 and incident.complete:
        repair.fail_completely()
    selectors = [entry.select for entry in incident.fail if entry.at_s == at_s and not (incident.complete and not at_s)]
    repair.fail(selectors)
    coming = [arrival for arrival in incident.arrivals if _middle(arrival.at_s) == at_s]
    for arrival in sorted(coming, key=lambda item: natural_key(item.node.id)):
        repair.arrive(arrival.node, from_start=arrival.at_s[1] == 0.0)
    struck = np.flatnonzero(np.isinf(repair.ready) & ~before).tolist()
    for task in struck if at_s > 0.0 else ():
        spans = log.runs.get(task, [])
        if not spans:
            log.lost.append((task, at_s))
        elif spans[-1][0] > at_s:
            spans.pop()  # it was still being restored
        else:
            spans[-1][1] = at_s
    return bool(struck)


def _start(due: _Due, at_s: float, repair: Repair, log: _Log) -> bool:
    """Start a task if it can; return whether it waits no longer."""
    if not repair.is_down(due.task):
        return True
    cost = float(repair.incident.cost[due.task])
    if not all(_fits(node, cost * share, repair) for node, share in due.places):
        return False
    ready = at_s
    for node, share in due.places:
        runs = repair.restored_by(due.task, node, share, at_s)
        if runs > at_s:
            repair.busy(node, runs)
        repair.start(due.task, node, cost * share, runs)
        log.restore_s += runs - at_s
        ready = max(ready, runs)
    log.runs.setdefault(due.task, []).append([ready, np.inf])
    log.started.add(due.task)
    if due.prefetch:
        log.prefetched.add(due.task)
    return True


def _fits(node: str | None, cpu: float, repair: Repair) -> bool:
    machine = repair.machines.get(node)
    if machine is None or not machine.takes_tasks:
        return False
    left = min(machine.room, repair.left) if machine.from_start else machine.room
    return cpu == 0.0 or not above(cpu, left)

"""Playing a recovery schedule through, step by step, against what really fails and arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ftplan.model.failure import Arrival, planned_times
from ftplan.model.measures.downtimes import whole_from
from ftplan.model.names import Selector
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.model.violation import Violation
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.outages import Outage, OutageLog
from ftplan.planners.recovery_schedule.replay.repair import ReplayedCluster
from ftplan.planners.recovery_schedule.replay.step_entries import Entries, Pauses


def same(a: float, b: float) -> bool:
    """Return whether two numbers of a plan are equal up to rounding."""
    return a == b or (isfinite(a) and isfinite(b) and abs(a - b) <= ROUNDING * max(1.0, abs(a), abs(b)))


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A node that is there just before a step: the cores that tasks can take, and when its lanes are free."""

    free: float
    lanes: tuple[float, ...]
    takes_tasks: bool
    from_start: bool


@dataclass(slots=True)
class ReplayEvent:
    """All that happens at one time, the step of the plan at this time, and what really follows from the step."""

    at_s: float
    step: int | None  # place in the plan; None where the plan has no step at this time
    failures: list[Selector] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    capacity: float = 0.0  # cores free before it
    nodes: dict[str | None, NodeStatus] = field(default_factory=dict)  # those that are there before it
    left: float = np.inf  # of the cap on what the nodes of the start take together, before it
    used: float = 0.0
    whole: list[tuple[int, float]] = field(default_factory=list)  # (output task, time) as decided at this time
    struck: bool = False  # whether tasks failed just before it
    rolled_back: list[int] = field(default_factory=list)  # tasks that went back to the last checkpoint then
    gave_way: list[int] = field(default_factory=list)  # tasks that were paused by it
    undone: set[int] = field(default_factory=set)  # of these, those that a later failure struck before they were back
    down: BoolArray | None = None  # (T,) after a failure, before what comes back
    failed_s: FloatArray | None = None  # (T,) likewise, when each task failed last


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleReplay:
    """What really happens. ``outages`` stand by (output task, time); what is down has infinite ``caught_up``."""

    events: tuple[ReplayEvent, ...]
    outages: tuple[Outage, ...]
    caught_up: FloatArray  # (T,)
    faults: tuple[Violation, ...]

    def restored(self, event: ReplayEvent) -> dict[int, float]:
        """Return the queries that a step really brought back, with the time."""
        return {query: at_s for query, at_s in event.whole if query not in event.undone}


def replay(steps: Sequence[Mapping[str, Any]], incident: Incident) -> ScheduleReplay:
    """Play the steps of a plan through.

    Parameters
    ----------
    steps
        As in a plan file, checked for their types; of a step only ``at_s`` and ``recover`` count here, and the
        ``trigger`` where a node arrives within a range of time.

    Notes
    -----
    A task that the plan recovers counts as recovered even where it may not be there, so that one fault is reported
    once. Cost O(steps * (tasks + substreams)).
    """
    faults: list[Violation] = []
    events = list(_events(steps, incident, faults))
    repair = ReplayedCluster(incident)
    outages = OutageLog(incident.graph)
    entries, pauses = Entries(incident, repair, faults), Pauses(incident, repair, faults)
    for number, event in enumerate(events):
        repair.advance(event.at_s, event.failures, event.arrivals, completely=number == 0 and incident.complete)
        if number == 0 or event.failures:
            event.down = np.isinf(repair.caught_up)
            event.failed_s = repair.failed_s.copy()
            latest = whole_from(incident.graph, repair.caught_up)
            undone = outages.open(latest, event.at_s)
            if repair.rolled_back:
                more, event.whole = outages.roll_back(latest, event.at_s, number)
                undone += more
            event.rolled_back = repair.rolled_back
            event.struck = bool(repair.lost)
            for query, earlier in undone:
                events[earlier].undone.add(query)
        event.capacity, event.left = repair.capacity, repair.left
        event.nodes = {
            name: NodeStatus(machine.free, tuple(machine.lanes), machine.takes_tasks, machine.from_start)
            for name, machine in repair.machines.items()
        }
        if event.step is not None:
            event.gave_way = pauses.play(event.step, event.at_s, event.struck, steps[event.step].get("pause") or ())
            if event.gave_way:
                outages.open(whole_from(incident.graph, repair.caught_up), event.at_s)
            event.used = entries.play(event.step, event.at_s, steps[event.step]["recover"])
            event.whole += outages.close(whole_from(incident.graph, repair.caught_up), number)
    return ScheduleReplay(tuple(events), outages.all(), repair.caught_up, tuple(faults))


def _events(steps: Sequence[Mapping[str, Any]], incident: Incident, faults: list[Violation]) -> Iterator[ReplayEvent]:
    """Yield what happens in order of time, with the steps that belong to it; report steps out of place."""
    events: dict[float, ReplayEvent] = {}
    before = -np.inf
    for number, step in enumerate(steps):
        at_s = float(step["at_s"])
        if at_s <= before:
            text = f"steps[{number}] at {at_s:g} s follows one at {before:g} s: steps stand in order of time, one each"
            faults.append(Violation("WRONG_STEP_TIME", text, f"steps[{number}]"))
        before = max(before, at_s)
        events.setdefault(at_s, ReplayEvent(at_s, number))
    stated = sorted(events)
    at_start = events.setdefault(0.0, ReplayEvent(0.0, None))
    for entry in incident.fail:
        if entry.at_s > 0.0 or not incident.complete:
            _at(events, stated, entry.at_s).failures.append(entry.select)
    coming = [arrival for arrival in incident.arrivals if arrival.at_s[1] == 0.0 or "tasks" in arrival.node.accepts]
    for arrival, expected_s in zip(coming, planned_times(coming), strict=True):
        _at(events, stated, _arrives(arrival, expected_s, steps, stated)).arrivals.append(arrival)
    for event in events.values():
        faults += _out_of_place(event, event is at_start)
    yield from (events[at_s] for at_s in sorted(events))


def _at(events: dict[float, ReplayEvent], stated: Sequence[float], at_s: float) -> ReplayEvent:
    """Return the event of a time, that of a step at this time but for rounding."""
    near = next((time for time in stated if same(time, at_s)), at_s)
    return events.setdefault(near, ReplayEvent(near, None))


def _arrives(arrival: Arrival, expected_s: float, steps: Sequence[Mapping[str, Any]], stated: Sequence[float]) -> float:
    """Return when a node arrives: within its range at the step whose trigger names it, else at the one nearest."""
    low, high = arrival.at_s
    if low == high:
        return expected_s
    within = [time for time in stated if low - ROUNDING * low <= time <= high * (1 + ROUNDING)]
    naming = [float(s["at_s"]) for s in steps if arrival.node.id in named(s.get("trigger"), "arrival")]
    chosen = [time for time in within if time in naming] or within
    return min(chosen, key=lambda time: (abs(time - expected_s), time), default=expected_s)


def named(trigger: Any, kind: str) -> list[str]:
    """Return what a trigger such as ``arrival:n1,n2`` names, nothing if it is of another kind."""
    what, _, names = trigger.partition(":") if isinstance(trigger, str) else ("", "", "")
    return names.split(",") if what == kind and names else []


def _out_of_place(event: ReplayEvent, at_start: bool) -> Iterator[Violation]:
    happens = [f"{selector} fails" for selector in event.failures]
    happens += [f"node:{arrival.node.id} arrives" for arrival in event.arrivals]
    if event.step is None and (happens or at_start):
        what = "the failure begins" if at_start else " and ".join(happens)
        text = f"there is no step at {event.at_s:g} s, where {what}: every failure and arrival is a step"
        yield Violation("MISSING_STEP", text, happens[0].split()[0] if happens else None)
    if event.step is not None and not happens and not at_start:
        text = f"steps[{event.step}] at {event.at_s:g} s: nothing fails or arrives then"
        yield Violation("WRONG_STEP_TIME", text, f"steps[{event.step}]")

"""Where the time goes until a query is back: waiting, starting, fetching state, processing again, catching up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.outages import Outage
from ftplan.planners.recovery_schedule.replay.replay import ReplayEvent, ScheduleReplay, same

Entries = Mapping[int, Sequence[tuple[ReplayEvent, Mapping[str, Any]]]]


def time_notes(
    outage: Outage, tasks: Sequence[int], entries: Entries, replay: ScheduleReplay, incident: Incident
) -> list[str]:
    """Say which task is the last to catch up of those that a query waits for, and where its time goes.

    Parameters
    ----------
    tasks
        What the query misses; ``entries`` are (event, entry) of each task that comes back, in order.
    """
    if outage.back_s is None:
        return []
    started = [task for task in tasks if entries.get(task)]
    last = max(started, key=lambda task: (float(replay.caught_up[task]), -task), default=None)
    if last is None or not same(float(replay.caught_up[last]), outage.back_s):
        if outage.rolled_back or any(event.rolled_back for event in replay.events):
            return ["the last to catch up is a task that went back to the last checkpoint"]
        return []
    event, item = max(entries[last], key=lambda entry: float(entry[1].get("ready_s") or entry[0].at_s))
    if item.get("ready_s") is None:
        return []
    parts = _parts(last, event, item, outage, replay, incident)
    name = "{}/{}".format(*incident.graph.name(last))
    said = [f"{seconds:.6g} s {what}" for what, seconds in parts if seconds > ROUNDING * max(1.0, outage.back_s)]
    return [f"{name} is the last to catch up: {', '.join(said)}"] if len(said) > 1 else []


def missed_by(queries: FailedQueries, row: int) -> list[int]:
    """Return the failed tasks that a query waits for, the one in a row of those that failed."""
    bundles = np.zeros(queries.bundles, dtype=np.bool_)
    bundles[queries.members(row)] = True
    return [int(task) for task in queries.tasks_of(bundles)]


def paused_notes(task: int, replay: ScheduleReplay) -> list[str]:
    """Say at which steps a task gave way."""
    return [
        f"step {event.step} at {event.at_s:.6g} s lets it give way to failed queries of higher priority"
        for event in replay.events
        if task in event.gave_way
    ]


def rolled_back(query: int, replay: ScheduleReplay, incident: Incident) -> tuple[str, ...]:
    """Say of a query that loses no task until when it is down all the same, nothing if it is not."""
    name = "{}/{}".format(*incident.graph.name(query))
    return tuple(
        f"query:{name} is down from {outage.down_s:.6g} s until {outage.back_s:.6g} s: an operator is not "
        "deterministic, so that a failure sends all tasks back to the last checkpoint"
        for outage in replay.outages
        if outage.query == query and outage.rolled_back and outage.back_s is not None
    )


def _parts(
    task: int, event: ReplayEvent, item: Mapping[str, Any], outage: Outage, replay: ScheduleReplay, incident: Incident
) -> list[tuple[str, float]]:
    """Return the parts of the time for which a query waits for a task, in order."""
    delays, ready_s = incident.delays, float(item["ready_s"])
    failed = [e.failed_s for e in replay.events if e.failed_s is not None and e.at_s <= event.at_s]
    stopped = [e.at_s for e in replay.events if task in e.gave_way and e.at_s <= event.at_s]
    failed_s = float(failed[-1][task]) if failed else 0.0
    savepoint = bool(stopped) and stopped[-1] >= failed_s
    starts_s = delays.starts(event.at_s, failed_s - (delays.detection_s if savepoint else 0.0))
    seconds = 0.0
    if incident.transfers is not None and ready_s > starts_s:
        node = event.nodes.get(item.get("node"))
        empty = node is None or not node.from_start
        share = incident.share(task, item)
        seconds = min(ready_s - starts_s, incident.transfers.seconds(task, item.get("node"), share, empty=empty))
    again = 0.0 if savepoint else float(np.asarray(delays.of_tasks(task)[0]))
    return [
        ("until its step", event.at_s - outage.down_s),
        ("until it starts", starts_s - event.at_s),
        ("until it can fetch its state", ready_s - starts_s - seconds),
        ("fetching it", seconds),
        ("processing again", again),
        ("catching up", float(replay.caught_up[task]) - ready_s - again),
    ]

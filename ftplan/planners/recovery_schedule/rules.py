"""The rules of a recovery schedule, and a checker that any plan can be held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.model.violation import Violation
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.replay import ReplayEvent, ScheduleReplay, named, replay, same

#: The names that a plan lists under ``rules``; all of them always hold.
RULES = ("capacity", "arrivals", "whole-queries")


def violations(body: Mapping[str, Any], incident: Incident) -> tuple[Violation, ...]:
    """Return every broken rule of what a plan of kind recovery-schedule holds, empty where it keeps them all.

    Parameters
    ----------
    body
        Checked for its types. A plan made by hand needs only ``steps`` with ``at_s`` and ``recover``, whose entries
        need only ``operator``, ``index`` and ``node``: what it does not state is not judged.

    Notes
    -----
    The schedule is played through (:func:`replay`), and what the plan states is compared with what really happens.
    Order: faults in the order of the steps, then statements step by step, then those about the whole. Codes:
    ``UNKNOWN_TASK``, ``NOT_FAILED``, ``RECOVERED_TWICE``, ``UNKNOWN_NODE``, ``NODE_NOT_THERE``,
    ``NODE_ACCEPTS_NO_TASKS``, ``WRONG_CPU``, ``WRONG_KEY_GROUPS``, ``READY_TOO_EARLY``, ``WRONG_CAUGHT_UP``,
    ``PAUSED_WRONGLY``, ``OVER_CAPACITY``, ``MISSING_STEP``, ``WRONG_STEP_TIME``, ``WRONG_TRIGGER``, ``WRONG_ROLLBACK``,
    ``WRONG_CAPACITY``, ``WRONG_USED``, ``WRONG_RESTORED``, ``WRONG_QUERIES``, ``UNRECOVERED_DIFFERS``,
    ``WRONG_TIMELINE``, ``OBJECTIVE_DIFFERS``.
    """
    return judged(body, incident, replay(body["steps"], incident))


def judged(body: Mapping[str, Any], incident: Incident, replayed: ScheduleReplay) -> tuple[Violation, ...]:
    """Return the violations of a plan that has been played through."""
    priority = incident.graph.per_task("priority")
    broken = list(replayed.faults)
    for number, event in enumerate(replayed.events):
        if event.step is not None:
            step = body["steps"][event.step]
            broken += _trigger(step, event, number)
            broken += _rollback(step, event, number, incident)
            broken += _sums(step, event)
            broken += _restored(step, event, replayed, incident)
            broken += _step_objective(step, event, replayed, priority)
    broken += _queries(body, replayed, incident)
    broken += _unrecovered(body, replayed, incident)
    broken += _timeline(body, replayed, priority)
    return tuple(broken)


def _trigger(step: Mapping[str, Any], event: ReplayEvent, number: int) -> Iterator[Violation]:
    """A step is called after the failure, or the nodes that arrive with it."""
    stated = step.get("step")
    if stated is not None and stated != event.step:
        yield Violation("WRONG_STEP_TIME", f"steps[{event.step}] is called step {stated}", f"steps[{event.step}]")
    trigger = step.get("trigger")
    if trigger is None or not (event.failures or event.arrivals or number == 0):
        return
    arrivals = {arrival.node.id for arrival in event.arrivals}
    failures = {str(selector) for selector in event.failures}
    allowed = number == 0 and trigger == "failure"
    if failures or number == 0:
        allowed |= trigger == "failure" or set(named(trigger, "failure")) == failures != set()
    if not failures and arrivals:
        allowed |= set(named(trigger, "arrival")) == arrivals
    if not allowed:
        happens = [f"{name} fails" for name in sorted(failures)] or [f"{name} arrives" for name in sorted(arrivals)]
        text = f"step {event.step} is triggered by {trigger!r}, but {', '.join(happens) or 'it is the failure'}"
        yield Violation("WRONG_TRIGGER", text, f"steps[{event.step}]")


def _rollback(step: Mapping[str, Any], event: ReplayEvent, number: int, incident: Incident) -> Iterator[Violation]:
    """[SuZhouTR], section 4.3: after the first step only a new failure, and a non-deterministic operator, forces it."""
    stated = step.get("global_rollback")
    if stated is None or number == 0:
        return
    forced = event.struck and incident.rolls_back
    if stated != forced:
        why = "a failure with a non-deterministic operator" if forced else "nothing"
        text = f"step {event.step} states global_rollback {str(stated).lower()}, but {why} forces one"
        yield Violation("WRONG_ROLLBACK", text, f"steps[{event.step}]")


def _sums(step: Mapping[str, Any], event: ReplayEvent) -> Iterator[Violation]:
    for field, code, true in (("capacity", "WRONG_CAPACITY", event.capacity), ("used", "WRONG_USED", event.used)):
        if _differs(step.get(field), true):
            text = f"step {event.step} states {field} {step[field]:.12g}, it is {true:.12g} cores"
            yield Violation(code, text, f"steps[{event.step}]")


def _differs(stated: float | None, true: float) -> bool:
    return stated is not None and not same(stated, true)


def _restored(
    step: Mapping[str, Any], event: ReplayEvent, replayed: ScheduleReplay, incident: Incident
) -> Iterator[Violation]:
    """A query is listed in the step that brings back the last of its tasks, at the time when that one runs."""
    if step.get("restored") is None:
        return
    priority = incident.graph.per_task("priority")
    true = {incident.graph.name(query): (query, at_s) for query, at_s in replayed.restored(event).items()}
    listed: set[tuple[str, int]] = set()
    for item in step["restored"]:
        name = item["operator"], item["index"]
        where = "query:{}/{}".format(*name)
        if name not in true or name in listed:
            why = "twice" if name in listed else "which is not whole by it"
            yield Violation("WRONG_RESTORED", f"step {event.step} lists {where}, {why}", where)
            continue
        listed.add(name)
        query, at_s = true[name]
        if _differs(item.get("at_s"), at_s):
            text = f"step {event.step} has {where} back at {item['at_s']:.12g} s, it is whole at {at_s:.12g} s"
            yield Violation("WRONG_RESTORED", text, where)
        if _differs(item.get("priority"), float(priority[query])):
            text = f"step {event.step} gives {where} priority {item['priority']:.12g}, it has {priority[query]:.12g}"
            yield Violation("WRONG_RESTORED", text, where)
    for name in sorted(set(true) - listed):
        where = "query:{}/{}".format(*name)
        yield Violation("WRONG_RESTORED", f"step {event.step} does not list {where}, which is whole by it", where)


def _step_objective(
    step: Mapping[str, Any], event: ReplayEvent, replayed: ScheduleReplay, priority: FloatArray
) -> Iterator[Violation]:
    """The objective ``priority`` of a step sums those of the queries that it restored; no bound lies below."""
    stated = step.get("objective")
    if not stated or stated.get("name") != "priority":
        return
    value, bound = float(sum(priority[query] for query in replayed.restored(event))), stated.get("bound")
    where = f"steps[{event.step}]"
    if _differs(stated.get("value"), value):
        said = f"step {event.step} states an objective of {stated['value']:.12g}"
        yield Violation("OBJECTIVE_DIFFERS", f"{said}, what it restored is worth {value:.12g}", where)
    if bound is not None and value > bound and not same(value, bound):
        text = f"step {event.step} is worth {value:.12g}, more than its bound {bound:.12g}"
        yield Violation("OBJECTIVE_DIFFERS", text, where)


def _queries(body: Mapping[str, Any], replayed: ScheduleReplay, incident: Incident) -> Iterator[Violation]:
    """Every outage is listed with its end; a query that fails twice stands there twice."""
    if body.get("queries") is None:
        return
    graph, priority = incident.graph, incident.graph.per_task("priority")
    true: dict[tuple[str, int], list[float]] = defaultdict(list)
    for outage in replayed.outages:
        true[graph.name(outage.query)].append(np.inf if outage.back_s is None else outage.back_s)
    stated: dict[tuple[str, int], list[float]] = defaultdict(list)
    for item in body["queries"]:
        name = item["operator"], item["index"]
        stated[name].append(np.inf if item.get("back_s") is None else item["back_s"])
        if name in true and _differs(item.get("priority"), float(priority[graph.number(*name)])):
            where, right = "query:{}/{}".format(*name), float(priority[graph.number(*name)])
            text = f"{where} is listed with priority {item['priority']:.12g}, it has {right:.12g}"
            yield Violation("WRONG_QUERIES", text, where)
    for name in sorted(set(true) | set(stated)):
        said, is_so = stated[name], true[name]
        if len(said) != len(is_so) or not all(map(same, sorted(said), sorted(is_so))):
            where = "query:{}/{}".format(*name)
            text = f"queries: {where} {_times(said)} in the plan, but it {_times(is_so)}"
            yield Violation("WRONG_QUERIES", text, where)


def _times(times: Sequence[float]) -> str:
    back = ("does not come back" if np.isinf(at_s) else f"is back at {at_s:.12g} s" for at_s in times)
    return " and ".join(back) or "does not fail"


def _unrecovered(body: Mapping[str, Any], replayed: ScheduleReplay, incident: Incident) -> Iterator[Violation]:
    if body.get("unrecovered") is None:
        return
    true = {incident.graph.name(task) for task in np.flatnonzero(np.isinf(replayed.caught_up)).tolist()}
    stated = {(item["operator"], item["index"]) for item in body["unrecovered"]}
    for name in sorted(true ^ stated):
        where = "task:{}/{}".format(*name)
        text = "is still down at the end, but not listed" if name in true else "is listed, but not down at the end"
        yield Violation("UNRECOVERED_DIFFERS", f"unrecovered: {where} {text}", where)


def timeline(replayed: ScheduleReplay, priority: FloatArray) -> list[tuple[float, int, float]]:
    """Return (time, queries, priority) of the queries that had failed and are back, where this changes.

    A query that fails again counts as not back until it returns.
    """
    changes: dict[float, list[tuple[int, float]]] = defaultdict(list)
    again: set[int] = set()
    for outage in replayed.outages:
        own = float(priority[outage.query])
        if outage.query in again:
            changes[outage.down_s].append((-1, -own))
        again.add(outage.query)
        if outage.back_s is not None:
            changes[outage.back_s].append((1, own))
    rows, queries, value = [], 0, 0.0
    for at_s in sorted(changes):
        queries += sum(count for count, _ in changes[at_s])
        value += sum(own for _, own in changes[at_s])
        rows.append((at_s, queries, value))
    return rows


def _timeline(body: Mapping[str, Any], replayed: ScheduleReplay, priority: FloatArray) -> Iterator[Violation]:
    if body.get("timeline") is None:
        return
    true = timeline(replayed, priority)
    stated = [(item["at_s"], item["queries"], item["priority"]) for item in body["timeline"]]
    for row in range(max(len(true), len(stated))):
        if row >= len(true) or row >= len(stated) or not all(map(same, stated[row], true[row])):
            said, is_so = (_row(rows[row] if row < len(rows) else None) for rows in (stated, true))
            yield Violation("WRONG_TIMELINE", f"timeline[{row}] states {said}, it is {is_so}", f"timeline[{row}]")
            return


def _row(row: tuple[float, int, float] | None) -> str:
    return "nothing more" if row is None else f"{row[1]} queries of priority {row[2]:.12g} at {row[0]:.12g} s"

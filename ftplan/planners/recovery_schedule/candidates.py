"""Every node that a task of a recovery schedule could have come back on, with the rule that ruled it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.replay import ReplayEvent, ScheduleReplay
from ftplan.planners.recovery_schedule.replay.step_entries import above

COLUMNS = ("node", "cores free", "lacks", "ready, s", "chosen", "ruled out by")
#: Tasks that a line names at most.
MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class _NodeChoice:
    """The start of one task in a step: how many cores it needs, and its entries in the step by node."""

    task: int
    need: float
    event: ReplayEvent
    step: Sequence[Mapping[str, Any]]
    chosen: Mapping[str | None, Mapping[str, Any]]
    replay: ScheduleReplay
    incident: Incident

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """The other entries of the step."""
        return [item for item in self.step if item not in self.chosen.values()]


def candidates(
    task: int, event: ReplayEvent, step: Sequence[Mapping[str, Any]], replay: ScheduleReplay, incident: Incident
) -> list[dict[str, Any]]:
    """Return a row for each node of the cluster and of the arrivals, the chosen ones first, then those that could.

    Parameters
    ----------
    step
        The ``recover`` list of the step at *event*. ``cores free`` are those that the step leaves to the task, after
        its other tasks there; ``lacks`` how many more it needs; ``ready, s`` when it would run there.
    """
    name = incident.graph.name(task)
    own = [item for item in step if (item["operator"], item["index"]) == name]
    parts = [float(item["cpu"]) for item in own if item.get("cpu") is not None and item.get("key_groups")]
    need = max(parts, default=float(incident.cost[task]))
    choice = _NodeChoice(task, need, event, step, {item.get("node"): item for item in own}, replay, incident)
    known: set[str | None] = {arrival.node.id for arrival in incident.arrivals}
    known |= set(incident.cluster.position) if incident.cluster is not None else {None}
    return sorted((_row(node, choice) for node in sorted(known, key=lambda n: natural_key(n or ""))), key=_order)


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The chosen node, then what could have been, soonest first, then by what each lacks, then what is not there."""
    ready = float("inf") if row["ready, s"] is None else row["ready, s"]
    lacks = float("inf") if row["lacks"] is None else row["lacks"]
    free = 0.0 if row["cores free"] is None else row["cores free"]
    return not row["chosen"], row["ruled out by"] is not None, lacks, ready, -free


def _row(node: str | None, choice: _NodeChoice) -> dict[str, Any]:
    there = choice.event.nodes.get(node)
    chosen = node in choice.chosen
    row: dict[str, Any] = {"node": node, "cores free": None, "lacks": None, "ready, s": None, "chosen": chosen}
    if there is None:
        return {**row, "ruled out by": f"NODE_NOT_THERE: {_absent(node, choice.event, choice.replay)}"}
    if not there.takes_tasks:
        return {**row, "ruled out by": "NODE_ACCEPTS_NO_TASKS: it accepts no tasks"}
    need, incident = choice.need, choice.incident
    here = [item for item in choice.others if item.get("node") == node]
    taken = sum(_cores(item, incident) for item in here)
    free = max(0.0, round(there.free - taken, 9))
    row |= {"cores free": free, "lacks": max(0.0, need - free) if above(need, free) else 0.0}
    row["ready, s"] = _ready(node, choice)
    if chosen:
        return {**row, "lacks": 0.0, "ruled out by": None}
    if above(need, free):
        text = (
            f"OVER_CAPACITY: {need - free:.6g} of its {need:.6g} cores are missing, {round(there.free, 9):.6g} are free"
        )
        return {**row, "ruled out by": text + (f" and {_takers(here)} take {taken:.6g} of them" if taken > 0.0 else "")}
    if there.from_start and incident.cluster is not None and incident.capacity is not None:
        start = {name for name, machine in choice.event.nodes.items() if machine.from_start}
        left = choice.event.left - sum(_cores(item, incident) for item in choice.others if item.get("node") in start)
        if above(need, left):
            text = (
                f"OVER_CAPACITY: --capacity leaves the nodes of the start {max(0.0, left):.6g} cores of its {need:.6g}"
            )
            return {**row, "lacks": need - max(0.0, left), "ruled out by": text}
    return {**row, "ruled out by": None}


def _absent(node: str | None, event: ReplayEvent, replay: ScheduleReplay) -> str:
    """Say when a node comes, or that it is gone."""
    coming = [m.at_s for m in replay.events for a in m.arrivals if a.node.id == node and m.at_s > event.at_s]
    if coming:
        return f"it arrives at {coming[0]:.6g} s, {coming[0] - event.at_s:.6g} s after this step"
    return "it has failed"


def _cores(item: Mapping[str, Any], incident: Incident) -> float:
    stated = item.get("cpu")
    return float(incident.cost[incident.graph.number(item["operator"], item["index"])] if stated is None else stated)


def _takers(items: Sequence[Mapping[str, Any]]) -> str:
    names = [f"{item['operator']}/{item['index']}" for item in items]
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _ready(node: str | None, choice: _NodeChoice) -> float:
    """Return when the task would run on a node: after the restores that the plan has before it there."""
    if node in choice.chosen and choice.chosen[node].get("ready_s") is not None:
        return float(choice.chosen[node]["ready_s"])
    there, starts_s = choice.event.nodes[node], _starts(choice)
    seconds = 0.0
    if choice.incident.transfers is not None:
        seconds = choice.incident.transfers.seconds(choice.task, node, 1.0, empty=not there.from_start)
    if seconds == 0.0:
        return starts_s
    lanes = sorted(there.lanes)
    for item in choice.step:
        if item in choice.chosen.values():
            break
        if item.get("node") == node and float(item.get("ready_s") or 0.0) > lanes[0]:
            lanes = sorted((*lanes[1:], float(item["ready_s"])))
    return max(starts_s, lanes[0]) + seconds


def _starts(choice: _NodeChoice) -> float:
    """Return when the task would start, without its state, in this step."""
    at_s = choice.event.at_s
    failed = [e.failed_s for e in choice.replay.events if e.failed_s is not None and e.at_s <= at_s]
    return choice.incident.delays.starts(at_s, float(failed[-1][choice.task]) if failed else 0.0)


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what the chosen node has over the best one that breaks no rule, or that there is none."""
    mine = next((row for row in rows if row["chosen"]), None)
    free = [row for row in rows if not row["chosen"] and row["ruled out by"] is None]
    if mine is None or mine["node"] is None:
        return []
    if not free:
        return [f"no other node could take it then: {mine['node']} is the only one"]
    other = free[0]
    count = "1 other node breaks" if len(free) == 1 else f"{len(free):,} other nodes break"
    later = other["ready, s"] - mine["ready, s"]
    when = "at the same time" if abs(later) <= ROUNDING * max(1.0, mine["ready, s"]) else f"{abs(later):.6g} s "
    when += "" if when == "at the same time" else ("later" if later > 0.0 else "sooner")
    return [f"{count} no rule; {other['node']} would have it ready {when}, with {other['cores free']:.6g} cores free"]

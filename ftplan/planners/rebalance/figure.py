"""A rebalance: what each node carries before and after, and what the phases take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED
from ftplan.reports.charts import ROWS, Axis, Bar, Series, Span, bars, gantt, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import count, duration, figures_in, is_number, number, share, size
from ftplan.reports.palette import step_style
from ftplan.reports.plan_figures import DrawnState, Highlight, States

BEFORE = "as it is now"
#: Utilisation of a node in the summary.
USES = ("before", "after")


def _listed(plan: Plan, name: str) -> Sequence[Mapping[str, Any]]:
    listed: Sequence[Mapping[str, Any]] = (plan.plan or {}).get(name) or []
    return listed


def lead(plan: Plan) -> Sequence[str]:
    """Return how many key groups move in how many phases, how long they pause, and what it does to the load."""
    moves, phases, after = _listed(plan, "moves"), _listed(plan, "phases"), figures_in(plan.summary.get("after"))
    if not moves:
        return ["No key group has to move."]
    lost = sum(move.get("protocol") in AFTER_LOSS for move in moves)
    assisted = sum(move.get("protocol") in ASSISTED - AFTER_LOSS for move in moves)
    said = [f"{count(len(moves), 'key group')} {'moves' if len(moves) == 1 else 'move'}"]
    said[0] += f" in {count(len(phases), 'phase')}" if phases else ""
    said[0] += f", {assisted:,} of them to a node that has a checkpoint of theirs." if assisted else "."
    if lost:
        down = [seconds for seconds in outages(plan) if seconds is not None]
        late = f", the last {duration(max(down))} later" if down else ""
        said.append(f"{lost:,} of them come back from checkpoints after their node is gone{late}.")
    if is_number(after.get("longest_pause_s")):
        said.append(f"No pause is longer than {duration(after['longest_pause_s'])}.")
    before = figures_in(plan.summary.get("before"))
    if "highest_utilisation" in before and "highest_utilisation" in after:
        was, becomes = (share(some["highest_utilisation"]) for some in (before, after))
        said.append(f"The fullest node is at {becomes}, before at {was}.")
    return said


def outages(plan: Plan) -> Sequence[float | None]:
    """Return for how long each key group is down that comes back after the loss of its node, in their order.

    From the end of the notice until its pause is over; None where the plan does not state what that takes.
    """
    notice = plan.options.get("within_s")
    begins, end = {}, 0.0
    for number_of, phase in enumerate(_listed(plan, "phases")):
        begins[phase.get("phase", number_of)] = end
        end += phase["duration_s"] if is_number(phase.get("duration_s")) else float("nan")
    down: list[float | None] = []
    for move in _listed(plan, "moves"):
        if move.get("protocol") in AFTER_LOSS:
            begin, pause = begins.get(move.get("phase")), move.get("pause_s")
            if begin is None or not (is_number(begin) and is_number(pause) and is_number(notice)):
                down.append(None)
            else:
                down.append(max(0.0, begin - notice) + pause)
    return down


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return moves, pauses, time and utilisation."""
    before, after = (figures_in(plan.summary.get(name)) for name in ("before", "after"))
    peers = plan.summary.get("peers")
    direct = figures_in(peers.get("all_direct")) if isinstance(peers, Mapping) else {}
    listed = [Highlight("Key groups that move", number(len(_listed(plan, "moves"))))]
    if "longest_pause_s" in after:
        listed.append(Highlight("Longest pause", duration(after["longest_pause_s"])))
    if "latency_s" in after:
        beside = f"all sent directly: {duration(direct['latency_s'])}" if "latency_s" in direct else ""
        listed.append(Highlight("Pauses in sum", duration(after["latency_s"]), beside))
    if "bytes" in after:
        beside = f"all sent directly: {size(direct['bytes'])}" if "bytes" in direct else ""
        listed.append(Highlight("Transferred", size(after["bytes"]), beside))
    if "highest_utilisation" in after:
        beside = f"before: {share(before['highest_utilisation'])}" if "highest_utilisation" in before else ""
        listed.append(Highlight("Highest utilisation", share(after["highest_utilisation"]), beside))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return which tasks have key groups that move."""
    task_of = {operator.id: operator.task_of_key_groups() for operator in topology.operators}
    known: dict[tuple[str, int], DrawnState] = {}
    for move in _listed(plan, "moves"):
        tasks, group = task_of.get(move["operator"]), int(move["key_group"])
        if tasks is not None and group < len(tasks):
            known[move["operator"], int(tasks[group])] = DrawnState("some of its key groups move", "s4", "→", 1, "move")
    return known


def figures(plan: Plan) -> Sequence[Figure]:
    """Return utilisation by node before and after, the phases over time, and what other phases would take."""
    made = [_utilisation(plan), _phases(_listed(plan, "phases")), _front(plan)]
    return [item for item in made if item is not None]


def _utilisation(plan: Plan) -> Figure | None:
    nodes = [item for item in plan.summary.get("nodes") or [] if isinstance(item, Mapping) and "node" in item]
    known = [node for node in nodes if figures_in(node).keys() & USES]
    if not known:
        return None
    most, note = ROWS // 2, "in the order of their names"
    if len(known) > most:
        known.sort(key=lambda node: (-max(figures_in(node).get(name, 0.0) for name in USES), natural_key(node["node"])))
        note = f"the {most} that are fullest before or after"
        known = known[:most]
    rows = []
    for node in known:
        was, becomes = (node.get(name) for name in USES)
        rows.append(Bar(node["node"], was if is_number(was) else 0.0, share(was) if is_number(was) else "–", "other"))
        rows.append(Bar("", becomes if is_number(becomes) else 0.0, share(becomes) if is_number(becomes) else "–"))
    overload = plan.options.get("overload")
    limit = (overload, f"overloaded above {share(overload)}") if is_number(overload) else None
    said = f"Of the load that the plan is made for, {note}."
    key = (("other", "", "before"), ("value", "", "after"))
    return figure("Utilisation by node", said, lambda width: bars(rows, width, limit), key=key)


def _phases(phases: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Return when each phase begins and ends, and its longest pause."""
    if not phases or not all(is_number(phase.get("duration_s")) for phase in phases):
        return None
    rows, begin = [], 0.0
    for number_of, phase in enumerate(phases):
        end, name = begin + phase["duration_s"], f"phase {phase.get('phase', number_of)}"
        moved = count(int(phase.get("moves") or 0), "move")
        spans = [Span(begin, end, step_style(number_of), f"{name}: {moved}, {duration(end - begin)}")]
        if is_number(phase.get("longest_pause_s")) and phase["longest_pause_s"] > 0.0:
            pause = phase["longest_pause_s"]
            spans.append(Span(begin, begin + pause, "down-hatched", f"{name}: longest pause {duration(pause)}"))
        rows.append((name, spans))
        begin = end
    axis = "time since the first move"
    said = f"{count(len(phases), 'phase')}, one after another, {duration(begin)} in all."
    key = ((step_style(0), "", "moves under way"), ("down-hatched", "", "longest pause of a key group"))
    return figure("Phases over time", said, lambda width: gantt(rows, width, axis=axis), key=key)


def _front(plan: Plan) -> Figure | None:
    """Return the longest pause against the time that all phases take, where there is a choice."""
    front = [item for item in plan.summary.get("front") or [] if isinstance(item, Mapping)]
    points = sorted(
        (item["duration_s"], item["longest_pause_s"])
        for item in front
        if is_number(item.get("duration_s")) and is_number(item.get("longest_pause_s"))
    )
    if len(points) < 2:
        return None
    after = figures_in(plan.summary.get("after"))
    chosen = (after.get("duration_s"), after.get("longest_pause_s"))
    dots = [(point, "other") for point in points]
    if chosen[0] is not None and chosen[1] is not None:
        dots.append(((chosen[0], chosen[1]), "value"))
    said = f"{count(len(points), 'size')} of phases that no other one beats in both."
    key = (("other", "", "phases of another size"), ("value", "", "this plan"))
    return figure(
        "Longest pause against time",
        said,
        lambda width: lines(
            [Series(tuple(points), "other-line")],
            width,
            Axis("time that all phases take", duration, times=True),
            Axis("longest pause", duration, (0.0, max(pause for _, pause in points) * 1.05 or 1.0)),
            dots=dots,
        ),
        key=key,
    )

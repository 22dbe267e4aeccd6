"""Rebalances as tables: how good, what each node carries, which moves in which phase, and what else could be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.planners.rebalance.diff import RebalanceDifference, stated_total
from ftplan.planners.rebalance.figure import outages
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS
from ftplan.planners.views import (
    SHOWN,
    capped,
    changed_figures,
    changed_objective,
    changed_options,
    figure,
    headline,
    refusal,
    whole,
)
from ftplan.reports.answer import Answer, Table, cell

#: Characters of a command that a table shows.
LONGEST = 240
#: Figures of the load of nodes, and of moves, in ``before`` and ``after`` of the summary.
_OF_LOAD = {
    "highest_utilisation": "highest utilisation",
    "busiest_node": "of node",
    "lowest_utilisation": "lowest utilisation",
    "imbalance": "farthest from the fair share",
    "overloaded_nodes": "overloaded nodes",
    "overload_share": "windows with an overloaded node",
    "excess": "load above the limit, per s",
    "cross_zone_mb_s": "traffic between zones, MiB/s",
}
_OF_MOVES = {
    "moves": "moves",
    "assisted_share": "with a checkpoint on the target",
    "latency_s": "all pauses, each moved alone, s",
    "completion_s": "all moves, each alone, s",
    "bytes": "bytes moved",
    "phases": "phases",
    "longest_pause_s": "longest pause, s",
    "duration_s": "all phases, s",
    "after_loss": "recovered after the loss of their node",
    "new_copies": "checkpoints made anew",
    "new_copies_bytes": "their bytes",
    "copies_lost": "checkpoints fewer than before",
}


def answer(plan: Plan) -> Answer:
    """Return a rebalance as JSON and as tables."""
    summary = plan.summary
    tables = [_headline(plan)]
    tables += [*_loads(summary), *_takes(summary)]
    if plan.plan is not None:
        body = plan.plan
        moves = body["moves"]
        tables += [_by_protocol(moves)] if moves else []
        tables += _phases(body.get("phases") or [])
        tables += _moves([move for move in moves if move.get("protocol") not in AFTER_LOSS], "key group")
        lost = [move for move in moves if move.get("protocol") in AFTER_LOSS]
        tables += _moves(lost, "recovered in this order", outages(plan))
        copies = [(_group(c), c["to"], c["from"], figure(c, "bytes")) for c in body.get("new_copies") or []]
        tables += [capped(("checkpoint made anew", "on", "of the state on", "bytes"), copies)] if copies else []
    tables += _nodes(summary.get("nodes") or [], plan.options.get("overload"))
    tables += _front(summary.get("front") or [])
    tables += _suggestion(summary.get("suggestion"))
    return Answer(plan.to_json(), tables, _notes(plan))


def _group(item: Mapping[str, Any]) -> str:
    return f"{item['operator']}/{item['key_group']}"


def _headline(plan: Plan) -> Table:
    rows = headline(plan) + refusal(plan)
    body = plan.plan or {}
    for name, text in (("add_nodes", "fills"), ("remove_nodes", "drains")):
        rows += [(text, ", ".join(body[name]))] if body.get(name) else []
    tolerance = plan.options.get("tolerance")
    if tolerance != plan.options.get("tolerance_requested", tolerance) and tolerance != "none":
        rows.append(("tolerance", f"{cell(tolerance)} (the smallest feasible, for the nodes that are filled)"))
    assisted = plan.summary.get("assisted") or {}
    if assisted.get("preferred") is not None or assisted.get("not_preferred") is not None:
        preferred, plainly = (_percent(assisted.get(name)) for name in ("preferred", "not_preferred"))
        rows.append(("moves to a checkpoint", f"{preferred} where these are preferred, {plainly} where not"))
    rows += _payback(plan)
    rows.append(("rules", ", ".join(plan.rules or ()) or "none"))
    return Table(("rebalance", ""), rows)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _payback(plan: Plan) -> list[tuple[str, Any]]:
    """Return after which time the overload that is saved outweighs the pauses."""
    if not (plan.plan or {}).get("moves") or "payback" not in plan.summary:
        return []
    figures = plan.summary["payback"] or {}
    seconds, paused, saved = (figures.get(name) for name in ("payback_s", "paused", "saved_per_s"))
    if seconds is None:
        return [("pays back", "never: no overload is saved")]
    return [("pays back after", f"{cell(seconds)} s ({cell(paused)} paused, {cell(saved)} of overload saved a second)")]


def _loads(summary: Mapping[str, Any]) -> list[Table]:
    """Return the load of nodes after the moves beside that before."""
    before, after = (summary.get(name) or {} for name in ("before", "after"))
    columns = ("", "before", "after") if after else ("", "before")
    rows = [
        (text, before.get(name), after.get(name))[: len(columns)]
        for name, text in _OF_LOAD.items()
        if name in before or name in after
    ]
    return [Table(columns, rows)] if rows else []


def _takes(summary: Mapping[str, Any]) -> list[Table]:
    """Return what the moves take, beside the same key groups sent as they are, and to nodes at random."""
    others = {
        "all direct": (summary.get("peers") or {}).get("all_direct"),
        "to random nodes": summary.get("random"),
    }
    shown = {"": summary.get("after") or {}, **{text: figures for text, figures in others.items() if figures}}
    if not shown[""].get("moves") and not shown[""].get("new_copies"):
        return []
    rows = [
        (text, *(figure(figures, name) for figures in shown.values()))
        for name, text in _OF_MOVES.items()
        if shown[""].get(name) or name in ("moves", "latency_s")
    ]
    return [Table(("what it takes", "this plan", *list(shown)[1:]), rows)]


def _by_protocol(moves: Sequence[Mapping[str, Any]]) -> Table:
    """Return how many key groups move by each protocol, and why by this one."""
    kinds: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for move in moves:
        protocol, why = move.get("protocol"), move.get("reason")
        if protocol in AFTER_LOSS and isinstance(why, str):
            why = why.partition(":")[0]  # when it would have left stands with the move
        kinds.setdefault((protocol, why), []).append(move)
    rows = [
        (protocol, len(some), stated_total(some, "latency_s"), whole(stated_total(some, "bytes")), why)
        for (protocol, why), some in kinds.items()
    ]
    return Table(("protocol", "moves", "latency, s", "bytes", "why"), rows)


def _phases(phases: Sequence[Mapping[str, Any]]) -> list[Table]:
    names = ("phase", "moves", "bytes", "duration_s", "longest_pause_s", "highest_utilisation")
    columns = ("phase", "moves", "bytes", "duration, s", "longest pause, s", "highest utilisation")
    rows = [tuple(figure(phase, name) for name in names) for phase in phases]
    return [capped(columns, rows)] if rows else []


def _moves(moves: Sequence[Mapping[str, Any]], called: str, down: Sequence[float | None] | None = None) -> list[Table]:
    """Return moves as a list to tick off, phase by phase; *down* is for how long each key group is down in all."""
    names = ("phase", "from", "to", "protocol", "latency_s", "pause_s", "completion_s", "bytes", "reason")
    columns = ["done", called, "phase", "from", "to", "by", "latency, s", "pause, s", "completion, s", "bytes", "why"]
    rows = [["[ ]", _group(move), *(figure(move, name) for name in names)] for move in moves]
    if down is not None:
        columns.insert(-1, "down, s")
        for row, seconds in zip(rows, down, strict=True):
            row.insert(-1, seconds)
    return [capped(columns, rows, tick=True)] if rows else []


def _nodes(nodes: Sequence[Mapping[str, Any]], overload: Any) -> list[Table]:
    """Return the utilisation of the nodes: of those that change, where there are too many for a table."""
    listed = list(nodes)
    if len(listed) > SHOWN:
        listed = [node for node in listed if node.get("before") != node.get("after")]
        listed.sort(
            key=lambda node: (-max(node.get("before") or 0.0, node.get("after") or 0.0), natural_key(node["node"]))
        )
    rows = []
    for node in listed:
        was, becomes = (node.get(name) for name in ("before", "after"))
        over = [(use or 0.0) > (overload or float("inf")) * (1 + 1e-9) for use in (was, becomes)]
        rows.append((node["node"], was, becomes, "overloaded" if over[1] else "was overloaded" if over[0] else ""))
    return [capped(("node", "utilisation before", "after", ""), rows)] if rows else []


def _front(front: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return what other sizes of phases would take, where there is a choice."""
    names = ("phases", "longest_pause_s", "duration_s", "bytes")
    rows = [tuple(figure(point, name) for name in names) for point in front]
    columns = ("in so many phases", "longest pause, s", "all phases, s", "largest phase, bytes")
    return [capped(columns, rows)] if len(rows) > 1 else []


def _suggestion(suggestion: Mapping[str, Any] | None) -> list[Table]:
    """Return how many nodes to add or to remove."""
    if not suggestion:
        return []
    low, high = suggestion["band"]
    rows: list[tuple[str, Any]] = [("suggestion", suggestion["text"])]
    rows += [(text, suggestion.get(name)) for name, text in _SUGGESTED if suggestion.get(name) not in (None, [], "")]
    peaks = suggestion.get("for_peaks")
    if peaks:
        rows.append(("for the busiest", f"{peaks:,} nodes more would keep 95 % of the windows at most at {high:.0%}"))
    for step in suggestion.get("next") or ():
        rows.append(("run next", step if len(step) <= LONGEST else f"{step[:LONGEST]} … (the JSON has all of it)"))
    return [Table((f"for {low:.0%} to {high:.0%}", ""), rows)]


_SUGGESTED = (
    ("why", "why"),
    ("utilisation_before", "mean utilisation now"),
    ("utilisation_after", "then"),
    ("p95_before", "in 95 % of windows at most, now"),
    ("p95_after", "then"),
)


def _notes(plan: Plan) -> list[str]:
    rollback = (plan.plan or {}).get("rollback")
    if not rollback:
        return []
    pauses = stated_total(rollback, "latency_s")
    long = "" if pauses is None else f", {cell(pauses)} s of pauses in all"
    return [f"{len(rollback):,} moves undo it, the last phase first{long}: rollback in the JSON"]


def difference(changed: RebalanceDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(f"key-group:{_group(c)}", c["what"], c["from"], c["to"]) for c in changed.changes]
    tables = [capped(("key group", "what", "from", "to"), rows)] if rows else []
    tables += [*changed_figures(changed.figures, _OF_MOVES), *changed_options(changed)]
    groups = len({row[0] for row in rows})
    return tables, [f"{groups} of {changed.key_groups} key groups change; {changed_objective(changed)}"]

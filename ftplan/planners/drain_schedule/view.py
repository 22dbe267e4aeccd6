"""Drain schedules as tables: how good, a list to tick off, and what moves."""

from __future__ import annotations

from ftplan.model.plan import Plan
from ftplan.planners.drain_schedule.diff import DrainDifference
from ftplan.planners.views import capped, changed_objective, changed_options, headline, refusal, task_name
from ftplan.reports.answer import Answer, Table, cell

_FIGURES = (
    ("rounds", "rounds"),
    ("duration_s", "all rounds, s"),
    ("nodes_at_once", "most nodes at once"),
    ("lowest_fidelity", "lowest output fidelity"),
    ("lost_output_s", "full output lost, s"),
    ("queries_down", "most queries down at once"),
    ("priority_down", "their priority"),
)


def answer(plan: Plan) -> Answer:
    """Return a drain schedule as JSON and as tables."""
    tables = [_headline(plan), _beside(plan)]
    if plan.plan is not None:
        tables.append(_rounds(plan))
        moves = [
            (item["round"], task_name(move), move["from"], move["to"])
            for item in plan.plan["rounds"]
            for move in item["moves"]
        ]
        tables += [capped(("round", "task", "moves from", "to"), moves)] if moves else []
        left = [(item["node"], item["reason"]) for item in plan.plan["unplaced"]]
        tables += [capped(("in no round", "reason"), left)] if left else []
    return Answer(plan.to_json(), tables, _notes(plan))


def _notes(plan: Plan) -> list[str]:
    """Say which rules restarts one by one and zone by zone break."""
    peers = plan.summary.get("peers") or {}
    notes = []
    for name, figures in peers.items():
        broken = [*figures["breaks"], *(["room"] if figures.get("has_room") is False else [])]
        notes += [f"{name.replace('_', ' ')} breaks {', '.join(broken)}"] if broken else []
    return notes


def _headline(plan: Plan) -> Table:
    rows = headline(plan) + refusal(plan)
    rows.append(("nodes to restart", f"{cell(plan.summary.get('nodes'))} with {cell(plan.summary.get('tasks'))} tasks"))
    stop = plan.summary.get("ok_to_stop")
    if stop is not None:
        proof = "no set is larger" if stop["count"] == stop["bound"] else f"at most {cell(stop['bound'])} may"
        rows.append(("may stop now", f"{', '.join(stop['nodes'])} ({stop['count']} of up to {stop['most']}; {proof})"))
    rows.append(("rules", ", ".join(plan.rules or ()) or "none"))
    return Table(("drain schedule", ""), rows)


def _beside(plan: Plan) -> Table:
    """Return the plan's figures beside those of tools that restart one by one and zone by zone."""
    summary, peers = plan.summary, plan.summary.get("peers") or {}
    random = summary.get("random") or {}
    columns = {
        "this plan": summary.get("after"),
        "one by one": peers.get("one_by_one"),
        "zone by zone": peers.get("zone_by_zone"),
        f"random order (mean of {random.get('orders')})": random,
    }
    shown = {text: figures for text, figures in columns.items() if figures}
    rows = [(text, *(figures.get(name) for figures in shown.values())) for name, text in _FIGURES]
    return Table(("", *shown), rows)


def _rounds(plan: Plan) -> Table:
    assert plan.plan is not None
    rows = [
        (
            "[ ]",
            item["round"],
            ", ".join(item["nodes"]),
            ", ".join(item["zones"]),
            item["duration_s"],
            item["fidelity"],
            len(item["queries_down"]),
            len(item["moves"]),
        )
        for item in plan.plan["rounds"]
    ]
    columns = ("done", "round", "nodes", "zones", "duration, s", "fidelity", "queries down", "moves")
    return Table(columns, rows, tick=True)


def difference(changed: DrainDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rounds = [(c["node"], c["from"], c["to"]) for c in changed.changes if c["what"] == "round"]
    tables = [Table(("node", "round before", "after"), rounds)] if rounds else []
    moves = [(task_name(c), c["from"], c["to"]) for c in changed.changes if c["what"] == "move"]
    tables += [capped(("task", "moves to, before", "after"), moves)] if moves else []
    tables += changed_options(changed)
    note = f"{len(rounds)} of {changed.nodes} nodes change, {len(changed.rounds)} rounds; {changed_objective(changed)}"
    return tables, [note]

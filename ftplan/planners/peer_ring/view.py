"""Peer rings as tables: how good, who owns what, what moves, and what failures do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.planners.peer_ring.figure import OTHERS, lead, nodes, records, tokens
from ftplan.planners.peer_ring.view_failures import findings, percent
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
from ftplan.reports.answer import Answer, Table
from ftplan.reports.numbers import SPACE, is_number

#: Figures by which rings are compared, in the order of what counts first.
FIGURES = {
    "zone_losses": "arcs that one zone destroys",
    "zone_violations": "arcs with two copies in one zone",
    "largest_load": "largest load, of the fair share",
    "bytes": "bytes that travel",
    "highest_utilisation": "highest utilisation",
    "overloaded_nodes": "overloaded nodes",
    "copysets": "sets of nodes that hold a key group",
}


def answer(plan: Plan) -> Answer:
    """Return a peer ring as JSON and as tables."""
    tables = [_headline(plan), *_beside(plan)]
    if plan.plan is not None:
        tables += [*_nodes(plan), *_ledgers(plan), *_moves(plan)]
    return Answer(plan.to_json(), [*tables, *findings(plan), *_front(plan)], _notes(plan))


def _headline(plan: Plan) -> Table:
    rows = headline(plan) + refusal(plan)
    listed = tokens(plan)
    if listed:
        many = len({item.get("node") for item in listed})
        copies = plan.options.get("replication")
        rows.append(("nodes", f"{many:,} with {len(listed):,} tokens" if many != len(listed) else many))
        rows += [("copies of each key group", copies + 1)] if isinstance(copies, int) else []
    stuck = plan.summary.get("out_of_room")
    if stuck:
        rows.append(("need another node", ", ".join(map(str, stuck))))
    rows.append(("rules", ", ".join(plan.rules or ()) or "none"))
    return Table(("peer ring", ""), rows)


def _beside(plan: Plan) -> list[Table]:
    """Return the figures of this ring, the best that is possible, and other rings of the same nodes."""
    levels = plan.summary.get("levels") or {}
    after = {**{name: item.get("value") for name, item in levels.items()}, **(plan.summary.get("after") or {})}
    bounds = {name: item.get("bound") for name, item in levels.items()}
    columns = {"this plan": after, "at best": bounds}
    columns |= {text: plan.summary.get(name) or {} for name, text in OTHERS.items()}
    known = {text: figures for text, figures in columns.items() if any(v is not None for v in figures.values())}
    rows = [
        (text, *(figure(figures, name) for figures in known.values()))
        for name, text in FIGURES.items()
        if any(figures.get(name) is not None for figures in known.values())
        and (name != "zone_losses" or (plan.options.get("replication") or 0) > 1)  # with one backup it is the next row
    ]
    return [Table(("", *known), rows)] if rows else []


def _nodes(plan: Plan) -> list[Table]:
    """Return the nodes in the order of the ring, or by name where they have several tokens.

    Where there are too many for a table, the most loaded stand first.
    """
    facts = {str(item["node"]): item for item in nodes(plan)}
    listed = tokens(plan)
    if not listed:
        return []
    order = list(dict.fromkeys(str(item.get("node")) for item in listed))
    several = len(order) != len(listed)
    if several:
        order.sort(key=natural_key)
    if len(order) > SHOWN:
        order.sort(key=lambda name: (-_weight(facts.get(name) or {}), natural_key(name)))
    first: dict[str, Mapping[str, Any]] = {}
    for item in listed:
        first.setdefault(str(item.get("node")), item)
    rows = [_node(facts.get(name) or {}, first[name], several) for name in order]
    where = "tokens" if several else "token"
    columns: tuple[str, ...] = (
        "node",
        "zone",
        where,
        "load/s",
        "of fair share",
        "utilisation",
        "key groups",
        "state, bytes",
        "copies on",
    )
    if not any(item.get("zone") for item in first.values()):
        columns, rows = (columns[0], *columns[2:]), [(row[0], *row[2:]) for row in rows]
    table = capped(columns[:-1] if several else columns, rows)
    return [replace(table, title="the most loaded first") if len(order) > SHOWN else table]


def _node(facts: Mapping[str, Any], token: Mapping[str, Any], several: bool) -> tuple[Any, ...]:
    def known(name: str) -> Any:
        return facts.get(name, None if several else token.get(name))

    row = (
        str(token.get("node")),
        token.get("zone") or "–",
        facts.get("tokens") if several else f"{token['token']:.9g}",
        known("load"),
        facts.get("share"),
        percent(facts.get("utilisation")),
        known("key_groups"),
        whole(known("state_bytes")),
    )
    return row if several else (*row, ", ".join(map(str, token.get("backups") or ())) or "–")


def _weight(facts: Mapping[str, Any]) -> float:
    values = [facts.get(name) for name in ("share", "load")]
    return next((float(value) for value in values if is_number(value)), 0.0)


def _ledgers(plan: Plan) -> list[Table]:
    """Return what each kind of change costs."""
    names = ("moves", "takeover_bytes", "transfer_bytes", "rereplicate_bytes", "replayed_records")
    known = plan.summary.get("ledgers") or {}
    rows = [(event, *(figure(figures, name) for name in names)) for event, figures in known.items()]
    columns = ("event", "ranges", "to take over, bytes", "transferred", "copied again", "records replayed")
    return [Table(columns, rows)] if rows else []


def _moves(plan: Plan) -> list[Table]:
    """Return the ranges that move as a list to tick off, step by step."""
    names = ("transfer_bytes", "rereplicate_bytes", "replayed_records")
    rows = [
        (
            "[ ]",
            move.get("step"),
            move.get("event"),
            _range(move.get("range")),
            move.get("from"),
            move.get("to") if move.get("to") != move.get("from") else "stays",
            *(figure(move, name) for name in names),
        )
        for move in records(plan, "moves")
        if move.get("event") != "failure"
    ]
    columns = ("done", "step", "why", "range", "from", "to", "transferred, bytes", "copied", "records replayed")
    return [capped(columns, rows, tick=True)] if rows else []


def _range(ends: Any) -> str:
    if not isinstance(ends, Sequence) or len(ends) != 2 or not all(is_number(end) for end in ends):
        return "–"
    return f"{ends[0]:.6g}–{ends[1]:.6g}"


def _front(plan: Plan) -> list[Table]:
    """Return how few bytes buy how even a ring, where there is a choice."""
    front = plan.summary.get("front") or []
    rows = [(point.get("largest_load"), whole(point.get("bytes"))) for point in front if isinstance(point, Mapping)]
    return [capped(("for a largest load of", "bytes that travel"), rows)] if len(rows) > 1 else []


def _notes(plan: Plan) -> list[str]:
    return [" ".join(lead(plan)).replace(SPACE, " ")] if plan.plan is not None and tokens(plan) else []


def _place(change: Mapping[str, Any]) -> str:
    """Return what changes: a key group, or a range of the ring where nobody knows the key groups."""
    if "range" in change:
        first, last = change["range"]
        return f"from {first:.6g} to {last:.6g}"
    return f"key-group:{change['operator']}/{change['key_group']}"


def difference(changed: Any) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(_place(change), change["what"], change["from"], change["to"]) for change in changed.changes]
    tables = [capped(("key group", "what", "from", "to"), rows)] if rows else []
    tables += [*changed_figures(changed.figures, FIGURES), *changed_options(changed)]
    groups = len({row[0] for row in rows})
    return tables, [f"{groups} of {changed.key_groups} key groups change; {changed_objective(changed)}"]

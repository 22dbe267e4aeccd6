"""A simulated peer ring as tables: records, changes of the ring with their times, and nodes over time; a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ftplan.planners.views import capped
from ftplan.reports.answer import Table
from ftplan.reports.charts import Axis
from ftplan.reports.drawing import Figure
from ftplan.reports.numbers import duration
from ftplan.reports.sparkline import over_time
from ftplan.simulation.view import Document, logarithms, over_time_figure, powers, runs_text, seconds, spread

_FIGURES = (
    ("detected_s", "taken over after, s"),
    ("ready_s", "ready after, s"),
    ("caught_up_s", "caught up after, s"),
    ("restored_s", "all copies again after, s"),
    ("moves", "moves of load, joins, leaves"),
    ("peak_queue_records", "most waiting at a node, records"),
    ("peak_kept_records", "most kept by a node, records"),
    ("copied_bytes", "full copies sent, bytes"),
)
_RECORDS = (
    ("sent", "records sent"),
    ("lost", "lost though a copy should have been left"),
    ("excused", "lost, since all who held them failed"),
    ("twice", "counted twice"),
    ("replayed", "processed again"),
)
#: What is told over time of each node, and what a line calls it.
_OVER_TIME = (
    ("rate", "processed, to {} a second"),
    ("queue_records", "waiting, to {} records"),
    ("kept_records", "kept for others, to {}"),
)
#: Nodes whose lines over time are shown.
SHOWN = 6


def tables(document: Document) -> list[Table]:
    """Return all tables of a simulation's document, the figures first."""
    shown = [_figures(document)]
    if document["changes"]:
        shown.append(_changes(document))
    if document["faults"]:
        rows = [
            (item["run"], item["what"], item["records"], item["key_groups"], item["first"])
            for item in document["faults"]
        ]
        shown.append(capped(("run", "what is wrong", "records", "key groups", "the first one"), rows))
    return [*shown, _over_time(document)]


def _figures(document: Document) -> Table:
    counts = "no record lost" if document["nothing_lost"] else "RECORDS LOST"
    if document["nothing_lost"] and document["faults"]:
        counts = "no record lost of which a copy was left"
    title = f"{runs_text(document['runs'])}; {counts}"
    rows = [(text, _figure(document["summary"][name])) for name, text in _FIGURES]
    rows += [(text, _figure(document["records"][name])) for name, text in _RECORDS]
    return Table(("", "figure"), rows, title)


def _figure(value: Document | None) -> Any:
    """Return a figure over runs, without quantiles where all runs agree."""
    same = value is not None and value["p5"] == value["p95"]
    return spread({**value, "high": None} if value is not None and same else value)


def _changes(document: Document) -> Table:
    several = document["runs"] > 1
    rows = [
        (
            *((item["run"],) if several else ()),
            seconds(item["begun_s"]),
            item["event"] + (" (given up)" if item["given_up"] else ""),
            f"{', '.join(item['others'])} -> {item['node']}",
            f"{item['key_groups']:,}" + (f", {item['lost_key_groups']:,} lost" if item["lost_key_groups"] else ""),
            round(item["replayed"], 1),
            *(seconds(item[name]) for name in ("decided_s", "ready_s")),
            None if item["predicted"] is None else seconds(item["predicted"]["ready_s"]),
            *(seconds(item[name]) for name in ("caught_up_s", "restored_s")),
        )
        for item in document["changes"]
    ]
    columns = (
        *(("run",) if several else ()),
        "at, s", "event", "from -> to", "key groups", "replayed", "decided after, s", "ready", "foretold",
        "caught up", "copies again",
    )  # fmt: skip
    return capped(columns, rows)


def _over_time(document: Document) -> Table:
    nodes = _shown(document)
    left_out = len(document["nodes"]) - len(nodes)
    title = f"{left_out:,} more nodes: all are in the document" if left_out else None
    return replace(over_time(nodes, "node", _OVER_TIME, document["until_s"]), title=title)


def _shown(document: Document) -> Sequence[Document]:
    """Return the nodes that are shown over time, in their order: rather those that changed."""
    chosen = {node["node"] for node in _changed_first(document)[:SHOWN]}
    return [node for node in document["nodes"] if node["node"] in chosen]


def _changed_first(document: Document) -> list[Document]:
    """Return the nodes of the first run: those that gave or took anything, and then the others, each in their order."""
    changed = {name for item in document["changes"] if item["run"] == 0 for name in (item["node"], *item["others"])}
    return sorted(document["nodes"], key=lambda node: node["node"] not in changed)


def simulation_figure(document: Document) -> Figure:
    """Return what nodes process, what waits there and what they keep, a line for each of the first; and the latency."""
    shown = [(str(node["node"]), node) for node in _changed_first(document)]
    latency, first = logarithms(document["latency_s"]), shown[0][1]
    panels = (
        (lambda node: node["over_time"]["rate"], Axis("records that a node processes in a second")),
        (lambda node: node["over_time"]["queue_records"], Axis("records that wait at a node")),
        (lambda node: node["over_time"]["kept_records"], Axis("records that a node keeps for others")),
        (
            lambda node: latency if node is first else [None] * len(latency),
            Axis("latency, from when records are sent until they count", powers(duration)),
        ),
    )
    return over_time_figure("A peer ring over time", "time", document, shown, "nodes", panels)

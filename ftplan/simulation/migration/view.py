"""Simulated migrations as tables: moves beside what was foretold, or adaptation in figures and period by period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.planners.views import capped
from ftplan.reports.answer import Table, cell
from ftplan.reports.sparkline import levels, line_width, sparkline
from ftplan.simulation.view import DIGITS, Document, runs_text, spread

#: What a table says of a time that nothing came to.
NOT_ENDED = "not ended"
#: Figures, what a table calls them, and whether they are shares.
_FIGURES = (
    ("moves", "moves", False),
    ("assisted_share", "assisted", True),
    ("usable_share", "usable copies", True),
    ("latency_s", "paused, s", False),
    ("bytes", "bytes", False),
    ("copies_moved", "copies moved", False),
    ("overloaded_after", "node-periods of overload left", False),
)


def tables(document: Document) -> list[Table]:
    """Return the tables of a simulation's document."""
    if document["level"] == "trace":
        return [_adaptations(document["trace"]), _over_time(document["trace"])]
    return _of_messages(document["messages"])


def _of_messages(body: Document) -> list[Table]:
    """Return the phases, the moves, and what went wrong."""
    runs = runs_text(body["runs"])
    once = "every record counted once and in order" if body["exactly_once"] else "NOT exactly once"
    phases = [
        (item["phase"], item["moves"], *_both(item, "duration_s"), *_both(item, "pause_s")) for item in body["phases"]
    ]
    columns = ("phase", "moves", "foretold, s", "took, s", "longest pause foretold, s", "it was, s")
    shown = [Table(columns, phases, f"{runs}; {once}"), _moves(body)]
    if body["faults"]:
        rows = [
            (f"{item['operator']}/{item['key_group']}", item["run"], item["what"], item["records"],
             f"{item['number']} of upstream instance {item['upstream']}")
            for item in body["faults"]
        ]  # fmt: skip
        shown.append(capped(("key group", "run", "what is wrong", "records", "the first one"), rows))
    return shown


def _moves(body: Document) -> Table:
    rows = [
        (
            item["phase"],
            f"{item['operator']}/{item['key_group']}",
            item["from"],
            item["to"],
            item["protocol"],
            *_both(item, "pause_s"),
            *_both(item, "completion_s"),
            spread(item["simulated"]["longest_delay_s"], NOT_ENDED),
            round(item["replayed"]),
        )
        for item in body["moves"]
    ]
    columns = (
        "phase", "key group", "from", "to", "protocol", "pause foretold, s", "it was, s",
        "done foretold, s", "it was, s", "latest record, s", "replayed",
    )  # fmt: skip
    return capped(columns, rows)


def _both(item: Document, name: str) -> tuple[Any, Any]:
    return round(item["predicted"][name], DIGITS), spread(item["simulated"][name], NOT_ENDED)


def _adaptations(body: Document) -> Table:
    rows = [
        (
            item["allocation"],
            item["preferred"],
            *(_with_confidence(item["summary"][name], share) for name, _, share in _FIGURES),
        )
        for item in body["adaptations"]
    ]
    idle = f"{body['without_adaptation']['overloaded_nodes']:,} node-periods"
    most = max(item["runs"] for item in body["adaptations"])
    several = f"; mean ± 95 % confidence over {most:,} draws" if most > 1 else ""
    periods = f"{body['periods']:,} period{'s' if body['periods'] > 1 else ''}"
    title = f"{periods} of {cell(body['period_s'])} s; without moves {idle} of overload{several}"
    return Table(("allocation", "hosts of copies preferred", *(text for _, text, _ in _FIGURES)), rows, title)


def _with_confidence(value: Document | None, share: bool) -> str | None:
    if value is None:
        return None
    shown = [value["mean"]] + ([] if value["high"] is None else [value["high"] - value["mean"]])
    return " ± ".join(f"{100.0 * number:.1f}" if share else cell(number) for number in shown) + (" %" if share else "")


def _over_time(body: Document) -> Table:
    """Return what happens over time, where both are there of the adaptations that prefer hosts of copies alone."""
    adaptations = [item for item in body["adaptations"] if item["preferred"] == body["adaptations"][0]["preferred"]]
    high = {name: _most(adaptations, name) for name in ("overloaded_before", "moves", "latency_s")}
    texts = {
        "overloaded_before": f"overloaded nodes, to {cell(high['overloaded_before'])}",
        "moves": f"moves, to {cell(high['moves'])}",
        "latency_s": f"paused, to {cell(high['latency_s'])} s",
        "usable": "usable copies, to 100 %",
    }
    longest = max(len(item["allocation"]) for item in adaptations) + max(map(len, texts.values()))
    width = line_width(longest)
    characters, rows = levels(), []
    for item in adaptations:
        over_time = item["over_time"]
        for what, text in texts.items():
            values = _shares(over_time) if what == "usable" else over_time[what]
            rows.append((item["allocation"], text, sparkline(values, width, high.get(what, 1.0), characters)))
    return Table(("allocation", "in each period", "over time"), rows)


def _most(adaptations: Sequence[Document], name: str) -> float:
    return float(max(max(item["over_time"][name]) for item in adaptations))


def _shares(over_time: Document) -> list[float | None]:
    """Return the share of usable copies in each period, None where no node is overloaded."""
    pairs = zip(over_time["usable"], over_time["wanted"], strict=True)
    return [usable / wanted if wanted else None for usable, wanted in pairs]

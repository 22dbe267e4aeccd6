"""Simulated moves as tables: phase by phase and move by move, what was foretold beside what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.planners.views import capped
from ftplan.reports.answer import Table, cell

Document = Mapping[str, Any]

#: Digits of times: what is beyond a millisecond is of no use to people.
DIGITS = 3


def tables(body: Document) -> list[Table]:
    """Return the phases, the moves, and what went wrong."""
    runs = "1 run" if body["runs"] == 1 else f"{body['runs']:,} runs: mean (5 … 95 %)"
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
            _figure(item["simulated"]["longest_delay_s"]),
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
    return round(item["predicted"][name], DIGITS), _figure(item["simulated"][name])


def _figure(value: Document | None) -> Any:
    if value is None:
        return "not ended"
    mean = round(value["mean"], DIGITS)
    if value["high"] is None:
        return mean
    return f"{cell(mean)} ({cell(round(value['p5'], DIGITS))} … {cell(round(value['p95'], DIGITS))})"

"""Simulated scaling as tables: modes in figures, their splits, what went wrong, and all of it over time; a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ftplan.planners.views import capped
from ftplan.reports.answer import Table
from ftplan.reports.charts import Axis
from ftplan.reports.drawing import Figure
from ftplan.reports.numbers import duration
from ftplan.reports.sparkline import over_time
from ftplan.simulation.view import Document, logarithms, over_time_figure, powers, runs_text, seconds, spread

_FIGURES = (
    ("mean_latency_s", "mean latency, s"),
    ("longest_latency_s", "longest latency, s"),
    ("throughput", "records done a second"),
    ("peak_queue_records", "peak queue, records"),
    ("longest_pause_s", "longest pause, s"),
    ("core_s", "core-seconds"),
    ("most_executors", "most tasks"),
    ("late_starts", "late starts"),
    ("replayed", "records replayed"),
)
#: What is told over time, and what a line calls it.
_OVER_TIME = (
    ("latency_s", "latency, to {} s"),
    ("queue_records", "queue, to {} records"),
    ("throughput", "throughput, to {} a second"),
    ("executors", "tasks, to {}"),
)


def tables(document: Document) -> list[Table]:
    """Return all tables of a simulation's document, the figures first."""
    modes = document["modes"]
    shown = [_figures(document)]
    if any(mode["splits"] for mode in modes):
        shown.append(_splits(modes))
    if any(mode["faults"] for mode in modes):
        rows = [
            (mode["mode"], fault["operator"], fault["run"], fault["what"], fault["batches"], fault["first"])
            for mode in modes
            for fault in mode["faults"]
        ]
        shown.append(capped(("mode", "operator", "run", "what is wrong", "batches", "the first one"), rows))
    return [*shown, over_time(modes, "mode", _OVER_TIME, document["until_s"])]


def _figures(document: Document) -> Table:
    modes = document["modes"]
    once = (
        "every record counted once and in order" if all(mode["exactly_once"] for mode in modes) else "NOT exactly once"
    )
    title = f"{runs_text(document['runs'])}; {once}"
    rows = [(text, *(spread(mode["summary"][name]) for mode in modes)) for name, text in _FIGURES]
    return Table(("", *(mode["mode"] for mode in modes)), rows, title)


def _splits(modes: Sequence[Document]) -> Table:
    rows = [
        (
            mode["mode"],
            item["operator"],
            item["technique"] or "no state",
            f"{item['tasks_from']} -> {item['tasks_to']}",
            seconds(item["prepared_s"]),
            f"{seconds(item['promoted_s'])}{' (late)' if item['late'] else ''}",
            seconds(item["ended_s"]),
            None if item["predicted"] is None else seconds(item["predicted"]["pause_s"]),
            seconds(item["pause_s"]),
            seconds(item["level_s"]),
        )
        for mode in modes
        for item in mode["splits"]
        if item["promoted_s"] is not None
    ]  # fmt: skip
    columns = (
        "mode", "operator", "by", "tasks", "prepared, s", "promoted, s", "done, s", "pause foretold, s", "it was, s",
        "caught up after, s",
    )  # fmt: skip
    given_up = sum(item["promoted_s"] is None for mode in modes for item in mode["splits"])
    shown = capped(columns, rows)
    return replace(shown, title=f"prepared and given up: {given_up:,}") if given_up and not shown.title else shown


def simulation_figure(document: Document) -> Figure:
    """Return latency, queue, throughput and tasks over time, a line for each mode."""
    panels = (
        (
            lambda mode: logarithms(mode["over_time"]["latency_s"]),
            Axis("latency, from when input is there until its last output", powers(duration)),
        ),
        (lambda mode: mode["over_time"]["queue_records"], Axis("records that wait")),
        (lambda mode: mode["over_time"]["throughput"], Axis("records of the input done in a second")),
        (lambda mode: mode["over_time"]["executors"], Axis("tasks that run")),
    )
    shown = [(str(mode["mode"]), mode) for mode in document["modes"]]
    return over_time_figure("Scaling over time", "time", document, shown, "modes", panels)

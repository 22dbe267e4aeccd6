"""Simulated recoveries as tables, in figures, against each other, query by query and over time; and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.planners.views import capped, task_name
from ftplan.reports.answer import Table, cell
from ftplan.reports.charts import Axis
from ftplan.reports.drawing import Figure
from ftplan.reports.numbers import count, number, size
from ftplan.reports.sparkline import levels, line_width, sparkline
from ftplan.simulation.view import Cells, Document, logarithms, over_time_figure, powers

_FIGURES = (
    ("priority_down_s", "priority x seconds down"),
    ("first_back_s", "first query back, s"),
    ("last_back_s", "last query back, s"),
    ("peak_lag_records", "peak lag, records"),
    ("lag_record_s", "lag, records x s"),
    ("peak_queue_records", "peak queue, records"),
    ("peak_buffer_bytes", "peak buffer, bytes"),
    ("spilled_bytes", "spilled, bytes"),
    ("duplicates", "duplicates dropped"),
)
#: Recoveries whose figures a table shows with quantiles.
FEW = 2


def tables(document: Document) -> list[Table]:
    """Return all tables of a simulation's document, the figures first; of one run, these say all differences."""
    recoveries = document["recoveries"]
    names = titles(recoveries)
    shown = [_figures(document, names)]
    others = zip(document["comparison"], names[1:], strict=True) if document["runs"] > 1 else ()
    shown += [_differences(item, name, names[0]) for item, name in others]
    return [*shown, _queries(recoveries, names), _over_time(document, names)]


def titles(recoveries: Sequence[Document]) -> list[str]:
    """Return what to call each recovery: its mode, and its plan where there are several."""
    several = len({item["plan"] for item in recoveries}) > 1
    return [f"{item['mode']}, {item['plan'] or item['algorithm']}" if several else item["mode"] for item in recoveries]


def _figures(document: Document, names: Sequence[str]) -> Table:
    """Return the figures of all recoveries; quantiles of a few alone."""
    runs, recoveries = document["runs"], document["recoveries"]
    few = len(recoveries) <= FEW
    confidence = f": mean ± 95 % confidence{' (median, 5 … 95 %)' if few else ''}"
    what = count(runs, "run") + ("" if runs == 1 else confidence)
    rows = [(text, *(_figure(item["summary"][name], runs, few) for item in recoveries)) for name, text in _FIGURES]
    return Table((what, *names), rows)


def _figure(value: Document | None, runs: int, few: bool) -> Any:
    if value is None or runs == 1:
        return None if value is None else value["mean"]
    half = "" if value["high"] is None else f" ± {cell(value['high'] - value['mean'])}"
    quantiles = f" ({cell(value['p50'])}, {cell(value['p5'])} … {cell(value['p95'])})" if few else ""
    known = "" if value["runs"] == runs else f" in {count(value['runs'], 'run')}"
    return f"{cell(value['mean'])}{half}{quantiles}{known}"


def _differences(item: Document, name: str, first: str) -> Table:
    text = dict(_FIGURES)
    rows = []
    for row in item["differences"]:
        limits = None if row["low"] is None else f"{cell(row['low'])} … {cell(row['high'])}"
        rows.append((text[row["figure"]], row["mean"], limits, row["less"], row["equal"], row["more"]))
    columns = (f"{name}, more than {first}", "mean", "95 %", "less in runs", "equal", "more")
    return Table(columns, rows)


def _queries(recoveries: Sequence[Document], names: Sequence[str]) -> Table:
    """Return when each query is back, those that are never down left out."""
    rows = [
        (task_name(of_query[0]), of_query[0]["priority"], *map(_back, of_query))
        for of_query in zip(*(item["queries"] for item in recoveries), strict=True)
        if any(query["down_s"] for query in of_query)
    ]
    return capped(("query", "priority", *(f"back, s: {name}" for name in names)), rows)


def _back(query: Document) -> Any:
    if not query["runs_down"]:
        return "never down"
    if query["back_s"] is None:
        return "not back"
    if query["runs_not_back"]:
        return f"{cell(query['back_s'])}, not back in {count(query['runs_not_back'], 'run')}"
    return query["back_s"]


def _over_time(document: Document, names: Sequence[str]) -> Table:
    recoveries, characters = document["recoveries"], levels()
    priority = sum(query["priority"] for query in recoveries[0]["queries"])
    lag = max(value for item in recoveries for value in item["lag_records"])
    rows: list[tuple[str, str, str]] = []
    width = line_width(max(map(len, names)) + len(f"lag, to {cell(lag)}"))
    for item, name in zip(recoveries, names, strict=True):
        available = available_priority(item)
        rows.append((name, f"back, of {cell(priority)}", sparkline(available, width, priority, characters)))
        rows.append((name, f"lag, to {cell(lag)}", sparkline(item["lag_records"], width, lag, characters)))
    first, last = document["time_s"][0], document["time_s"][-1]
    return Table(("", "priority available, lag", f"from {cell(first)} s to {cell(last)} s"), rows)


def simulation_figure(document: Document) -> Figure:
    """Return what is available, how late the output is, the lag, and what is buffered, a line for each recovery."""
    priority = sum(query["priority"] for query in document["recoveries"][0]["queries"])
    panels = (
        (available_priority, Axis("priority of the queries that are available", reach=(0.0, priority))),
        (_latency, Axis("latency, times the usual one (mean over output)", powers(number))),
        (lambda item: item["lag_records"], Axis("records that wait in the sources' logs")),
        (_buffered, Axis("most output that the tasks of a query keep", size)),
    )
    shown = [(_name(item), item) for item in document["recoveries"]]
    return over_time_figure("Recoveries over time", "time since the failure", document, shown, "recoveries", panels)


def available_priority(recovery: Document) -> list[float]:
    """Return the summed priority of the queries that are available, cell by cell."""
    columns = ([query["priority"] * share for share in query["available"]] for query in recovery["queries"])
    return [sum(values) for values in zip(*columns, strict=True)]


def _latency(recovery: Document) -> Cells:
    """Return the logarithm of the relative latency, the mean over queries with output by priority."""
    means: list[float | None] = []
    for values in zip(*(query["relative_latency"] for query in recovery["queries"]), strict=True):
        known = [
            (query["priority"], value)
            for query, value in zip(recovery["queries"], values, strict=True)
            if value is not None and value > 0.0
        ]
        weight = sum(priority for priority, _ in known)
        means.append(sum(p * v for p, v in known) / weight if known else None)
    return logarithms(means)


def _buffered(recovery: Document) -> list[float]:
    columns = (query["buffered_bytes"] for query in recovery["queries"])
    return [max(values) for values in zip(*columns, strict=True)]


def _name(recovery: Document) -> str:
    return f"{recovery['mode']}, {recovery['plan']}" if recovery["plan"] else str(recovery["mode"])

"""More or less traffic: everything that is per second, times a factor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.documents import sha256_of_data
from ftplan.io.stats_tables import checked_table
from ftplan.io.topology_model import OperatorModel
from ftplan.io.validation import Loaded, default_of
from ftplan.io.what_if_cases import TrafficModel
from ftplan.model.plan import InputFile
from ftplan.model.problem import StatsTables

#: Columns of statistics that grow with traffic; state, memory and queues do not.
SCALED: Mapping[str, tuple[str, ...]] = {
    "key_groups": ("records", "bytes", "cpu_ms"),
    "tasks": ("records_in", "records_out", "cpu_ms", "busy_ms"),
    "substreams": ("records",),
}


def scaled_topology(value: Mapping[str, Any], traffic: TrafficModel, *, measured: bool) -> dict[str, Any]:
    """Return a topology's document under more or less traffic.

    ``rate_out`` and the rates of ``substreams`` are records a second, and ``cpu`` is cpu seconds a second (which
    ``cpu: false`` leaves as it is). State, selectivities, shares, cpu seconds a record and priorities stay. A source
    without a rate emits 1 record a second, and now as many as the factor, unless statistics say what it emits.
    """
    factor = traffic.factor
    edges = [dict(edge) for edge in value.get("edges") or ()]
    fed = {edge["to"] for edge in edges} | {edge["from"] for edge in edges if edge.get("substreams") is not None}
    operators = [dict(entry) for entry in value["operators"]]
    for entry in operators:
        if entry.get("rate_out") is not None:
            entry["rate_out"] = _times(entry["rate_out"], factor)
        elif entry["id"] not in fed and not measured:
            entry["rate_out"] = factor
        if traffic.cpu:
            entry["cpu"] = _times(entry.get("cpu", default_of(OperatorModel, "cpu")), factor)
    for edge in edges:
        if edge.get("substreams") is not None:
            edge["substreams"] = [[sender, receiver, rate * factor] for sender, receiver, rate in edge["substreams"]]
    return {**value, "operators": operators, **({"edges": edges} if "edges" in value else {})}


def _times(value: Any, factor: float) -> Any:
    return [item * factor for item in value] if isinstance(value, list) else value * factor


def scaled_stats(stats: Loaded[StatsTables], factor: float) -> Loaded[StatsTables]:
    """Return statistics of more or less traffic: records, bytes, cpu and busy time times a factor.

    Raises
    ------
    FtplanError
        If a value is then out of its range.
    """
    import pyarrow.compute as pc

    tables = {}
    for kind, table in stats.value.tables.items():
        for name in SCALED.get(kind, ()):
            column = table.schema.get_field_index(name)
            table = table.set_column(column, table.schema.field(column), pc.multiply(table[name], factor))
        try:
            tables[kind] = checked_table(table, kind, stats.value.manifest, f"statistics: {kind}")
        except FtplanError as error:
            raise FtplanError(f"traffic: {error}") from None
    digest = sha256_of_data([stats.input.sha256, "traffic", factor])
    return replace(stats, value=replace(stats.value, tables=tables), input=InputFile("stats", None, digest))

"""What becomes of documents where traffic changes, or nodes, operators or tasks come and go.

More or less traffic is everything that is per second, times a factor. Tasks of nodes that are gone go to other nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.documents import sha256_of_data
from ftplan.io.placement_checks import PARTS
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

Placed = dict[str, dict[str, list[Any]]]


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

    Raises FtplanError if a value is then out of its range.
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


def placement_without(cluster: Mapping[str, Any], nodes: Collection[str], operators: Collection[str]) -> Placed:
    """Return the placement of a cluster, whose list of nodes lacks those taken out, without them and the operators.

    Tasks, and primaries of key groups, that stood on them go to the nodes left that accept tasks, round robin in file
    order; checkpoint copies and replicas there are gone.

    Raises FtplanError if no node is left that accepts tasks.
    """
    placement: Placed = {
        part: {name: list(listed) for name, listed in cluster["placement"][part].items() if name not in operators}
        for part in PARTS
        if cluster["placement"].get(part) is not None
    }
    hosts = _hosts(cluster)
    for part in ("tasks", "key_groups"):
        for listed in placement.get(part, {}).values():
            listed[:] = [next(hosts) if node in nodes else node for node in listed]
    for name, copies in placement.get("checkpoints", {}).items():
        placement["checkpoints"][name] = [[node for node in entry if node not in nodes] for entry in copies]
    for listed in placement.get("replicas", {}).values():
        listed[:] = [None if node in nodes else node for node in listed]
    return placement


def fitted_placement(
    cluster: Mapping[str, Any], before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]
) -> Placed:
    """Return the placement of a cluster whose operators got other numbers of tasks or key groups.

    Of fewer tasks the last are gone; more go to the nodes that accept tasks, round robin in file order, each
    operator's first to the first. More replicas there are none. Primaries and checkpoint copies of key groups are
    left out where their number changed, and primaries where that of tasks did: they are where the tasks are.
    """
    given = cluster["placement"]
    placement: Placed = {part: dict(given[part]) for part in PARTS if given.get(part) is not None}
    old = {entry["id"]: entry for entry in before}
    for entry in after:
        was, name = old.get(entry["id"], entry), entry["id"]
        tasks, groups = (entry.get(field) != was.get(field) for field in ("parallelism", "key_groups"))
        count = entry.get("parallelism", 1)
        if tasks and isinstance(count, (int, float)):
            hosts = _hosts(cluster)
            for part, more in (("tasks", hosts), ("replicas", cycle([None]))):
                if name in placement.get(part, {}):
                    placement[part][name] = _resized(placement[part][name], int(count), more)
        if tasks or groups:
            placement.get("key_groups", {}).pop(name, None)
        if groups:
            placement.get("checkpoints", {}).pop(name, None)
    return placement


def _hosts(cluster: Mapping[str, Any]) -> Iterator[str]:
    """Yield the nodes that accept tasks, round robin in file order."""
    hosts = [node["id"] for node in cluster["nodes"] if "tasks" in node.get("accepts", ("tasks",))]

    def turns() -> Iterator[str]:
        if not hosts:
            raise FtplanError("no node is left that accepts tasks")
        yield from cycle(hosts)

    return turns()


def _resized(listed: Sequence[Any], count: int, more: Iterator[Any]) -> list[Any]:
    return [*listed[:count], *(next(more) for _ in range(count - len(listed)))]

"""What becomes of a cluster's placement where nodes, operators or tasks come and go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.placement_checks import PARTS

Placed = dict[str, dict[str, list[Any]]]


def placement_without(cluster: Mapping[str, Any], nodes: Collection[str], operators: Collection[str]) -> Placed:
    """Return the placement of a cluster, whose list of nodes lacks those taken out, without them and the operators.

    Tasks, and primaries of key groups, that stood on them go to the nodes left that accept tasks, round robin in file
    order; checkpoint copies and replicas there are gone.

    Raises
    ------
    FtplanError
        If no node is left that accepts tasks.
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

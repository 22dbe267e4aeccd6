"""What can be asked of an import, as importers see it; see :mod:`ftplan.api.importing` for checks and help."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ftplan.errors import FtplanError

ZoneMap = str | os.PathLike[str] | Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """How an engine's answers become a topology and a cluster.

    Attributes
    ----------
    name, job, query
        Name of the topology; which job of several; which queries of several (empty: all).
    parallelism, partitions
        ``N`` for all operators (topics) of which the engine does not say it, or ``NAME=N`` for one, which wins over
        what the engine says.
    correlated, independent
        Operators, by id, name or engine's key, that join their inputs, or do not.
    node_by
        What a node is: a host, or a process (task manager, supervisor, executor), where several share a host.
    cores
        Cores of a node of which the engine does not say them.
    """

    name: str | None = None
    job: str | None = None
    query: tuple[str, ...] = ()
    parallelism: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    correlated: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    node_by: Literal["host", "process"] = "host"
    cores: float | None = None
    zone_map: ZoneMap | None = None
    break_cycles: bool = False
    strict: bool = False


#: The largest count that a file may hold.
MOST = 10_000_000


def counts(given: tuple[str, ...], option: str) -> tuple[int | None, dict[str, int]]:
    """Return the count for all names, None where none is given, and the counts by name.

    Raises FtplanError if one is neither ``N`` nor ``NAME=N``.
    """
    every: int | None = None
    named: dict[str, int] = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        if not (number.isascii() and number.isdigit() and len(number) < 9 and 1 <= int(number) <= MOST) or (
            equals and not name
        ):
            raise FtplanError(f"{option}: {text!r} is neither a whole number from 1 to {MOST:,} nor NAME=NUMBER")
        if equals:
            named[name] = int(number)
        else:
            every = int(number)
    return every, named

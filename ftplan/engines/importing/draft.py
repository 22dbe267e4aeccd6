"""What an importer takes and gives: the options of an import, and what it learnt of a job in the engine's own names.

An importer is a function ``read(source, options) -> Draft``. It knows its engine only: ids, slugs, cycles, zones, edges
that stand twice and everything else that is alike for all engines is for :mod:`ftplan.engines.importing.finish`. Checks
and help of the options are in :mod:`ftplan.api.importing`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn

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


Partitioning = Literal["full", "one-to-one", "split", "merge"]


@dataclass(slots=True)
class DraftOperator:
    """An operator as its engine calls it; what is None is not known.

    ``key`` is the engine's own id, unique within the job; ``name`` what people read. Lists have one entry per task.
    ``parallelism`` 0 is not known: ``--parallelism`` says it, or 1 is assumed.
    """

    key: str
    name: str
    parallelism: int
    key_groups: int | None = None
    correlated: bool = False
    output: bool | None = None
    cpu: Sequence[float] | float | None = None
    rate_out: Sequence[float] | float | None = None
    input_share: Sequence[float] | None = None
    selectivity: float | None = None
    state_bytes: Sequence[float] | float | None = None
    record_time_s: float | None = None
    checkpoint_interval_s: float | None = None
    checkpoint_kind: Literal["incremental", "full"] | None = None
    deterministic: bool = True
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class DraftEdge:
    """A stream between operators, by their keys; measured ``substreams`` are (from task, to task, records/s)."""

    source: str
    target: str
    partitioning: Partitioning = "full"
    substreams: Sequence[tuple[int, int, float]] | None = None


@dataclass(slots=True)
class DraftNode:
    """A host: task manager, supervisor or executor ids change at every restart, hosts do not."""

    host: str
    cpu: float | None = None
    memory_mb: float | None = None
    zone: str | None = None


@dataclass(slots=True)
class Draft:
    """A job and, where the engine tells, the hosts it runs on.

    Placements map an operator's key to hosts: ``tasks`` by task index, ``key_groups`` by key group, ``checkpoints`` to
    a list of hosts per key group, ``replicas`` to a host or None per task. Hosts in them are those of ``nodes``.
    """

    name: str
    operators: list[DraftOperator] = field(default_factory=list)
    edges: list[DraftEdge] = field(default_factory=list)
    nodes: list[DraftNode] = field(default_factory=list)
    tasks: dict[str, list[str]] = field(default_factory=dict)
    key_groups: dict[str, list[str]] = field(default_factory=dict)
    checkpoints: dict[str, list[list[str]]] = field(default_factory=dict)
    replicas: dict[str, list[str | None]] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)
    notes: list[Warn] = field(default_factory=list)

    def assume(self, code: str, message: str) -> None:
        """Note what the engine does not say and what is taken instead; ``--strict`` makes it an error."""
        self.warnings.append(Warn(code, message))

    def note(self, code: str, message: str) -> None:
        """Note what was left out or changed by a documented rule, without guessing."""
        self.notes.append(Warn(code, message))

"""What an importer takes and gives: the options of an import, and what it learnt of a job in the engine's own names.

An importer is a function ``read(source, options) -> Draft``. It knows its engine only: ids, slugs, cycles, zones, edges
that stand twice and everything else that is alike for all engines is for :mod:`ftplan.engines.importing.finish`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ftplan.errors import FtplanError
from ftplan.io.options.fields import FLAG, Check, Options, number, one_of, option, optional, path, texts
from ftplan.model.plan import Warn

ZoneMap = str | os.PathLike[str] | Mapping[str, str]


def _text(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError


def _zone_map(value: Any) -> Any:
    return value if isinstance(value, Mapping) else path(value)


def _counts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return texts([str(item) if type(item) is int else item for item in items])


_TEXT = optional(Check("a name", _text))
_OPERATORS = Check("an operator's id or name, or a list of them", texts, "texts")
_COUNTS = Check("N or NAME=N, or a list of them", _counts, "texts")


@dataclass(frozen=True, kw_only=True)
class ImportOptions(Options):
    """The options of ``ftplan import-topology``: how an engine's answers become a topology and a cluster.

    ``N`` of parallelism and partitions is for all of which the engine does not say it, ``NAME=N`` for one, and wins
    over what the engine says. A node is a host, or a process (task manager, supervisor, executor), where several share
    a host. Operators are named by id, name or engine's key.
    """

    name: str | None = option(None, _TEXT, "Name of the topology.  [default: as the engine has it]", metavar="TEXT")
    job: str | None = option(
        None, _TEXT, "Which job, topology or application of several, by id or name.", metavar="NAME"
    )
    query: tuple[str, ...] = option(
        (), Check("a name, or a list of them", texts, "texts"), "Which queries of a file; repeatable.", metavar="NAME"
    )
    parallelism: tuple[str, ...] = option(
        (), _COUNTS, "Tasks of operators where the engine does not say it, or of one: NAME=N; repeatable.",
        metavar="N|NAME=N",
    )  # fmt: skip
    partitions: tuple[str, ...] = option(
        (), _COUNTS, "Partitions of topics (Kafka Streams), or of one: TOPIC=N; repeatable.", metavar="N|TOPIC=N"
    )
    correlated: tuple[str, ...] = option(
        (), _OPERATORS, "This operator joins its inputs, whatever its name looks like; repeatable.", metavar="OPERATOR"
    )
    independent: tuple[str, ...] = option(
        (), _OPERATORS, "This operator does not join its inputs; repeatable.", metavar="OPERATOR"
    )
    node_by: Literal["host", "process"] = option(
        "host", one_of("host", "process"), "What a node is: process where several of one host fail by themselves."
    )
    cores: float | None = option(
        None, optional(number(1e-9, 1e6)), "Cores of a node where the engine does not say them.", metavar="X"
    )
    zone_map: ZoneMap | None = option(
        None,
        optional(Check("a path, or a mapping of hosts to zones", _zone_map)),
        "Zones of hosts: YAML or JSON (host: zone), or CSV rows of host,zone.",
        metavar="FILE",
    )
    break_cycles: bool = option(False, FLAG, "Cut cycles, as few edges as possible, and say which.")
    strict: bool = option(False, FLAG, "Refuse to assume anything that the engine does not say.")


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import.

    Attributes
    ----------
    topology
        A document, as ``ftplan.load`` takes it.
    cluster
        Another; None where the engine names no hosts.
    assumptions
        What the engine does not say, and what is taken instead.
    notes
        What was left out or changed by rule, and what the readers warn of.
    """

    topology: dict[str, Any]
    cluster: dict[str, Any] | None
    assumptions: tuple[Warn, ...] = ()
    notes: tuple[Warn, ...] = ()


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
    slots: int | None = None


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

    def take_nodes(self, known: Mapping[str, DraftNode]) -> None:
        """Take nodes over by host, and all others on which tasks are placed."""
        hosts = dict.fromkeys(host for listed in self.tasks.values() for host in listed)
        self.nodes = [*known.values(), *(DraftNode(host) for host in hosts if host not in known)]

    def assume(self, code: str, message: str) -> None:
        """Note what the engine does not say and what is taken instead; ``--strict`` makes it an error."""
        self.warnings.append(Warn(code, message))

    def note(self, code: str, message: str) -> None:
        """Note what was left out or changed by a documented rule, without guessing."""
        self.notes.append(Warn(code, message))

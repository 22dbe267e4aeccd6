"""What an importer has learnt of a job, in the engine's own names, before it becomes a topology and a cluster.

An importer is a function ``read(source, options) -> Draft``. It knows its engine only: ids, slugs, cycles, zones, edges
that stand twice and everything else that is alike for all engines is for :mod:`ftplan.engines.importing.finish`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ftplan.model.plan import Warn

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

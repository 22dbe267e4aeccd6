"""What a planner is asked about: the inputs, read and checked, with their fingerprints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.plan import InputFile, Warn
from ftplan.model.statistics import Manifest
from ftplan.model.topology import Topology

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class StatsTables:
    """A statistics folder in memory: the manifest and the Arrow tables that it has."""

    manifest: Manifest
    tables: Mapping[str, pa.Table]
    placement: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """The inputs of a plan. Any of them may be missing; a planner says which it needs.

    Attributes
    ----------
    topology
        The job; None where it was not given, as with all inputs.
    cluster
        Nodes, zones, network, and what is placed.
    stats
        The manifest and the tables of a statistics folder.
    failure
        What fails and what arrives.
    inputs
        Role, path and hash of each, which plans record.
    warnings
        What deserves a second look, each with a ``code`` and a ``message``.
    """

    topology: Topology | None = None
    cluster: Cluster | None = None
    stats: StatsTables | None = None
    failure: Failure | None = None
    inputs: tuple[InputFile, ...] = ()
    warnings: tuple[Warn, ...] = field(default=())

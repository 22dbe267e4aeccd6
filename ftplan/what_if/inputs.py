"""The inputs of cases: read once, held against each other, and kept where several cases share them."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ftplan.io.cluster_file import load_cluster
from ftplan.io.documents import STANDARD_INPUT, Document, display_name, read_document
from ftplan.io.failure_file import load_failure
from ftplan.io.loading import Source, problem_of
from ftplan.io.plan_file import load_plan
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.io.validation import Loaded
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem, StatsTables
from ftplan.planners.plan_inputs import a_plan
from ftplan.what_if.delta import Input

#: Checked inputs, and problems, that are kept for further cases.
KEPT = 32

_LOAD: Mapping[str, Callable[[Document], Loaded[Any]]] = {
    "topology": load_topology,
    "cluster": load_cluster,
    "failure": load_failure,
    "plan": load_plan,
}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a case: documents as they were read or changed; statistics as tables. None: without."""

    topology: Document | None = None
    cluster: Document | None = None
    failure: Document | None = None
    stats: Loaded[StatsTables] | None = None
    spread: bool = False

    def with_files(self, files: Mapping[str, Input]) -> Inputs:
        """Return the inputs with others in their place, by role."""
        return replace(self, **files) if files else self  # type: ignore[arg-type]  # each role has what its field takes

    @property
    def fingerprints(self) -> tuple[str | None, ...]:
        """The hashes of all inputs, None where there is none."""
        inputs = (self.topology, self.cluster, self.failure, self.stats)
        return tuple(None if item is None else _sha256(item) for item in inputs)

    @property
    def names(self) -> tuple[str | None, ...]:
        """What messages, and plans, call the inputs."""
        documents = (self.topology, self.cluster, self.failure)
        stats = None if self.stats is None else self.stats.input.path
        return (*(None if item is None else f"{item.name} {item.path}" for item in documents), stats)


class Reader:
    """Reads files, each once and checked by itself; relative paths start at a folder (None: the working folder)."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = folder
        self._inputs: dict[tuple[str, str], Input] = {}

    def path(self, source: str) -> str:
        """Return a path as seen from the working folder."""
        if source == STANDARD_INPUT or self._folder is None:
            return source
        return display_name(os.path.normpath(Path(self._folder) / os.path.expanduser(source)))

    def read(self, role: str, source: Source) -> Input:
        """Read an input, a plan or another document that an option takes, from a path or a mapping.

        Raises FtplanError if it cannot be read or is invalid.
        """
        if isinstance(source, Mapping):
            return _read(role, source)
        key = (role, self.path(os.fspath(source)))
        if key not in self._inputs:
            self._inputs[key] = _read(*key)
        return self._inputs[key]

    def fingerprints(self) -> list[str]:
        """Return the hashes of all that was read from files, by role and path."""
        return [_sha256(self._inputs[key]) for key in sorted(self._inputs)]


def _sha256(item: Input) -> str:
    return item.sha256 if isinstance(item, Document) else item.input.sha256


def _read(role: str, source: Source) -> Input:
    if role == "stats":
        return load_stats(source)
    document = read_document(source, role)
    if role in _LOAD:  # other files are checked by whoever takes them
        _LOAD[role](document)
    return document


class Problems:
    """Makes problems of inputs; the last :data:`KEPT` are kept. A copy in another process begins empty."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Problems, ())

    def of(self, inputs: Inputs) -> Problem:
        """Return the problem of inputs that were read.

        Raises FtplanError if they are invalid, or do not fit each other.
        """

        def load() -> Problem:
            topology = self._loaded("topology", inputs.topology)
            job = None if topology is None else topology.value
            cluster = self._loaded("cluster", inputs.cluster, topology=job)
            machines = None if cluster is None else cluster.value
            failure = self._loaded("failure", inputs.failure, topology=job, cluster=machines)
            return problem_of(topology, cluster, inputs.stats, failure, spread=inputs.spread)

        problem: Problem = self._once((inputs.fingerprints, inputs.names, inputs.spread), load)
        return problem

    def plan(self, document: Document) -> Plan:
        """Return a plan that was read."""
        loaded = self._loaded("plan", document)
        assert loaded is not None
        return a_plan(loaded.value)

    def _loaded(self, role: str, document: Document | None, **others: Any) -> Loaded[Any] | None:
        """Return a checked document; *others* are inputs that it was held against, the same ones for the same key."""
        if document is None:
            return None
        load = _LOAD[role]
        key = (role, document.sha256, document.name, document.path, *(id(other) for other in others.values()))
        # the others are kept beside the value: while it is, no other object has their ids
        loaded, _ = self._once(key, lambda: (load(document, **others), others))
        assert isinstance(loaded, Loaded)
        return loaded

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            made = make()
            self._kept[key] = made
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

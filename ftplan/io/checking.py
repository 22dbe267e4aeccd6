"""``ftplan check``: whether files can be read, and what they hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError, shortened
from ftplan.io.cluster_file import load_cluster
from ftplan.io.configuration import read_configuration
from ftplan.io.documents import Document, display_name, read_document
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.failure_file import load_failure
from ftplan.io.plan_file import load_plan
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.io.validation import FORMATS, Loaded, check_envelope
from ftplan.metrics.key_group_series import key_group_series
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.kinds import row
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import StatsTables
from ftplan.model.topology import Topology

#: Files are read in this order, so that each can be held against those before it.
_ORDER = ("topology", "cluster", "failure", "stats", "plan", "evaluation", "configuration")


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid file: its kind, what messages call it, how many of what it holds, and what deserves a second look."""

    kind: str
    name: str
    summary: Mapping[str, int]
    warnings: tuple[Warn, ...]


@dataclass(slots=True)
class _Known:
    """What was read so far; None also where two files contend."""

    topology: Topology | None = None
    cluster: Cluster | None = None


def check_file(path: str | os.PathLike[str], topology: Topology | None = None) -> Checked:
    """Check one input file or statistics folder, against a *topology* where one is given.

    Raises
    ------
    FtplanError
        One sentence with file, place, what is wrong and what would be right.
    """
    kind, source = _kind_and_source(path)
    return _check(kind, source, _Known(topology))


def check_files(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Checked], list[FtplanError]]:
    """Check several files, in the order given; where one topology (or cluster) is among them, the others against it.

    Returns the valid ones and one error for each of the others.
    """
    found: dict[int, Checked | FtplanError] = {}
    opened: list[tuple[int, str, Any]] = []
    for i, path in enumerate(paths):
        try:
            opened.append((i, *_kind_and_source(path)))
        except FtplanError as error:
            found[i] = error
    known = _Known()
    kinds = [kind for _, kind, _ in opened]
    for i, kind, source in sorted(opened, key=lambda entry: _ORDER.index(entry[1])):
        try:
            found[i] = _check(kind, source, known, keep=kinds.count(kind) == 1)
        except FtplanError as error:
            found[i] = error
    results = [found[i] for i in range(len(paths))]
    return (
        [result for result in results if isinstance(result, Checked)],
        [result for result in results if isinstance(result, FtplanError)],
    )


def _kind_and_source(path: str | os.PathLike[str]) -> tuple[str, Any]:
    if os.fspath(path) != "-" and Path(path).is_dir():
        return "stats", path
    if Path(path).suffix.lower() == ".toml":
        return "configuration", path
    document = read_document(path, "ftplan")
    value = document.value
    kind = value.get("format") if isinstance(value, Mapping) else None
    readable = {f"ftplan/{name}": name for name in _ORDER}
    if isinstance(kind, str) and kind in readable:
        return readable[kind], document
    if isinstance(kind, str) and kind in FORMATS:
        raise FtplanError(f"{document.name}: format: {kind} files cannot be checked yet")
    check_envelope(document, "ftplan/topology")
    raise AssertionError("an unknown format passed")


def _check(kind: str, source: Any, known: _Known, keep: bool = False) -> Checked:
    if kind == "configuration":
        configuration = read_configuration(Path(source), {}, None)
        return Checked(kind, display_name(source), {"inputs": len(configuration.inputs)}, ())
    name = source.name if isinstance(source, Document) else display_name(source)
    loaded, summary = _LOADERS[kind](source, known)
    if keep and kind in ("topology", "cluster"):
        setattr(known, kind, loaded.value)
    return Checked(kind, name, summary, loaded.warnings + _ignored(loaded, name))


def _ignored(loaded: Loaded[Any], name: str) -> tuple[Warn, ...]:
    """Return a warning for each unknown key that was not warned of before."""
    places: dict[str, list[str]] = {}
    for place in loaded.ignored:
        places.setdefault(place.rpartition(".")[2], []).append(place)
    warned = " ".join(warning.message for warning in loaded.warnings if warning.code == "UNKNOWN_KEY")
    texts = []
    for all_places in places.values():
        if f" {all_places[0]}: " not in warned:
            more = f" (and {len(all_places) - 1} more)" if len(all_places) > 1 else ""
            texts.append(f"{name}: {all_places[0]}: unknown key is ignored{more}")
    return tuple(Warn("UNKNOWN_KEY", shortened(text)) for text in texts)


def _topology(source: Any, known: _Known) -> tuple[Loaded[Topology], dict[str, int]]:
    loaded = load_topology(source)
    topology = loaded.value
    return loaded, {
        "operators": len(topology.operators),
        "tasks": topology.task_count,
        "edges": len(topology.edges),
        "key groups": sum(operator.key_groups or 0 for operator in topology.operators),
        "outputs": sum(operator.output for operator in topology.operators),
    }


def _cluster(source: Any, known: _Known) -> tuple[Loaded[Cluster], dict[str, int]]:
    loaded = load_cluster(source, known.topology)
    cluster = loaded.value
    summary = {"nodes": len(cluster.nodes), "zones": len({node.zone for node in cluster.nodes if node.zone})}
    if cluster.placement is not None:
        summary["placed tasks"] = sum(map(len, cluster.placement.tasks.values()))
    return loaded, summary


def _failure(source: Any, known: _Known) -> tuple[Loaded[Failure], dict[str, int]]:
    loaded = load_failure(source, known.topology, known.cluster)
    failure = loaded.value
    counts = {"failures": failure.fail, "arrivals": failure.arrivals, "scenarios": failure.scenarios}
    return loaded, {key: len(value) for key, value in counts.items()}


def _stats(source: Any, known: _Known) -> tuple[Loaded[StatsTables], dict[str, int]]:
    loaded = load_stats(source)
    series = key_group_series(loaded.value, loaded.value.manifest.measures[0], known.topology)
    return loaded, {
        "operators": len(loaded.value.manifest.operators),
        "key groups": len(series.key_group),
        "windows": loaded.value.manifest.windows,
        "tables": len(loaded.value.tables),
    }


def _plan(source: Any, known: _Known) -> tuple[Loaded[Plan], dict[str, int]]:
    loaded = load_plan(source)
    table = row(loaded.value.kind).table
    rows = (loaded.value.plan or {}).get(table)
    return loaded, {table: len(rows) if isinstance(rows, list) else 0}


def _evaluation(source: Any, known: _Known) -> tuple[Loaded[Mapping[str, Any]], dict[str, int]]:
    loaded = load_evaluation(source)
    return loaded, {"metrics": len(loaded.value["metrics"])}


_LOADERS: Mapping[str, Callable[[Any, _Known], tuple[Loaded[Any], dict[str, int]]]] = {
    "topology": _topology,
    "cluster": _cluster,
    "failure": _failure,
    "stats": _stats,
    "plan": _plan,
    "evaluation": _evaluation,
}

"""``ftplan check``: whether files can be read, what they hold, and in a repository which of them belong together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftplan.engines.collecting.collection import CollectionHead, load_collection
from ftplan.engines.prometheus.mapping import load_mapping
from ftplan.engines.prometheus.queries import QueryMapping
from ftplan.errors import FtplanError
from ftplan.io.checkpoint_interval_file import load_checkpoint_interval
from ftplan.io.cluster_file import load_cluster
from ftplan.io.configuration import FILE_NAME, read_configuration, stated_format
from ftplan.io.documents import Document, display_name, read_document
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.failure_file import load_failure
from ftplan.io.plan_file import load_plan
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.io.validation import FORMATS, Loaded, check_envelope
from ftplan.io.what_if_file import WhatIfModel, load_what_if
from ftplan.io.what_if_result import load_what_if_result
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.kinds import row
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import StatsTables
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.topology import Topology
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import FuzzyRules
from ftplan.planners.scale_out.bottlenecks.rules_file import load_bottleneck_rules
from ftplan.simulation.document import load_simulation


def ours(paths: Sequence[str]) -> list[str]:
    """Return those of many files that can be checked, each once; the manifest of statistics stands for its folder."""
    found = []
    for path in paths:
        if os.path.exists(path) and not os.path.isdir(path):
            kind = stated_format(path)
            if kind == "ftplan/stats":
                path = os.path.dirname(path) or "."
            elif kind is None or (kind in FORMATS and kind not in READABLE):
                continue
        found.append(path)
    return list(dict.fromkeys(found))


def check_projects(paths: Sequence[str]) -> Outcome:
    """Check files, each against the topology and the cluster of its own project.

    A project is a folder with an ``ftplan.toml`` and what lies below it, else the folder of the file. The inputs that
    an ``ftplan.toml`` names are checked too: what was valid may not be so any more beside what has changed.
    """
    projects: dict[Path, list[str]] = {}
    for path in paths:
        projects.setdefault(_project(path), []).append(path)
    checked: list[Checked] = []
    errors: list[FtplanError] = []
    for folder, members in projects.items():
        inputs, mistake = _inputs(folder, members)
        valid, wrong = check_files([*members, *(path for path in inputs if not _among(path, members))], inputs)
        checked += valid
        errors += [*mistake, *wrong]
    return checked, errors


def _project(path: str) -> Path:
    """Return the folder of a file's project."""
    folder = Path(path).absolute()
    own = folder if folder.is_dir() else folder.parent
    return next((above for above in (own, *own.parents) if (above / FILE_NAME).is_file()), own)


def _inputs(folder: Path, members: Sequence[str]) -> tuple[list[str], list[FtplanError]]:
    """Return the inputs that a project names and that are there, or what is wrong with its ``ftplan.toml``."""
    file = folder / FILE_NAME
    if not file.is_file():
        return [], []
    try:
        named = read_configuration(file, {}, None).inputs
    except FtplanError as error:
        return [], [] if _among(str(file), members) else [error]
    whole = any(_among(path, members) for path in (str(file), named.get("topology", "")))
    roles = [role for role in named if role != "stats" or whole]  # tables take time, and only the topology binds them
    return [named[role] for role in roles if os.path.exists(named[role])], []


def _among(path: str, members: Sequence[str]) -> bool:
    return os.path.realpath(path) in map(os.path.realpath, members)


#: What reads a kind of file. They are read in this order, so that each can be held against those before it.
_READERS: Mapping[str, Callable[..., Loaded[Any]]] = {
    "topology": load_topology,
    "cluster": load_cluster,
    "failure": load_failure,
    "stats": load_stats,
    "plan": load_plan,
    "evaluation": load_evaluation,
    "what-if": load_what_if,
    "what-if-result": load_what_if_result,
    "recovery-costs": load_recovery_costs,
    "bottleneck-rules": load_bottleneck_rules,
    "checkpoint-interval": load_checkpoint_interval,
    "collection": load_collection,
    "prometheus-mapping": load_mapping,
    "simulation": load_simulation,
}
_ORDER = (*_READERS, "configuration")
#: The formats that can be checked, and what they are called here.
READABLE = {f"ftplan/{name}": name for name in _ORDER}


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid file: its kind, what messages call it, how many of what it holds, and what deserves a second look."""

    kind: str
    name: str
    summary: Mapping[str, int]
    warnings: tuple[Warn, ...]


Outcome = tuple[list[Checked], list[FtplanError]]


@dataclass(slots=True)
class _Known:
    """What was read so far; None also where two files contend."""

    topology: Topology | None = None
    cluster: Cluster | None = None


def check_files(
    paths: Sequence[str | os.PathLike[str]], leading: Sequence[str | os.PathLike[str]] = ()
) -> tuple[list[Checked], list[FtplanError]]:
    """Check several files, in the order given; where one topology (or cluster) is among them, the others against it.

    Of several it is the one that is *leading*, which are some of the files.

    Returns the valid ones and one error for each of the others.
    """
    outcomes: dict[int, Checked | FtplanError] = {}
    opened: list[tuple[int, str, Any]] = []
    for i, path in enumerate(paths):
        try:
            opened.append((i, *_kind_and_source(path)))
        except FtplanError as error:
            outcomes[i] = error
    known = _Known()
    first = {os.path.realpath(path) for path in leading}
    led = {i for i, _, _ in opened if os.path.realpath(paths[i]) in first}
    for i, kind, source in sorted(opened, key=lambda entry: (_ORDER.index(entry[1]), entry[0] not in led)):
        try:
            alike = [j for j, other, _ in opened if other == kind]
            outcomes[i] = _check(kind, source, known, keep=[i] == ([j for j in alike if j in led] or alike))
        except FtplanError as error:
            outcomes[i] = error
    results = [outcomes[i] for i in range(len(paths))]
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
    if isinstance(kind, str) and kind in READABLE:
        return READABLE[kind], document
    if isinstance(kind, str) and kind in FORMATS:
        raise FtplanError(f"{document.name}: format: {kind} files are checked with the folder that they are in")
    check_envelope(document, "ftplan/topology")
    raise AssertionError("an unknown format passed")


def _check(kind: str, source: Any, known: _Known, keep: bool) -> Checked:
    if kind == "configuration":
        configuration = read_configuration(Path(source), {}, None)
        return Checked(kind, display_name(source), {"inputs": len(configuration.inputs)}, ())
    name = source.name if isinstance(source, Document) else display_name(source)
    beside = {"cluster": (known.topology,), "failure": (known.topology, known.cluster)}.get(kind, ())
    loaded = _READERS[kind](source, *beside)
    summary = _summary(loaded.value, known.topology)
    warnings = loaded.warnings + loaded.ignored
    if isinstance(loaded.value, StatsTables) and known.topology is not None:
        warnings += measured_topology(known.topology, loaded.value).warnings
    if keep and kind in ("topology", "cluster"):
        setattr(known, kind, loaded.value)
    return Checked(kind, name, summary, warnings)


def _summary(value: Any, topology: Topology | None) -> dict[str, int]:
    """Return how many there are of what a file holds."""
    match value:
        case Topology():
            return {
                "operators": len(value.operators),
                "tasks": value.task_count,
                "edges": len(value.edges),
                "key groups": sum(operator.key_groups or 0 for operator in value.operators),
                "outputs": sum(operator.output for operator in value.operators),
            }
        case Cluster():
            counts = {"nodes": len(value.nodes), "zones": len({node.zone for node in value.nodes if node.zone})}
            if value.placement is not None:
                counts["placed tasks"] = sum(map(len, value.placement.tasks.values()))
            return counts
        case Failure():
            return {"failures": len(value.fail), "arrivals": len(value.arrivals), "scenarios": len(value.scenarios)}
        case StatsTables():
            series = key_group_series(value, value.manifest.measures[0], topology)
            return {
                "operators": len(value.manifest.operators),
                "key groups": len(series.key_group),
                "windows": value.manifest.windows,
                "tables": len(value.tables),
            }
        case Plan():
            table = row(value.kind).table
            rows = (value.plan or {}).get(table)
            return {table: len(rows) if isinstance(rows, list) else 0}
        case WhatIfModel():
            return {"cases": len(value.cases), "axes": len(value.grid)}
        case CollectionHead():
            return {"options": len(value.options)}
        case QueryMapping():
            return {"queries": sum(map(len, value.sections.values()))}
        case FuzzyRules():
            return {"inputs": len(value.inputs), "rules": len(value.rules)}
        case RecoveryCosts():
            return {"parameters": len(value.estimates)}
        case {"format": "ftplan/what-if-result"}:
            return {"cases": len(value["rows"]), "columns": len(value["columns"])}
        case {"format": "ftplan/checkpoint-interval"}:
            return {"intervals": len(value["table"])}
        case {"format": "ftplan/simulation"}:
            return {name: len(value[name]) for name in ("recoveries", "warnings") if name in value}
        case _:
            return {"metrics": len(value["metrics"])}

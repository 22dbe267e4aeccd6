"""Topologies of Apache Storm: the UI's REST pages, Flux, and topologies decoded from Thrift.

A task of ftplan is an executor, the thread that fails and moves; Storm's own tasks, whose number is fixed for the
lifetime of a topology and over which a fields grouping hashes, are its key groups.

Topologies that were decoded from Thrift to JSON are ``{"name", "conf", "components": [{"id", "kind", "parallelism",
"resources", "out_streams"}], "edges": [{"from", "stream", "to", "grouping", "fields"}]}``; a parallelism of null is
Storm's own choice.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ftplan.engines.importing.draft import Draft, ImportOptions
from ftplan.engines.importing.parts import Part
from ftplan.engines.importing.source import EngineSource
from ftplan.engines.storm import ui
from ftplan.engines.storm.components import component, connect, grouping, is_coordination, is_system
from ftplan.errors import FtplanError
from ftplan.io.documents import decoded, display_name, parse_text, read_bytes
from ftplan.io.parsers import plain_scalar

_SUBSTITUTE = re.compile(r"\$\{([^}]*)\}")
_PROPERTY = re.compile(r"\s*([^#!\s:=][^:=\s]*)\s*[:=\s]\s*(.*?)\s*")
_JOIN = "JoinBolt"
_LISTS = ("spouts", "bolts", "streams")


def is_include(value: Any) -> bool:
    """Return whether a document has nothing of a topology's own: it is a configuration, or for others to include."""
    return not isinstance(value, dict) or not any(
        key in value for key in ("spouts", "bolts", "topologySource", "edges")
    )


def read_flux(value: Any, name: str, source: EngineSource, options: ImportOptions) -> Draft:
    """Return the topology that a Flux file defines; files of ``.properties`` beside it fill in ``${...}``.

    Raises FtplanError if the file holds a configuration only, its topology is made by a class, or an include that
    is a file is missing.
    """
    whole = Part(value, name)
    if not isinstance(value, dict):
        raise whole.wrong("a topology of Flux or of Storm's UI")
    draft = Draft(name)
    value = _substituted(_included(value, whole, source, draft), _properties(source))
    whole = Part(value, name)
    if whole.at("topologySource").value is not None:
        text = "its topology is made by a class when it is submitted: import it from Storm's UI"
        raise FtplanError(f"{name}: topologySource: {text}")
    if not any(value.get(key) for key in ("spouts", "bolts")):
        shown = ", ".join([*list(value)[:3], *["…"] * (len(value) > 3)])
        raise FtplanError(f"{name}: is a configuration only ({shown}): it has no spouts and bolts")
    draft.name = whole.at("name").text() if whole.at("name").value is not None else Path(name).stem
    for key in ("spouts", "bolts"):
        for part in whole.at(key).each():
            parallelism = 1 if part.at("parallelism").value is None else _count(part.at("parallelism"))
            tasks = _count(part.at("numTasks")) if "numTasks" in part else None
            operator = component(part.at("id").text(), parallelism, tasks, part.at("cpuLoad").number())
            made = part.at("className").value
            operator.labels = {"class": made} if isinstance(made, str) else {}
            operator.correlated = isinstance(made, str) and made.endswith(_JOIN)
            draft.operators.append(operator)
    streams = []
    for part in whole.at("streams").each():
        ends = part.at("from").text(), part.at("to").text()
        kind = part.at("grouping").at("type").text()
        if not any(map(is_system, ends)):
            streams.append((*ends, grouping(kind)))
    connect(draft, streams, options)
    return draft


def _count(part: Part) -> int | None:
    """Return a count; None where a ``${...}`` in it is not known, and for Flux's -1."""
    if part.value == -1 or (isinstance(part.value, str) and _SUBSTITUTE.search(part.value)):
        return None
    return part.count()


def _properties(source: EngineSource) -> dict[str, str]:
    """Return the properties of the files that end in ``.properties``, as Java reads simple ones."""
    properties = {}
    for path in source.paths:
        if path.endswith(".properties"):
            name = display_name(path)
            for line in decoded(read_bytes(path, "properties"), name).splitlines():
                if match := _PROPERTY.fullmatch(line):
                    properties[match[1]] = match[2]
    return properties


def _substituted(value: Any, properties: dict[str, str]) -> Any:
    """Return data with ``${name}`` and ``${ENV-NAME}`` filled in where they are known."""
    if isinstance(value, dict):
        return {key: _substituted(item, properties) for key, item in value.items()}
    if isinstance(value, list):
        return [_substituted(item, properties) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value

    def known(match: re.Match[str]) -> str:
        key = match[1]
        value = os.environ.get(key[4:]) if key.startswith("ENV-") else properties.get(key)
        return match[0] if value is None else value

    filled = _SUBSTITUTE.sub(known, value)
    return value if filled == value else plain_scalar(filled)


def _included(value: dict[str, Any], whole: Part, source: EngineSource, draft: Draft) -> dict[str, Any]:
    """Return a document with what it includes; includes of included files count as little as with Flux."""
    merged = dict(value)
    for part in whole.at("includes").each():
        file, override = part.at("file").text(), part.at("override").value is True
        resource = part.at("resource").value is True
        path = _located(file, source)
        if path is None:
            if not resource:
                raise FtplanError(f"{part.where}: there is no file {file!r}, nor one of its name beside the topology")
            draft.assume("INCLUDE_MISSING", f"{part.where}: the resource {file!r} is not here and counts as empty")
            continue
        name = display_name(path)
        other = Part(parse_text(decoded(read_bytes(path, "Flux"), name), name, path), name)
        merged = _merged(merged, other, override)
    return merged


def _located(file: str, source: EngineSource) -> str | None:
    """Return the path of an included file: as it is written, or of the same name beside what was given."""
    beside = [str(Path(path).parent / Path(file).name) for path in source.paths if path != "-"]
    return next((path for path in (file, *beside) if Path(path).is_file()), None)


def _merged(value: dict[str, Any], other: Part, override: bool) -> dict[str, Any]:
    merged = dict(value)
    for key, part in other.items():
        if key in _LISTS:
            mine = list(Part(value.get(key), key).each())
            theirs = list(part.each())
            first, second = (theirs, mine) if override else (mine, theirs)
            ids = {item.at("id").value for item in first} - {None}
            merged[key] = [p.value for p in first] + [p.value for p in second if p.at("id").value not in ids]
        elif key not in merged or override:
            merged[key] = part.value
    return merged


_CPU, _TASKS = "topology.component.cpu.pcore.percent", "topology.tasks"


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return what Storm says of one topology.

    Raises FtplanError if the source is nothing that Storm knows, or holds several topologies of which none is named.
    """
    if source.url is not None or source.collection is not None:
        return ui.read(source.latest, source.name, options)
    values = dict(source.documents())
    pages = {name: value for name, value in values.items() if ui.is_page(value)}
    if pages:
        return ui.read(pages, source.name, options)
    jobs = {name: value for name, value in values.items() if isinstance(value, dict) and not is_include(value)}
    name, value = _chosen(jobs or values, source, options)
    if _is_decoded(value):
        return _decoded(value, name, options)
    return read_flux(value, name, source, options)


def _chosen(values: dict[str, Any], source: EngineSource, options: ImportOptions) -> tuple[str, Any]:
    """Return the only topology, or the one that ``--job`` names."""
    named = {name: value.get("name") if isinstance(value, dict) else None for name, value in values.items()}
    chosen = [name for name in values if options.job is None or options.job in (name, named[name])]
    if not values:
        raise FtplanError(f"{source.name}: holds no JSON or YAML")
    if not chosen:
        raise FtplanError(f"--job: {source.name} holds no topology {options.job!r}")
    if len(chosen) > 1:
        raise FtplanError(f"{source.name}: holds {len(chosen)} files that may be topologies: give one, or --job NAME")
    return chosen[0], values[chosen[0]]


def _is_decoded(value: Any) -> bool:
    """Return whether a document is such a topology."""
    return isinstance(value, dict) and "components" in value and "edges" in value


def _decoded(value: Any, name: str, options: ImportOptions) -> Draft:
    """Return the topology; Trident's coordinators and all streams that coordinate are left out."""
    whole = Part(value, name)
    draft = Draft(whole.at("name").text() if "name" in whole else name)
    default = whole.at("conf").at(_CPU).number() if "conf" in whole else None
    left_out: set[str] = set()
    keys: set[str] = set()
    for part in whole.at("components").each():
        key, tasks = part.at("id").text(), part.at("parallelism").count()
        streams = [stream for stream, _ in part.at("out_streams").items()] if "out_streams" in part else []
        keys.add(key)
        if is_system(key) or (tasks is None and streams and all(map(is_coordination, streams))):
            left_out.add(key)
            continue
        resources = part.at("resources")
        known = resources.value is not None
        percent = resources.at(_CPU).number() if known else None
        percent = default if percent is None else percent
        groups = resources.at(_TASKS).count() if known else None
        draft.operators.append(component(key, tasks, groups, percent))
    streams_out = 0
    kept: list[tuple[str, str, str]] = []
    for part in whole.at("edges").each():
        source, target = part.at("from").text(), part.at("to").text()
        coordinates = is_coordination(part.at("stream").text()) if "stream" in part else False
        if coordinates or {source, target} & left_out or is_system(source) or is_system(target):
            streams_out += 1
            continue
        kind = grouping(part.at("grouping").text())
        if kind == "fields" and part.at("fields").value == []:
            kind = "global"  # Thrift has no other way to say it
        kept.append((source, target, kind))
    if left_out or streams_out:
        text = f"left out as coordination of Trident or Storm: components {len(left_out)}, streams {streams_out}"
        draft.note("COORDINATION_LEFT_OUT", text)
    connect(draft, kept, options)
    return draft

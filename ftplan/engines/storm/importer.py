"""Topologies of Apache Storm: the UI's REST pages, Flux, and topologies decoded from Thrift.

A task of ftplan is an executor, the thread that fails and moves; Storm's own tasks, whose number is fixed for the
lifetime of a topology and over which a fields grouping hashes, are its key groups.

Topologies that were decoded from Thrift to JSON are ``{"name", "conf", "components": [{"id", "kind", "parallelism",
"resources", "out_streams"}], "edges": [{"from", "stream", "to", "grouping", "fields"}]}``; a parallelism of null is
Storm's own choice.
"""

from __future__ import annotations

from typing import Any

from ftplan.engines.importing.draft import Draft, ImportOptions
from ftplan.engines.importing.parts import Part
from ftplan.engines.importing.source import EngineSource
from ftplan.engines.storm import flux, ui
from ftplan.engines.storm.components import component, connect, grouping, is_coordination, is_system
from ftplan.errors import FtplanError

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
    jobs = {name: value for name, value in values.items() if isinstance(value, dict) and not flux.is_include(value)}
    name, value = _chosen(jobs or values, source, options)
    if _is_decoded(value):
        return _decoded(value, name, options)
    return flux.read(value, name, source, options)


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

"""Storm topologies that were decoded from Thrift to JSON: components and edges.

``{"name", "conf", "components": [{"id", "kind", "parallelism", "resources", "out_streams"}], "edges": [{"from",
"stream", "to", "grouping", "fields"}]}``; a parallelism of null is Storm's own choice.
"""

from __future__ import annotations

from typing import Any

from ftplan.engines.importing.draft import Draft, DraftOperator
from ftplan.engines.importing.options import ImportOptions
from ftplan.engines.importing.parts import Part
from ftplan.engines.storm.components import connect, grouping, is_coordination, is_system

_CPU, _TASKS = "topology.component.cpu.pcore.percent", "topology.tasks"


def is_decoded(value: Any) -> bool:
    """Return whether a document is such a topology."""
    return isinstance(value, dict) and "components" in value and "edges" in value


def read(value: Any, name: str, options: ImportOptions) -> Draft:
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


def component(key: str, executors: int | None, tasks: int | None, percent: float | None) -> DraftOperator:
    """Return an operator of so many executors (None: not known) and Storm tasks, each executor with percent of a core.

    Storm runs no more executors than tasks.
    """
    if executors is not None and tasks:
        executors = min(executors, tasks)
    operator = DraftOperator(key, key, executors or 0, key_groups=tasks or executors or 1)
    operator.cpu = None if percent is None else percent / 100
    return operator

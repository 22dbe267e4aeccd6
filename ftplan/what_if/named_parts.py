"""What ``set`` and ``scale`` can name: parts of documents, and their fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.io.cluster_file import NetworkModel, NodeModel, ZoneModel
from ftplan.io.failure_file import ArrivalModel, ScenarioModel
from ftplan.io.fields import FileModel
from ftplan.io.topology_model import EdgeModel, OperatorModel
from ftplan.io.validation import default_of, require_field
from ftplan.model.names import natural_key, parse_selector
from ftplan.what_if.delta import FieldChange

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A list of a document whose entries selectors of one kind name."""

    role: str
    key: str
    model: type[FileModel]
    name_of: Callable[[Entry], str]


PARTS: Mapping[str, NamedPart] = {
    "operator": NamedPart("topology", "operators", OperatorModel, lambda entry: str(entry["id"])),
    "edge": NamedPart("topology", "edges", EdgeModel, lambda entry: f"{entry['from']}->{entry['to']}"),
    "node": NamedPart("cluster", "nodes", NodeModel, lambda entry: str(entry["id"])),
    "zone": NamedPart("cluster", "zones", ZoneModel, lambda entry: str(entry["id"])),
    "scenario": NamedPart("failure", "scenarios", ScenarioModel, lambda entry: str(entry["id"])),
    "arrival": NamedPart("failure", "arrivals", ArrivalModel, lambda entry: str(entry["node"]["id"])),
}
_KINDS = (*PARTS, "task", "network")
_PER_TASK = ("cpu", "rate_out", "input_share", "state_bytes", "priority")


def require_selector(selector: str, field: str) -> None:
    """Check a selector of ``set`` or ``scale``, and its field, without looking at any input.

    Raises FtplanError if there is no such kind of thing, or no such field of it.
    """
    kind, colon, name = selector.partition(":")
    if kind not in _KINDS or (kind == "network") == bool(colon) or (colon and not name):
        shown = "operator:ID, task:OPERATOR/INDEX, edge:FROM->TO, node:ID, zone:ID, scenario:ID, arrival:ID, network"
        raise FtplanError(
            f"{selector!r} names nothing that can be changed{suggestion(kind, _KINDS)}; it may be {shown}"
        )
    if kind == "task":
        if parse_selector(selector) and field not in _PER_TASK:
            raise FtplanError(f"a task has no field {field!r}{suggestion(field, _PER_TASK)}: {', '.join(_PER_TASK)}")
    elif kind == "zone" and field in NodeModel.model_fields:
        pass
    else:
        require_field(NetworkModel if kind == "network" else PARTS[kind].model, field)


def matching(entries: list[Entry], pattern: str, name_of: Callable[[Entry], str], place: str, kind: str) -> list[Entry]:
    """Return the entries whose name fits a pattern with ``*`` and ``?``; at least one does."""
    named = [entry for entry in entries if fnmatchcase(name_of(entry), pattern)]
    if not named:
        known = sorted({name_of(entry) for entry in entries}, key=natural_key)
        some = re.search(r"[*?\[]", pattern)
        text = f"no {kind} is called so" if some else f"unknown {kind} {pattern!r}{suggestion(pattern, known)}"
        raise FtplanError(f"{place}: {text}")
    return named


def put(
    entry: Entry, change: FieldChange, place: str, model: type[FileModel], changed: Callable[[Any, Any], Any]
) -> None:
    """Change a field, with dots between levels; None takes it out."""
    *levels, last = change.field.split(".")
    for level in levels:
        if not isinstance(entry.get(level), (dict, type(None))):
            raise FtplanError(f"{place}: {level} has no fields, since it was set to something else")
        entry[level] = dict(entry.get(level) or {})
        entry = entry[level]
    old = entry.get(last)
    if old is None and not levels:
        old = default_of(model, last)
    try:
        value = changed(old, change.value)
    except TypeError:
        raise FtplanError(f"{place}: {change.field}: there is nothing to multiply") from None
    if value is None:
        entry.pop(last, None)
    else:
        entry[last] = value


def times(old: Any, factor: Any) -> Any:
    """Return a number, or each of a list, times a factor; raise TypeError for anything else."""
    if isinstance(old, list):
        return [times(value, factor) for value in old]
    for value in (old, factor):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError
    return old * factor

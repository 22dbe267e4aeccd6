"""Carrying out what a case changes, on the documents: the result is what editing the files by hand would give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.cluster_file import NetworkModel, NodeModel, ZoneModel
from ftplan.io.documents import Document, sha256_of_data
from ftplan.io.failure_file import FORMAT as FAILURE
from ftplan.io.topology_model import OperatorModel
from ftplan.io.validation import default_of, require_field
from ftplan.io.what_if_cases import AddModel
from ftplan.model.names import natural_key, parse_selector
from ftplan.what_if.delta import Delta, FieldChange
from ftplan.what_if.document_edits import fitted_placement, placement_without, scaled_stats, scaled_topology
from ftplan.what_if.inputs import Inputs
from ftplan.what_if.named_parts import PARTS, Entry, matching, put, require_selector, times


def edited(inputs: Inputs, delta: Delta) -> Inputs:
    """Return the inputs with what a delta changes in files.

    Raises FtplanError if it names what is not there, or a field that there is not. Whether new values are right is for
    the readers to say.
    """
    inputs = inputs.with_files(delta.inputs)
    edit = _Edit(inputs)
    edit.remove(delta.remove)
    for item in delta.add:
        edit.add(item)
    for change in delta.set:
        edit.change(change, "set", lambda old, new: new)
    for change in delta.scale:
        edit.change(change, "scale", times)
    if delta.set or delta.scale:
        edit.fit_placement()
    stats = inputs.stats
    for traffic in delta.traffic:
        edit.values["topology"] = scaled_topology(edit.value("topology"), traffic, measured=stats is not None)
        stats = None if stats is None else scaled_stats(stats, traffic.factor)
    if delta.failures:
        edit.fail(delta.failures)
    return edit.done(stats)


class _Edit:
    """Documents under change; lists are copied when they are touched first."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.values: dict[str, Entry] = {}
        self._own: set[tuple[str, str]] = set()

    def value(self, role: str) -> Entry:
        """Return a document's value, as changed so far.

        Raises FtplanError if there is no such input.
        """
        if role not in self.values:
            document: Document | None = getattr(self.inputs, role)
            if document is None:
                raise FtplanError(f"there is no {role} to change")
            return dict(document.value)
        return self.values[role]

    def entries(self, role: str, key: str) -> list[Entry]:
        """Return a list of a document for change."""
        value = self.values[role] = self.value(role)
        if (role, key) not in self._own:
            self._own.add((role, key))
            value[key] = [dict(entry) if isinstance(entry, dict) else entry for entry in value.get(key) or []]
        listed: list[Entry] = value[key]
        return listed

    def done(self, stats: Any) -> Inputs:
        """Return the inputs with all changes; what changed lies in no file."""
        changed: dict[str, Any] = {"stats": stats}
        for role, value in self.values.items():
            old: Document | None = getattr(self.inputs, role)
            name = role if old is None else old.name
            changed[role] = Document(value, sha256_of_data(value), name, None)
        return replace(self.inputs, **changed)

    def remove(self, selectors: Iterable[str]) -> None:
        """Take nodes, zones and operators out; what stands on the nodes moves: see :mod:`placement_edits`."""
        nodes: set[str] = set()
        zones: set[str] = set()
        operators: set[str] = set()
        for text in selectors:
            kind, _, name = text.partition(":")
            if kind == "operator":
                operators.update(str(entry["id"]) for entry in self._named(text, "remove"))
            elif kind in ("node", "zone"):
                nodes.update(str(entry["id"]) for entry in self._nodes(text, "remove"))
                if kind == "zone" and self.value("cluster").get("zones"):
                    zones.add(name)
            else:
                raise FtplanError(f"remove: {text}: only nodes, zones and operators can be taken out")
        if operators:
            self._remove_operators(operators)
        if zones:
            self._keep("cluster", "zones", lambda entry: entry["id"] not in zones)
        if nodes:
            self._keep("cluster", "nodes", lambda entry: entry["id"] not in nodes)
        if (nodes or operators) and self.inputs.cluster is not None:
            cluster = self.value("cluster")
            if cluster.get("placement"):
                placement = placement_without(cluster, nodes, operators)
                self.values["cluster"] = {**cluster, "placement": placement}

    def _keep(self, role: str, key: str, kept: Callable[[Entry], bool]) -> None:
        entries = self.entries(role, key)
        entries[:] = [entry for entry in entries if kept(entry)]

    def _remove_operators(self, gone: set[str]) -> None:
        """Take operators out with their edges; no other operator may become a source or an output by that."""
        edges = self.entries("topology", "edges")
        left = [edge for edge in edges if not gone & {edge["from"], edge["to"]}]
        for end, what in (("to", "a source"), ("from", "an output")):
            before, after = ({edge[end] for edge in listed} for listed in (edges, left))
            for name in sorted(before - after - gone, key=natural_key):
                cut = ", ".join(sorted(gone, key=natural_key))
                raise FtplanError(f"remove: without {cut}, operator {name!r} would become {what}: take it out too")
        edges[:] = left
        self._keep("topology", "operators", lambda entry: entry["id"] not in gone)

    def add(self, item: AddModel) -> None:
        """Add nodes, with the next free numbers."""
        nodes = self.entries("cluster", "nodes")
        for name in item.node:
            if name == "id":
                raise FtplanError("add: node: leave out id, the nodes get theirs from add.id")
            try:
                require_field(NodeModel, name)
            except FtplanError as error:
                raise FtplanError(f"add: node: {error}") from None
        zones = item.zones
        if zones == "all":
            zones = sorted({str(node["zone"]) for node in nodes if node.get("zone") is not None}, key=natural_key)
            if not zones:
                raise FtplanError("add: zones: all, but no node of the cluster has a zone")
        taken, number = {node["id"] for node in nodes}, 0
        for k in range(item.count):
            number += 1
            while f"{item.id}-{number}" in taken:
                number += 1
            zone = {"zone": zones[k % len(zones)]} if zones else {}
            nodes.append({"id": f"{item.id}-{number}", **item.node, **zone})

    def fail(self, entries: Iterable[Any]) -> None:
        """Add entries to what the failure file says that fails."""
        if self.inputs.failure is None and "failure" not in self.values:
            self.values["failure"] = {"format": FAILURE, "format_version": "1.0"}
        self.entries("failure", "fail").extend(entries)

    def change(self, change: FieldChange, verb: str, changed: Callable[[Any, Any], Any]) -> None:
        """Give a field of all that a selector names the value that *changed* makes of the old and the change's."""
        place = f"{verb}: {change.selector}"
        try:
            require_selector(change.selector, change.field)
        except FtplanError as error:
            raise FtplanError(f"{place}: {error}") from None
        kind = change.selector.partition(":")[0]
        if kind == "network":
            value = self.values["cluster"] = self.value("cluster")
            value["network"] = dict(value.get("network") or {})
            put(value["network"], change, place, NetworkModel, changed)
        elif kind == "task":
            self._change_task(change, place, changed)
        elif kind == "zone" and change.field not in ZoneModel.model_fields:
            for entry in self._nodes(change.selector, verb):
                put(entry, change, place, NodeModel, changed)
        else:
            if kind == "zone":
                self._list_zones(change.selector, verb)
            for entry in self._named(change.selector, verb):
                put(entry, change, place, PARTS[kind].model, changed)

    def _change_task(self, change: FieldChange, place: str, changed: Callable[[Any, Any], Any]) -> None:
        selector = parse_selector(change.selector)
        entry = self._named(f"operator:{selector.name}", place.partition(":")[0])[0]
        tasks = entry.get("parallelism", 1)
        if not isinstance(tasks, (int, float)) or selector.index is None or selector.index >= tasks:
            raise FtplanError(f"{place}: {selector.name!r} has {tasks} tasks, counted from 0")
        values = entry.get(change.field, default_of(OperatorModel, change.field))
        listed = list(values) if isinstance(values, list) else [values] * int(tasks)
        if len(listed) != tasks:
            raise FtplanError(
                f"{place}: {selector.name!r} has {tasks} tasks, but {len(listed)} values of {change.field}"
            )
        if any(value is None for value in listed):
            raise FtplanError(f"{place}: {selector.name!r} has no {change.field}: set it for the operator first")
        listed[selector.index] = changed(listed[selector.index], change.value)
        entry[change.field] = listed

    def _list_zones(self, selector: str, verb: str) -> None:
        """Let the cluster list the zones that a selector names by their nodes only."""
        zones = self.entries("cluster", "zones")
        listed = {zone["id"] for zone in zones}
        found = {str(node["zone"]) for node in self._nodes(selector, verb) if node.get("zone") is not None}
        zones.extend({"id": name} for name in sorted(found - listed, key=natural_key))

    def _nodes(self, selector: str, verb: str) -> list[Entry]:
        """Return the nodes that a ``node:`` or ``zone:`` selector names."""
        kind, _, pattern = selector.partition(":")

        def name(node: Entry) -> str:
            zone = node.get("zone")
            return str(node["id"] if kind == "node" or zone is None else zone)

        return matching(self.entries("cluster", "nodes"), pattern, name, f"{verb}: {selector}", kind)

    def _named(self, selector: str, verb: str) -> list[Entry]:
        """Return the entries that a selector names."""
        kind, _, pattern = selector.partition(":")
        part = PARTS[kind]
        return matching(self.entries(part.role, part.key), pattern, part.name_of, f"{verb}: {selector}", kind)

    def fit_placement(self) -> None:
        """Fit the placement's lists to a changed number of tasks or key groups."""
        if "topology" not in self.values or self.inputs.cluster is None or self.inputs.topology is None:
            return
        cluster = self.value("cluster")
        if cluster.get("placement"):
            before, after = self.inputs.topology.value["operators"], self.value("topology")["operators"]
            placement = fitted_placement(cluster, before, after)
            if placement != cluster["placement"]:
                self.values["cluster"] = {**cluster, "placement": placement}

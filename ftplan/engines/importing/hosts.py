"""Hosts: their zones, their cores, and what is placed on them, as a cluster."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping
from typing import Any

from ftplan.engines.importing.draft import Draft, ZoneMap
from ftplan.errors import FtplanError
from ftplan.io.documents import decoded, display_name, parse_text, plain, read_bytes
from ftplan.io.model_entries import envelope
from ftplan.model.names import listed, natural_key, slugs

#: Mean utilisation that is assumed of nodes of which the engine does not say the cores.
UTILISATION = 0.7


def zone_map(given: ZoneMap | None) -> dict[str, str]:
    """Return zones by host: from a mapping, YAML or JSON (``host: zone``), or CSV rows of host and zone.

    CSV is a file whose name ends in .csv; a first row ``host,zone`` is its head. Hosts count in any case.

    Raises FtplanError if the file cannot be read, a host stands twice, or an entry is not two texts.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return _checked(plain(given, "--zone-map"), "--zone-map")
    name = display_name(given)
    text = decoded(read_bytes(given, "zone map"), name)
    if not os.fspath(given).lower().endswith(".csv"):
        return _checked(parse_text(text, name, given), name)
    zones: dict[str, Any] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and [cell.lower() for cell in cells] == ["host", "zone"]):
            continue
        if len(cells) != 2:
            raise FtplanError(f"{name}: line {number}: {len(cells)} columns; expected host,zone")
        if zones.setdefault(cells[0], cells[1]) != cells[1]:
            raise FtplanError(f"{name}: line {number}: host {cells[0]!r} has another zone above")
    return _checked(zones, name)


def _checked(value: Any, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise FtplanError(f"{name}: is no zone map; expected lines such as host-1: rack-a")
    zones: dict[str, str] = {}
    for host, zone in value.items():
        if isinstance(zone, int) and not isinstance(zone, bool):
            zone = str(zone)
        if not isinstance(zone, str) or not zone or not host:
            raise FtplanError(f"{name}: host {host!r}: its zone must be a name")
        if zones.setdefault(host.lower(), zone) != zone:
            raise FtplanError(f"{name}: host {host!r} stands twice, in other case, with another zone")
    return zones


def cluster_of(draft: Draft, zones: Mapping[str, str], cores: float | None, ids: Mapping[str, str]) -> dict[str, Any]:
    """Return the cluster of a draft: its hosts as nodes, and the placement.

    *zones* by host win over the draft's; *cores* are of nodes without, None takes what leaves the usual headroom.
    """
    hosts = slugs({node.host: node.host for node in draft.nodes})
    nodes = sorted(draft.nodes, key=lambda node: natural_key(hosts[node.host]))
    zone = {node.host: zones.get(node.host.lower(), node.zone) for node in nodes}
    lost = [hosts[node.host] for node in nodes if zone[node.host] is None]
    if lost:
        text = "not in the zone map" if zones else "no zone is known (--zone-map)"
        draft.assume("ZONE_UNKNOWN", f"{listed(lost)}: {text}, so that each node is a zone of its own")
    zone_ids = slugs({name: name for name in zone.values() if name is not None})
    bare = [node for node in nodes if node.cpu is None]
    if bare and cores is None:
        cores = _cores(draft)
        text = f"{len(bare)} of {len(nodes)} nodes: {cores:g} cores are assumed; --cores says them"
        draft.assume("CORES_UNKNOWN", text)
    entries = []
    for node in nodes:
        known = {
            "id": hosts[node.host],
            "cpu": cores if node.cpu is None else float(node.cpu),
            "memory_mb": None if node.memory_mb is None else float(node.memory_mb),
            "zone": None if (name := zone[node.host]) is None else zone_ids[name],
            "slots": node.slots,
            "labels": None if hosts[node.host] == node.host else {"host": node.host},
        }
        entries.append({key: value for key, value in known.items() if value is not None})
    return envelope("cluster", nodes=entries, placement=_placement(draft, ids, hosts))


def _placement(draft: Draft, ids: Mapping[str, str], hosts: Mapping[str, str]) -> dict[str, Any]:
    def named(host: Any) -> Any:
        return [named(item) for item in host] if isinstance(host, list) else None if host is None else hosts[host]

    parts = {part: getattr(draft, part) for part in ("tasks", "key_groups", "checkpoints", "replicas")}
    order = sorted(ids, key=lambda key: natural_key(ids[key]))
    return {
        part: {ids[key]: named(lists[key]) for key in order if key in lists} for part, lists in parts.items() if lists
    }


def _cores(draft: Draft) -> float:
    """Return whole cores of each node such that what its tasks take leaves the usual headroom."""
    used = dict.fromkeys((node.host for node in draft.nodes), 0.0)
    for operator in draft.operators:
        cpu = 1.0 if operator.cpu is None else operator.cpu
        for i, host in enumerate(draft.tasks.get(operator.key, ())):
            used[host] += float(cpu if isinstance(cpu, (int, float)) else cpu[i])
    return float(max(1, math.ceil(max(used.values()) / UTILISATION)))

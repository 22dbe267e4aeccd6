"""What of a peer ring Kafka Streams can be told: how many standbys tasks have, and between which zones.

Source: Kafka's documentation, "Kafka Streams configs" (``num.standby.replicas``, ``rack.aware.assignment.tags`` and
``client.tag``), and KIP-708 for how long tags may be.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.engines.exporting import Export, node_of, title_of
from ftplan.engines.registry import targets
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

#: The tag that names a zone, and how long its values may be.
TAG, LONGEST = "zone", 30


def kafka_streams(plan: Plan, problem: Problem) -> Export:
    """Write the properties of all instances, and as remarks the tag of each, which is the zone of its node.

    Standbys are as many as the plan has copies beside the owner. Where all nodes have a zone, and there are several,
    instances of other zones take them.
    """
    tokens: Sequence[Mapping[str, Any]] = (plan.plan or {})["ring"]
    zones = {str(item["node"]): _zone(item, problem) for item in tokens}
    copies = _copies(plan, tokens)
    known = {zone for zone in zones.values() if zone is not None}
    tagged = len(known) > 1 and None not in zones.values()
    warnings = [targets()["kafka-streams"].limits(), *_doubts(zones, copies, tagged)]
    said = [title_of(plan), *(f"{warning.code}: {warning.message}" for warning in warnings)]
    lines = [f"# {line}" for text in said for line in textwrap.wrap(text, 110, subsequent_indent="  ")]
    lines += ["# All instances:", f"num.standby.replicas={copies}"]
    if tagged:
        lines += [f"rack.aware.assignment.tags={TAG}", "# Each instance, by its node:"]
        lines += [f"# {node}: client.tag.{TAG}={zones[node]}" for node in sorted(zones, key=natural_key)]
    return Export("kafka-streams", plan.kind, "\n".join(lines) + "\n", tuple(warnings))


def _zone(token: Mapping[str, Any], problem: Problem) -> str | None:
    """Return the zone of a token's node: that of the plan, else of the cluster."""
    node = node_of(problem, str(token["node"]))
    return token.get("zone") or (None if node is None else node.zone)


def _copies(plan: Plan, tokens: Sequence[Mapping[str, Any]]) -> int:
    """Return how many copies there are beside the owner: as the ring says, else the options, else 1 as by default."""
    stated = next((item["backups"] for item in tokens if isinstance(item.get("backups"), list)), None)
    asked = plan.options.get("replication")
    return len(stated) if stated is not None else asked if isinstance(asked, int) else 1


def _doubts(zones: Mapping[str, str | None], copies: int, tagged: bool) -> list[Warn]:
    without = sorted((node for node, zone in zones.items() if zone is None), key=natural_key)
    said = []
    if copies and not tagged:
        why = f"{without[0]} has no zone" if without else "all nodes are in one zone"
        said.append(Warn("NO_ZONES", f"{why}: standbys may be in the zone of their task"))
    if tagged and copies >= len(set(zones.values())):
        text = f"{len(set(zones.values()))} zones for {copies + 1} copies: some are in one zone"
        said.append(Warn("FEW_ZONES", text))
    long = sorted({zone for zone in zones.values() if tagged and zone is not None and len(zone) > LONGEST})
    text = f"values of tags have {LONGEST} characters at most"
    return [*said, *(Warn("TAG_TOO_LONG", f"zone {zone}: {text}") for zone in long)]

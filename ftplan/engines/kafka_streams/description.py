"""What ``Topology.describe()`` of Kafka Streams prints, in the layout of 1.1 and later and in the older one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ftplan.errors import FtplanError

_HEAD = re.compile(r"Sub-topology:\s*(\d+)(.*)")
_NODE = re.compile(
    r"(Source|Processor|Sink):\s*([^\s(]+)\s*\((topics?|topic pattern|stores|extractor class):?\s*(.*)\)\s*"
)
_KIND = re.compile(r"(Source|Processor|Sink):")
_ARROW = re.compile(r"(-->|<--)([^<>]*?)(?=-->|<--|$)")
_JOIN = re.compile(r"join|outer(this|other)", re.IGNORECASE)
#: How the names of topics end that only the application itself writes and reads.
REPARTITION = "-repartition"
#: What cannot be a list of topics' names.
_PATTERN = re.compile(r"[^A-Za-z0-9._\-, ]")


@dataclass
class SubTopology:
    """A part of the topology whose processors run together, one task a partition.

    ``dynamic`` names what is decided at run time: a pattern of topics, or a sink's extractor class.
    """

    number: int
    for_global_store: bool
    topics: set[str] = field(default_factory=set)
    sinks: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    joins: list[str] = field(default_factory=list)
    dynamic: list[str] = field(default_factory=list)
    arrows: list[tuple[str, int]] = field(default_factory=list)


def is_description(text: str) -> bool:
    """Return whether a text is such a description."""
    return _HEAD.search(text) is not None


def sub_topologies(text: str, name: str) -> list[SubTopology]:
    """Return the sub-topologies in the order of their numbers.

    Raises FtplanError, with the line, for a node that cannot be read or is named and not described, as where a text was
    cut off.
    """
    parts: dict[int, SubTopology] = {}
    current: SubTopology | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().lstrip(">").strip()
        if match := _HEAD.match(line):
            current = SubTopology(int(match[1]), "global store" in match[2])
            if parts.setdefault(current.number, current) is not current:
                raise FtplanError(f"{name}: line {number}: a second sub-topology {current.number}")
            continue
        if line.lower().startswith("global stores:"):
            current = None  # the older layout lists them after all others
        if current is None:
            continue
        arrows = _ARROW.findall(line)
        node = line[: line.index(arrows[0][0])] if arrows else line
        if _KIND.match(line):
            match = _NODE.fullmatch(node)
            if match is None:
                raise FtplanError(f"{name}: line {number}: expected a node such as 'Source: NAME (topics: [orders])'")
            _add(current, match)
        elif line and not arrows:
            raise FtplanError(f"{name}: line {number}: is no line of a topology's description")
        for _, names in arrows:
            current.arrows += [(item, number) for item in re.split(r"[,\s]+", names) if item and item != "none"]
    for part in parts.values():
        for item, number in part.arrows:
            if item not in part.nodes:
                raise FtplanError(f"{name}: line {number}: names the node {item!r}, which is not described: cut off?")
        if not part.nodes:
            raise FtplanError(f"{name}: sub-topology {part.number} has no nodes: cut off?")
    read = {topic for part in parts.values() for topic in part.topics}
    for part in parts.values():
        for topic in sorted(part.sinks - read):
            if topic.endswith(REPARTITION):
                raise FtplanError(f"{name}: no sub-topology reads the repartition topic {topic!r}: cut off?")
    return [parts[number] for number in sorted(parts)]


def _add(part: SubTopology, match: re.Match[str]) -> None:
    kind, node, what, listed = match.groups()
    part.nodes.add(node)
    if kind == "Processor" and _JOIN.search(node):
        part.joins.append(node)
    inner = listed.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
    if what not in ("topics", "topic", "stores") or (kind != "Processor" and _PATTERN.search(inner)):
        part.dynamic.append(f"{node} ({what}: {listed})")
        return
    names = {item for item in re.split(r"[,\s]+", inner) if item}
    (part.topics if kind == "Source" else part.stores if kind == "Processor" else part.sinks).update(names)

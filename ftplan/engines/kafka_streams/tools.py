"""What the tools of Kafka and Kafka Streams print.

``Topology.describe()``, in the layout of 1.1 and later and in the older one; kafka-log-dirs; and kafka-streams-groups
--describe --members --verbose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ftplan.engines.importing.parts import Part
from ftplan.errors import FtplanError
from ftplan.io.parsers import parse_json
from ftplan.spark_stats.log_formats import beginning

_TASKS = re.compile(r"(TARGET-)?(ACTIVE|STANDBY|WARMUP)-TASKS:*(.*)")
_PARTITIONS = re.compile(r"(\d+):\s*\[+([\d,\s]*)\]?")

#: Task: number of the sub-topology, and partition.
Task = tuple[int, int]


def is_log_dirs(text: str) -> bool:
    """Return whether a text is the output of kafka-log-dirs."""
    return '"brokers"' in text and '"logDirs"' in text


def holds_log_dirs(path: str) -> bool:
    """Return whether a local path is output of kafka-log-dirs, or a folder of such files."""
    return is_log_dirs(beginning(path).decode("utf-8", "replace"))


def log_dirs(text: str, name: str) -> dict[str, dict[int, float]]:
    """Return bytes on disk by topic and partition: those of the largest copy, copies that are being moved left out.

    Raises FtplanError if the JSON, which follows two lines of text, cannot be read, or a broker reports an error.
    """
    start = text.index("{")
    value = parse_json(text[start:].strip(), name)
    sizes: dict[str, dict[int, float]] = {}
    for broker in Part(value, name).at("brokers").each():
        for folder in broker.at("logDirs").each():
            if folder.at("error").value is not None:
                raise FtplanError(f"{folder.where}: error: {folder.at('error').value}")
            for part in folder.at("partitions").each():
                topic, dash, partition = part.at("partition").text().rpartition("-")
                if not dash or not partition.isascii() or not partition.isdigit() or len(partition) > 7:
                    raise FtplanError(f"{part.where}: partition: expected a name such as orders-0")
                size = part.at("size").number() or 0.0
                if part.at("isFuture").value is not True:
                    known = sizes.setdefault(topic, {})
                    known[int(partition)] = max(size, known.get(int(partition), 0.0))
    return sizes


@dataclass
class Member:
    """A member of a streams group, and the tasks that it has now."""

    process: str
    client: str
    host: str | None
    tasks: dict[str, list[Task]] = field(default_factory=dict)


def is_group(text: str) -> bool:
    """Return whether a text is the description of a streams group's members."""
    return _TASKS.search(text) is not None


def members(text: str, name: str) -> tuple[str, list[Member]]:
    """Return the group's id and its members; what they are to have in future (``TARGET-``) is left out.

    Raises FtplanError, with the line, where a line does not fit its heading.
    """
    heading: list[str] = []
    listed: list[Member] = []
    group = ""
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if cells[:1] == ["GROUP"]:
            heading = cells
        elif match := _TASKS.match(line.strip()):
            if not listed:
                raise FtplanError(f"{name}: line {number}: tasks of no member")
            if match[1] is None:
                listed[-1].tasks[match[2].lower()] = _tasks(match[3], f"{name}: line {number}")
        elif cells and heading:
            if len(cells) != len(heading):
                raise FtplanError(f"{name}: line {number}: {len(cells)} columns under a heading of {len(heading)}")
            row = dict(zip(heading, cells, strict=True))
            process = row.get("PROCESS") or row.get("MEMBER", "")
            listed.append(Member(process, row.get("CLIENT-ID", ""), row.get("HOST") or row.get("CLIENT-HOST")))
            if group and row["GROUP"] != group:
                raise FtplanError(f"{name}: line {number}: a second group {row['GROUP']!r}; give one")
            group = row["GROUP"]
    if not listed:
        raise FtplanError(f"{name}: names no members of a streams group")
    if not any(member.tasks for member in listed):
        raise FtplanError(f"{name}: names no tasks: cut off?")
    return group, listed


def _tasks(text: str, where: str) -> list[Task]:
    tasks = []
    for number, partitions in _PARTITIONS.findall(text):
        for partition in re.split(r"[,\s]+", partitions.strip()):
            if len(partition) > 7 or len(number) > 7:
                raise FtplanError(f"{where}: no task has the partition {partition}")
            if partition:
                tasks.append((int(number), int(partition)))
    return tasks


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

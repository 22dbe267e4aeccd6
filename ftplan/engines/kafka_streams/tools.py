"""What Kafka's command line tools print: kafka-log-dirs, and kafka-streams-groups --describe --members --verbose."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ftplan.engines.importing.parts import Part
from ftplan.errors import FtplanError
from ftplan.io.json_reader import parse_json

_TASKS = re.compile(r"(TARGET-)?(ACTIVE|STANDBY|WARMUP)-TASKS:*(.*)")
_PARTITIONS = re.compile(r"(\d+):\s*\[+([\d,\s]*)\]?")

#: Task: number of the sub-topology, and partition.
Task = tuple[int, int]


def is_log_dirs(text: str) -> bool:
    """Return whether a text is the output of kafka-log-dirs."""
    return '"brokers"' in text and '"logDirs"' in text


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

"""The vertices of a job from its plan: REST shows chains of operators, ``flink info`` the operators one by one."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ftplan.engines.flink.pages import entries, text, whole
from ftplan.errors import FtplanError

#: Key groups by default, at least, and the most that Flink allows: no vertex has more tasks either.
_LEAST, MOST_KEY_GROUPS = 128, 32768


class Stream(NamedTuple):
    """What a vertex reads: the vertex that sends it, and how Flink ships it, in capitals (``HASH``)."""

    source: str
    shipped: str


@dataclass(slots=True)
class Vertex:
    """A vertex of the job graph: operators that Flink has chained.

    ``name`` is empty where the plan gives none but that in the ``description``. Parallelism 0 is not known.
    """

    id: str
    name: str
    description: str
    parallelism: int
    max_parallelism: int | None = None
    slot_group: str | None = None
    inputs: list[Stream] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The name of the first operator of the chain, the one that reads the inputs."""
        return self.name.split(" -> ")[0]

    @property
    def keyed(self) -> bool:
        """Whether it reads a stream that is parted by key."""
        return any(stream.shipped.startswith("HASH") for stream in self.inputs)


def plan_vertices(value: Any, name: str) -> list[Vertex]:
    """Return the vertices of a plan, in its order.

    Raises FtplanError if it lists no nodes, a node has no id or the id of another, or a stream comes from nowhere.
    """
    plan = value.get("plan", value) if isinstance(value, dict) else value
    nodes = plan.get("nodes") if isinstance(plan, dict) else None
    if not isinstance(nodes, list) or not nodes:
        raise FtplanError(f"{name}: is no plan of a Flink job: it lists no nodes")
    vertices: dict[str, Vertex] = {}
    unchained = False
    for i, node in enumerate(nodes):
        place = f"{name}: plan.nodes[{i}]"
        vertex = _vertex(node, place)
        if vertex.id in vertices:
            raise FtplanError(f"{place}.id: {vertex.id!r} stands twice")
        vertices[vertex.id] = vertex
        unchained = unchained or "pact" in node or "predecessors" in node
    for i, vertex in enumerate(vertices.values()):
        for stream in vertex.inputs:
            if stream.source not in vertices:
                raise FtplanError(f"{name}: plan.nodes[{i}]: reads {stream.source!r}, which is no node of the plan")
    return _chained(vertices) if unchained else list(vertices.values())


def _vertex(node: Any, place: str) -> Vertex:
    key = text(node.get("id")) if isinstance(node, dict) else None
    if key is None:
        raise FtplanError(f"{place}: has no id")
    description = node.get("description", node.get("contents"))
    description = description if isinstance(description, str) else ""
    inputs = []
    for stream in entries(node.get("inputs", node.get("predecessors"))):
        source = text(stream.get("id"))
        if source is None:
            raise FtplanError(f"{place}: an input has no id")
        inputs.append(Stream(source, (text(stream.get("ship_strategy")) or "").upper()))
    tasks = checked_parallelism(node.get("parallelism"), place)
    return Vertex(key, text(node.get("type")) or "", description, tasks, inputs=inputs)


def checked_parallelism(value: Any, place: str) -> int:
    """Return a parallelism, 0 where none is given; raises FtplanError if it is more than Flink allows."""
    tasks = whole(value) or 0
    if tasks > MOST_KEY_GROUPS:
        raise FtplanError(f"{place}.parallelism: {tasks} is more than Flink allows, {MOST_KEY_GROUPS}")
    return tasks


def _plain(description: str) -> str:
    return html.unescape(re.sub(r"<br\s*/?>", "\n", description)).strip()


# The branches of a chain stand below each other, each a step of three characters further in than what feeds it.
_BRANCH = re.compile(r"^([\s:|]*)[+:]- ")
_NUMBERED = re.compile(r"^\[(\d+)\]:([A-Za-z]\w*)\(")
_SOURCE = re.compile(r"[^(]*Scan\(table=\[\[([^\]]*)\]")
_SINK = re.compile(r"[^(]*Sink\(table=\[([^\]]*)\]")


def chain_name(description: str) -> str:
    """Return the name that Flink gives to the chain that a description shows, as near as the description tells it.

    ``[6]:WindowAggregate(...)<br/>+- [7]:Calc(...)<br/>`` is ``WindowAggregate[6] -> Calc[7]``.
    """
    names: list[str] = []
    children: dict[int, list[int]] = {}
    above: list[tuple[int, int]] = []
    for line in _plain(description).splitlines():
        branch = _BRANCH.match(line)
        depth = len(branch[1]) // 3 + 1 if branch else 0
        label = line[branch.end() :] if branch else line.strip()
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            children.setdefault(above[-1][1], []).append(len(names))
        elif names:
            break
        above.append((depth, len(names)))
        names.append(_operator_name(label))
    return _nested(0, names, children) if names else ""


def _operator_name(label: str) -> str:
    label = label.strip()
    numbered = _NUMBERED.match(label)
    if numbered is None:
        return label
    if table := _SOURCE.match(label):
        path = [part.strip() for part in table[1].split(",")]
        return f"Source: {path[2] if len(path) > 2 else path[-1]}[{numbered[1]}]"
    if table := _SINK.match(label):
        return f"Sink: {table[1].rpartition('.')[2]}[{numbered[1]}]"
    return f"{numbered[2]}[{numbered[1]}]"


def _nested(root: Any, names: Sequence[str] | Mapping[str, str], children: Mapping[Any, Sequence[Any]]) -> str:
    """Return ``A -> B``, or ``A -> (B, C)`` where a chain forks, for the chain below *root*."""
    parts: list[str] = []
    open_: list[Any] = [root]
    while open_:
        item = open_.pop()
        if isinstance(item, _Text):
            parts.append(item)
            continue
        parts.append(names[item])
        below = children.get(item, ())
        if len(below) == 1:
            open_ += [below[0], _Text(" -> ")]
        elif below:
            open_.append(_Text(")"))
            for i, child in enumerate(reversed(below)):
                open_ += [child, _Text(", ") if i < len(below) - 1 else _Text(" -> (")]
    return "".join(parts)


class _Text(str):
    """What stands between the names of a chain."""

    __slots__ = ()


def _chained(nodes: Mapping[str, Vertex]) -> list[Vertex]:
    """Return the operators of a plan that shows them one by one, chained as Flink chains them when the job starts.

    An operator joins the chain of the one before where it reads that stream alone, forwarded, at the same parallelism.
    What a program forbids by ``disableChaining`` and the like does not stand in the plan.
    """
    before: dict[str, str] = {}
    for node in nodes.values():
        if len(node.inputs) == 1 and node.inputs[0].shipped == "FORWARD":
            source = nodes[node.inputs[0].source]
            if source.parallelism == node.parallelism:
                before[node.id] = source.id
    head = _heads(nodes, before)
    children: dict[str, list[str]] = {}
    for key, above in before.items():
        children.setdefault(above, []).append(key)
    members: dict[str, list[Vertex]] = {}
    for key, node in nodes.items():
        members.setdefault(head[key], []).append(node)
    chains = []
    for key, chain in members.items():
        first = nodes[key]
        first.inputs = [Stream(head[stream.source], stream.shipped) for stream in first.inputs]
        first.name = _nested(key, {node.id: node.name or node.id for node in chain}, children)
        chains.append(first)
    return chains


def _heads(nodes: Mapping[str, Vertex], before: dict[str, str]) -> dict[str, str]:
    """Return the head of each operator's chain; a chain that bites its tail is cut out of *before*."""
    head: dict[str, str] = {}
    for key in nodes:
        walk = {key: None}
        last = key
        while last not in head and last in before and before[last] not in walk:
            last = before[last]
            walk[last] = None
        if last not in head and last in before:
            del before[last]
        head.update(dict.fromkeys(walk, head.get(last, last)))
    return head


def default_max_parallelism(parallelism: int) -> int:
    """Return the number of key groups that Flink takes where a job sets none.

    The next power of two from 1.5 times the parallelism, at least 128 and at most 32768.
    """
    wanted = max(parallelism + parallelism // 2, 1)
    return min(max(1 << (wanted - 1).bit_length(), _LEAST), MOST_KEY_GROUPS)

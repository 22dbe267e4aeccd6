"""Fragment graphs of RisingWave: ``EXPLAIN (DISTSQL)`` as text, or ``stream_dist_plan`` of its planner's test files.

An operator is a fragment, which runs as actors; its state lies in virtual nodes, of which there are 256 unless the
cluster was made with another number, and in one where the fragment is single.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftOperator, ImportOptions
from ftplan.engines.importing.parts import Part
from ftplan.engines.importing.source import EngineSource
from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import parse_text
from ftplan.model.names import listed

#: Virtual nodes of a fragment, which bound its parallelism.
VIRTUAL_NODES = 256

_PLAN = "stream_dist_plan"
_FRAGMENT = re.compile(r"\s*Fragment (\d+)\s*")
_TABLE = re.compile(r"\s*Table \d+\b.*")
_NODE = re.compile(r"[\s│├└─|+]*(Stream\w+|[A-Z]\w*)\b(.*)")
_EXCHANGE = re.compile(r"\s*(Hash|Single|Broadcast|NoShuffle)\w*\b(?:\(.*\))? from (\d+)\s*")
_JOIN = re.compile(r"Stream\w*Join|StreamDynamicFilter")


@dataclass
class Fragment:
    """A fragment: its nodes from the top, the exchanges that it reads as (kind, fragment), whether it keeps state."""

    number: int
    nodes: list[str] = field(default_factory=list)
    inputs: list[tuple[str, int]] = field(default_factory=list)
    stateful: bool = False


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return the fragments of one query, or of several that run beside each other.

    Raises FtplanError if there are none, a query is unknown, or a plan cannot be read.
    """
    if source.collection is not None or source.url is not None:
        raise FtplanError(f"{source.name}: give the plans of RisingWave as files")
    plans = dict(_plans(source))
    for name in options.query:
        if name not in plans:
            raise FtplanError(f"--query: {source.name} has no plan of {name!r}{suggestion(name, plans)}")
    chosen = list(dict.fromkeys(options.query)) or list(plans)
    if not chosen:
        raise FtplanError(f"{source.name}: holds no fragments ({_PLAN}, or what EXPLAIN (DISTSQL) prints)")
    single = chosen[0] if len(chosen) == 1 else None
    draft = Draft(single or "risingwave")
    for name in chosen:
        fragments = _fragments(plans[name], f"{source.name}: {name}" if single != source.name else name)
        _add(draft, fragments, "" if single else f"{name} ")
    if any(operator.key_groups == VIRTUAL_NODES for operator in draft.operators):
        text = f"state is taken to be divided into {VIRTUAL_NODES} virtual nodes, as by default"
        draft.assume("VIRTUAL_NODES", text)
    return draft


def _plans(source: EngineSource) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each plan; of a text file the name without ``.txt``, unless two share that."""
    texts = list(source.texts())
    stems = Counter(_stem(name) for name, _ in texts)
    for name, text in texts:
        if f"{_PLAN}:" not in text:
            if any(map(_FRAGMENT.fullmatch, text.splitlines())):
                yield _stem(name) if stems[_stem(name)] == 1 else name, text
            continue
        for part in Part(parse_text(text, name, name), name).each():
            if _PLAN in part:
                yield part.at("id").text(), part.at(_PLAN).text()


def _stem(name: str) -> str:
    return PurePath(name).name.removesuffix(".txt")


def _fragments(text: str, where: str) -> list[Fragment]:
    fragments: dict[int, Fragment] = {}
    current: Fragment | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _FRAGMENT.fullmatch(line):
            current = Fragment(int(match[1]))
            if fragments.setdefault(current.number, current) is not current:
                raise FtplanError(f"{where}: line {number} of the plan: a second fragment {current.number}")
            continue
        if _TABLE.fullmatch(line):
            break  # what follows are the schemas of tables
        if current is None or not (match := _NODE.match(line)):
            if current is not None and "tables:" in line:
                current.stateful = True
            continue
        node, rest = match[1], match[2]
        if node == "StreamExchange":
            exchange = _EXCHANGE.fullmatch(rest)
            if exchange is None:
                raise FtplanError(
                    f"{where}: line {number} of the plan: expected an exchange such as 'Hash([0]) from 1'"
                )
            current.inputs.append((exchange[1], int(exchange[2])))
        elif node.startswith("Stream"):
            current.nodes.append(node)
        current.stateful |= "tables: [" in rest or node in ("StreamMaterialize", "StreamSink")
    for fragment in fragments.values():
        if not fragment.nodes:
            raise FtplanError(f"{where}: fragment {fragment.number} has no nodes: cut off?")
        for _, other in fragment.inputs:
            if other not in fragments:
                raise FtplanError(f"{where}: fragment {fragment.number} reads fragment {other}, which is missing")
    return [fragments[number] for number in sorted(fragments)]


def _add(draft: Draft, fragments: list[Fragment], prefix: str) -> None:
    """Add the fragments of a query."""
    singles = {fragment.number for fragment in fragments if any(kind == "Single" for kind, _ in fragment.inputs)}
    pairs = [
        {fragment.number, other} for fragment in fragments for kind, other in fragment.inputs if kind == "NoShuffle"
    ]
    for _ in fragments:  # actors that pass on without a shuffle are as many
        singles.update(*(pair for pair in pairs if pair & singles))
    mixed, broadcast = [], []
    for fragment in fragments:
        key = f"{prefix}Fragment {fragment.number}"
        operator = DraftOperator(key, key, 1 if fragment.number in singles else 0)
        operator.labels["nodes"] = ", ".join(node.removeprefix("Stream") for node in fragment.nodes)
        if fragment.stateful:
            operator.key_groups = 1 if fragment.number in singles else VIRTUAL_NODES
        operator.correlated = len(fragment.inputs) > 1 and any(map(_JOIN.fullmatch, fragment.nodes))
        if operator.correlated and "StreamUnion" in fragment.nodes:
            mixed.append(key)
        draft.operators.append(operator)
        for kind, other in fragment.inputs:
            sender = f"{prefix}Fragment {other}"
            draft.edges.append(DraftEdge(sender, key, "one-to-one" if kind == "NoShuffle" else "full"))
            if kind == "Broadcast":
                broadcast.append(f"{sender} -> {key}")
    if mixed:
        draft.assume("UNION_AND_JOIN", f"{listed(mixed)}: unites some inputs and joins others; all are taken as needed")
    if broadcast:
        text = "each record goes to every actor, but the topology divides them"
        draft.assume("BROADCAST", f"{listed(broadcast)}: {text}")

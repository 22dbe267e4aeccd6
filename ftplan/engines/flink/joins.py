"""Which vertices join their inputs, by the names that Flink gives to operators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ftplan.engines.flink.plan import Vertex

# IntervalJoin, WindowJoin, TemporalJoin, Interval Join; windows of a join or co-group of the DataStream API.
_JOIN = re.compile(r"join|co-?group", re.IGNORECASE)
# connect() of two streams: Co-Map, Co-Flat Map, Co-Process, Co-Keyed-Process.
_CONNECTED = re.compile(r"\bco-?(?:keyed-?)?(?:flat ?)?(?:process|map)\b", re.IGNORECASE)


def joins(vertices: Sequence[Vertex]) -> tuple[list[Vertex], list[Vertex]]:
    """Return the vertices that join their inputs by their first operator's name, and those that may or may not.

    Connected streams count as joined where both are keyed. Doubtful are other vertices with two keyed inputs or more:
    the names of a program's own functions say nothing, and a union of streams looks the same.
    """
    sure, doubtful = [], []
    for vertex in vertices:
        if len(vertex.inputs) < 2:
            continue
        keyed = sum(stream.shipped.startswith("HASH") for stream in vertex.inputs) > 1
        # Names can be the user's; a description begins with the operator's kind: "[16]:IntervalJoin(joinType=...".
        shown = f"{vertex.head} {vertex.description.partition('<br')[0].partition('(')[0]}"
        if _JOIN.search(shown) or (keyed and _CONNECTED.search(shown)):
            sure.append(vertex)
        elif keyed or _CONNECTED.search(shown):
            doubtful.append(vertex)
    return sure, doubtful

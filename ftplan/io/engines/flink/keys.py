"""Key groups: Flink's max parallelism, of vertices with keyed state."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ftplan.io.engines.draft import Draft
from ftplan.model.engines.flink_plan import Vertex, default_max_parallelism
from ftplan.model.names import listed, slug


def key_groups(vertices: Sequence[Vertex], state: Mapping[str, float], draft: Draft) -> dict[str, int]:
    """Return the number of key groups of each vertex with a keyed input, or with state right behind such a vertex.

    A vertex that reads what a keyed one forwards to it may go on with the same keys: with *state* (bytes by vertex) it
    is taken to. State of other vertices is not keyed: offsets of sources, transactions of sinks.
    """
    keyed = {vertex.id for vertex in vertices if vertex.keyed}
    readers: dict[str, list[Vertex]] = {}
    tasks = {vertex.id: vertex.parallelism for vertex in vertices}
    for vertex in vertices:
        for stream in vertex.inputs:
            if stream.shipped == "FORWARD" and tasks[stream.source] == vertex.parallelism:
                readers.setdefault(stream.source, []).append(vertex)
    assumed, waiting = [], deque(keyed)
    while waiting:
        for vertex in readers.get(waiting.popleft(), ()):
            if vertex.id not in keyed and state.get(vertex.id):
                keyed.add(vertex.id)
                waiting.append(vertex.id)
                assumed.append(slug(vertex.name))
    if assumed:
        draft.assume("KEYED_BY_STATE", f"{listed(assumed)}: their state is taken to be keyed as that of their inputs")
    own = [
        slug(vertex.name) for vertex in vertices if state.get(vertex.id) and vertex.inputs and vertex.id not in keyed
    ]
    if own:
        draft.note("STATE_NOT_KEYED", f"{listed(own)}: no keyed input, so that their state has no key groups")
    unknown = [slug(vertex.name) for vertex in vertices if vertex.id in keyed and vertex.max_parallelism is None]
    if unknown:
        text = "max parallelism is not known; Flink's default for their parallelism is assumed as key groups"
        draft.assume("MAX_PARALLELISM_UNKNOWN", f"{listed(unknown)}: {text}")
    return {v.id: v.max_parallelism or default_max_parallelism(v.parallelism) for v in vertices if v.id in keyed}

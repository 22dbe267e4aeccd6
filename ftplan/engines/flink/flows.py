"""What each edge carries, from what the tasks at its ends counted.

Measured are the records that each subtask read and wrote, over all its inputs and over all its outputs together. That
is the flow of an edge where the vertex at one of its ends has no other edge on that side, and of the edges that remain
once these are known. How a flow divides over pairs of tasks is not measured but for forwarded and rescaled streams: it
is assumed that each sender's part goes to the readers in proportion to what they read, and that a reader's inputs
divide alike in all its subtasks. Where each reader of a keyed stream reads as much as the sender of its number writes,
both sides have the same keys (a join's result, say, that is counted by the join's key).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ftplan.engines.flink.plan import Vertex
from ftplan.engines.importing.draft import Partitioning
from ftplan.model.defaults import MAX_SUBSTREAMS

#: Each to all; one to one, or each to its part of the larger side; all to the first task; each record to all tasks.
_TO_ALL, _TO_SOME, _TO_FIRST, _TO_EACH = "to all", "to some", "to first", "to each"
_SHIPPED = {"FORWARD": _TO_SOME, "RESCALE": _TO_SOME, "GLOBAL": _TO_FIRST, "BROADCAST": _TO_EACH}

#: Share of records by which counters at both ends of a stream differ when they are read one after the other.
_UNDER_WAY = 0.01

Substreams = list[tuple[int, int, float]]


@dataclass(frozen=True, slots=True)
class VertexRates:
    """Records per second of each subtask, read and written, and the share of time that it was busy (None: unknown).

    ``measured`` is false where only the sum over the vertex is known and stands in equal parts.
    """

    records_in: Sequence[float]
    records_out: Sequence[float]
    busy: Sequence[float] | None
    measured: bool = True


@dataclass(slots=True)
class Flow:
    """An edge of the job graph; ``rate`` is what all its readers together read of it, None where that is unknown."""

    source: Vertex
    target: Vertex
    shipped: str
    rate: float | None = None

    @property
    def way(self) -> str:
        """How tasks meet."""
        return next((way for name, way in _SHIPPED.items() if self.shipped.startswith(name)), _TO_ALL)

    @property
    def divided(self) -> bool:
        """Whether it is assumed, not measured, what pairs of tasks exchange."""
        return self.way == _TO_ALL and min(self.source.parallelism, self.target.parallelism) > 1

    @property
    def copies(self) -> int:
        """How many tasks read each record."""
        return max(self.target.parallelism, 1) if self.way == _TO_EACH else 1

    @property
    def sent(self) -> float | None:
        """Records per second that its senders write to it."""
        return None if self.rate is None else self.rate / self.copies

    def partitioning(self) -> Partitioning:
        """Return the rule of a topology that says which tasks meet.

        Merged by rescaling, task i of n is read by task ``floor(i * m / n)`` of m, as a topology has it, only where m
        divides n: elsewhere Flink gives the larger part to other tasks, and the substreams say which.
        """
        n, m = self.source.parallelism, self.target.parallelism
        if self.way != _TO_SOME:
            return "full"
        return "one-to-one" if n == m else "split" if n < m else "merge"


def flows(vertices: Sequence[Vertex], rates: Mapping[str, VertexRates]) -> list[Flow]:
    """Return the edges with what they carry, as far as it follows from what is counted at their ends."""
    by_id = {vertex.id: vertex for vertex in vertices}
    edges = [Flow(by_id[stream.source], vertex, stream.shipped) for vertex in vertices for stream in vertex.inputs]
    inward: dict[str, list[Flow]] = {}
    outward: dict[str, list[Flow]] = {}
    for edge in edges:
        inward.setdefault(edge.target.id, []).append(edge)
        outward.setdefault(edge.source.id, []).append(edge)
    waiting = []
    for edge in edges:
        reader, writer = rates.get(edge.target.id), rates.get(edge.source.id)
        if reader is not None and len(inward[edge.target.id]) == 1:
            edge.rate = sum(reader.records_in)
        elif writer is not None and len(outward[edge.source.id]) == 1:
            edge.rate = sum(writer.records_out) * edge.copies
        else:
            waiting.append(edge)
    # Of a reader whose other inputs are known, the last one follows.
    for edge in waiting:
        reader, others = rates.get(edge.target.id), [e for e in inward[edge.target.id] if e is not edge]
        if reader is not None and all(other.rate is not None for other in others):
            edge.rate = max(0.0, sum(reader.records_in) - sum(other.rate or 0.0 for other in others))
    return edges


def substreams(edge: Flow, rates: Mapping[str, VertexRates]) -> Substreams | None:
    """Return what each pair of tasks carries, None where that is unknown or there are too many pairs to list."""
    writer, reader = rates.get(edge.source.id), rates.get(edge.target.id)
    n, m = edge.source.parallelism, edge.target.parallelism
    if edge.rate is None or writer is None or reader is None or not (writer.measured and reader.measured):
        return None
    sent = _shares(writer.records_out)
    read = _shares(reader.records_in)
    rate = edge.rate
    if edge.way == _TO_SOME:
        # Whoever meets only one task on the other side carries what it counted.
        if n > m:
            return [(i, j, rate * sent[i]) for i, j in _merged(n, m)]
        return [(j * n // m, j, rate * read[j]) for j in range(m)]
    if edge.way == _TO_FIRST:
        return [(i, 0, rate * sent[i]) for i in range(n)]
    if keeps_keys(edge, rates):
        return [(i, i, rate * read[i]) for i in range(n)]
    if n * m > MAX_SUBSTREAMS:
        return None
    if edge.way == _TO_EACH:
        return [(i, j, rate * sent[i] / m) for i in range(n) for j in range(m)]
    return [(i, j, rate * sent[i] * read[j]) for i in range(n) for j in range(m)]


def keeps_keys(edge: Flow, rates: Mapping[str, VertexRates]) -> bool:
    """Return whether tasks of equal number send to each other alone, by what they counted.

    The two must have counted the same, but for what was under way, and some tasks much more than others: else chance
    could be the reason.
    """
    writer, reader = rates.get(edge.source.id), rates.get(edge.target.id)
    if writer is None or reader is None or not edge.shipped.startswith("HASH") or len(edge.target.inputs) > 1:
        return False
    written, read = writer.records_out, reader.records_in
    if len(written) != len(read) or len(read) < 2 or max(read) < 1.2 * min(read):
        return False
    return all(abs(a - b) <= _UNDER_WAY * max(a, b) for a, b in zip(written, read, strict=True))


def _merged(n: int, m: int) -> list[tuple[int, int]]:
    """Return who reads whom where n tasks send to fewer, m: task j reads those from floor(j n / m) on."""
    return [(i, j) for j in range(m) for i in range(j * n // m, (j + 1) * n // m)]


def _shares(values: Sequence[float]) -> list[float]:
    """Return each value's share of the sum, equal ones where the sum is 0."""
    total = sum(values)
    return [value / total for value in values] if total else [1 / len(values)] * len(values)


def rate_out(edges: Sequence[Flow], rates: VertexRates) -> tuple[list[float] | None, bool]:
    """Return records per second that leave each task of a vertex, on each of its *edges*, and whether that is certain.

    A vertex counts a record once for each operator at the end of its chain that emits it, a topology once for all
    edges: with several edges, the largest of their flows counts where all are known.
    None for the end of a job: a sink writes to the outside and counts nothing.
    """
    if not edges:
        return None, True
    written = list(rates.records_out)
    if len(edges) == 1:
        return written, True
    known = [edge.sent for edge in edges if edge.sent is not None]
    if len(known) < len(edges):
        return written, False
    return [max(known) * share for share in _shares(written)], True

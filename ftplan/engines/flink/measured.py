"""What was measured of each vertex's subtasks: records per second, how busy they were, as cores, and bytes of state.

State is what checkpoints say, as also how often they are made and of what kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Literal, NamedTuple

from ftplan.engines.flink.flows import VertexRates
from ftplan.engines.flink.pages import entries, number, part, text, whole
from ftplan.engines.flink.plan import Vertex
from ftplan.engines.flink.records import JobRecord, Rates
from ftplan.engines.importing.draft import Draft, DraftNode
from ftplan.model.names import listed, slug

#: Flink writes the largest long where there is no periodic checkpoint; no interval is longer than a year.
_LONGEST_MS = 366 * 86_400_000


class Checkpoints(NamedTuple):
    """``measured`` tells an interval that follows from when checkpoints were triggered from one that is configured."""

    interval_s: float | None
    kind: Literal["incremental", "full"] | None
    measured: bool


def checkpoints(record: JobRecord) -> Checkpoints:
    """Return what a job's pages say of its checkpoints."""
    history = [
        entry
        for entry in entries(part(record.page("checkpoints"), "history"))
        if entry.get("is_savepoint") is not True and entry.get("status") != "FAILED"
    ]
    configured = number(part(record.page("checkpoint config"), "interval"))
    if configured is not None and 0 < configured <= _LONGEST_MS:
        return Checkpoints(configured / 1000, _kind(history), False)
    triggers = {}
    for entry in history:
        key, at = whole(entry.get("id")), number(entry.get("trigger_timestamp"))
        if key is not None and at is not None:
            triggers[key] = at
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(sorted(triggers.items()))]
    interval = median(steps) / 1000 if steps else 0.0
    # Triggers are some milliseconds off: 9.999 s is 10 s.
    return Checkpoints(round(interval, 1) or None, _kind(history), True)


def _kind(history: list[dict[str, Any]]) -> Literal["incremental", "full"] | None:
    """Return whether checkpoints write all state each time: told by two or more with state."""
    sizes = [
        (number(entry.get("checkpointed_size")), number(entry.get("state_size")))
        for entry in history
        if entry.get("status") == "COMPLETED"
    ]
    known = [(written, state) for written, state in sizes if written is not None and state]
    if any(written < state for written, state in known):
        return "incremental"
    return "full" if len(known) > 1 else None


def state_bytes(record: JobRecord, vertex: str, parallelism: int) -> tuple[list[float] | None, bool]:
    """Return bytes of state of each subtask in the newest complete checkpoint, and whether each was measured."""
    page = record.page("checkpoint subtasks", vertex)
    sizes: dict[int, float] = {}
    for position, entry in enumerate(entries(part(page, "subtasks"))):
        index, size = whole(entry.get("index")), number(entry.get("state_size"))
        if size is not None and text(entry.get("status")) in ("completed", "COMPLETED", None):
            sizes[position if index is None else index] = size
    if sorted(sizes) == list(range(parallelism)):
        return [sizes[i] for i in range(parallelism)], True
    total = number(part(record.page("checkpoint"), "tasks", vertex, "state_size"))
    if total is None:
        total = number(part(page, "state_size"))
    return (None, False) if total is None or not parallelism else ([total / parallelism] * parallelism, False)


#: Slots have one core each where nothing says otherwise: Flink's own advice.
_SLOT_CORES = 1.0


def vertex_rates(record: JobRecord, vertices: Sequence[Vertex], draft: Draft) -> dict[str, VertexRates]:
    """Return the rates of the vertices that have any: of each subtask, or of the vertex as a whole in equal parts.

    What a few subtasks lack is the mean of the others'.
    """
    sums = {text(entry.get("id")): entry for entry in entries(part(record.page("job"), "vertices"))}
    rates: dict[str, VertexRates] = {}
    filled, even = [], []
    for vertex in vertices:
        counters = [record.counters.get((vertex.id, i)) for i in range(vertex.parallelism)]
        known = {i: counter.rates() for i, counter in enumerate(counters) if counter is not None}
        if known:
            rates[vertex.id] = _of_subtasks(known, vertex.parallelism)
            if len(known) < vertex.parallelism:
                filled.append(slug(vertex.name))
            continue
        whole = _of_vertex(sums.get(vertex.id), vertex.parallelism)
        if whole is not None:
            rates[vertex.id] = whole
            even.append(slug(vertex.name))
        elif _marked_incomplete(sums.get(vertex.id)):
            record.left_out += 1
    if filled:
        draft.assume("SUBTASKS_UNKNOWN", f"{listed(filled)}: subtasks without figures are taken to be like the others")
    if even:
        draft.assume("RATES_EVEN", f"{listed(even)}: only sums are known; even rates of all subtasks are assumed")
    return rates


def _of_subtasks(known: Mapping[int, Rates], parallelism: int) -> VertexRates:
    def line(values: Mapping[int, float]) -> list[float]:
        mean = sum(values.values()) / len(values)
        return [values.get(i, mean) for i in range(parallelism)]

    busy = {i: rates.busy for i, rates in known.items() if rates.busy is not None}
    return VertexRates(
        line({i: rates.records_in for i, rates in known.items()}),
        line({i: rates.records_out for i, rates in known.items()}),
        line(busy) if busy else None,
    )


def _of_vertex(entry: Mapping[str, Any] | None, parallelism: int) -> VertexRates | None:
    """Return the rates of a vertex since it began, from its entry in the job's page."""
    figures = part(entry, "metrics")
    milliseconds = number(part(entry, "duration"))
    counted = [number(part(figures, name)) for name in ("read-records", "write-records")]
    if entry is None or not milliseconds or not parallelism or None in counted or _marked_incomplete(entry):
        return None
    per_task = [(value or 0.0) / milliseconds * 1000 / parallelism for value in counted]
    busy = number(part(figures, "accumulated-busy-time"))
    share = None if not busy else [busy / milliseconds / parallelism] * parallelism
    return VertexRates([per_task[0]] * parallelism, [per_task[1]] * parallelism, share, measured=False)


def _marked_incomplete(entry: Mapping[str, Any] | None) -> bool:
    figures = part(entry, "metrics")
    return any(part(figures, f"{name}-complete") is False for name in ("read-records", "write-records"))


def cores(
    vertices: Sequence[Vertex],
    rates: Mapping[str, VertexRates],
    nodes: Sequence[DraftNode],
    tasks: Mapping[str, Sequence[str]],
    slots: float | None,
    draft: Draft,
) -> dict[str, list[float]]:
    """Return the cores that each subtask takes: busy seconds per second, never more together than their node has.

    A thread that is busy may wait for a core, so that busy times add up to more than there are cores: then each has its
    part. Where Flink does not say how busy a vertex is (old kinds of sources), each record that it writes is taken to
    cost what a record that others read costs; where nothing is measured, the vertices of a slot share its cores.

    *slots*: slots of all task managers; None where unknown.
    """
    read = sum(sum(r.records_in) for r in rates.values() if r.busy is not None)
    busy = sum(sum(r.busy) for r in rates.values() if r.busy is not None)
    per_record = busy / read if read else None
    total = sum(node.cpu for node in nodes if node.cpu is not None)
    slot = total / slots if slots and total else _SLOT_CORES
    sharing: dict[str | None, int] = {}
    for vertex in vertices:
        sharing[vertex.slot_group] = sharing.get(vertex.slot_group, 0) + 1
    taken: dict[str, list[float]] = {}
    by_records, by_slot = [], []
    for vertex in vertices:
        measured = rates.get(vertex.id)
        if measured is not None and measured.busy is not None:
            taken[vertex.id] = [min(share, 1.0) for share in measured.busy]
        elif measured is not None and per_record is not None:
            taken[vertex.id] = [min(rate * per_record, 1.0) for rate in measured.records_out]
            by_records.append(slug(vertex.name))
        else:
            taken[vertex.id] = [slot / sharing[vertex.slot_group]] * vertex.parallelism
            by_slot.append(slug(vertex.name))
    if by_records:
        text_ = f"{listed(by_records)}: Flink does not say how busy they are; {per_record or 0:.3g} s of cpu per record"
        draft.assume("CPU_BY_RECORDS", f"{text_} is assumed, as measured elsewhere in the job")
    if by_slot:
        text_ = f"cpu is not known; an even part of a slot is assumed for each task ({slot:g} cores a slot)"
        draft.assume("CPU_BY_SLOT", f"{listed(by_slot)}: {text_}")
    return _within_nodes(taken, nodes, tasks)


def _within_nodes(
    taken: dict[str, list[float]], nodes: Sequence[DraftNode], tasks: Mapping[str, Sequence[str]]
) -> dict[str, list[float]]:
    together: dict[str, float] = {}
    for key, hosts in tasks.items():
        for host, cpu in zip(hosts, taken[key], strict=True):
            together[host] = together.get(host, 0.0) + cpu
    most = {node.host: node.cpu for node in nodes if node.cpu is not None}
    part_of = {host: min(1.0, most[host] / cpu) for host, cpu in together.items() if host in most and cpu}
    for key, hosts in tasks.items():
        taken[key] = [cpu * part_of.get(host, 1.0) for host, cpu in zip(hosts, taken[key], strict=True)]
    return taken

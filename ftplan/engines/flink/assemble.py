"""From what is known of a job's vertices to the draft of a topology; what is not known is said.

Key groups are Flink's max parallelism, of vertices with keyed state. Which vertices join their inputs, the names tell
that Flink gives to operators.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from ftplan.engines.flink.flows import Flow, VertexRates, flows, keeps_keys, rate_out, substreams
from ftplan.engines.flink.hosts import TaskManager, nodes, subtask_hosts
from ftplan.engines.flink.measured import checkpoints, cores, state_bytes
from ftplan.engines.flink.plan import Vertex, default_max_parallelism
from ftplan.engines.flink.records import JobRecord
from ftplan.engines.importing.draft import Draft, DraftEdge
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


#: Flink's default of metrics.fetcher.update-interval: figures of its REST endpoint are as old as that.
_REFRESHED_S = 10.0


def place(
    draft: Draft,
    record: JobRecord,
    vertices: Sequence[Vertex],
    managers: Mapping[str, TaskManager],
    by: Literal["host", "process"],
) -> None:
    """Take over the nodes, and where each subtask runs."""
    draft.nodes = nodes(managers, by)
    known, lost = {node.host for node in draft.nodes}, []
    for vertex in vertices:
        hosts = subtask_hosts(record.page("vertex", vertex.id), vertex.parallelism, managers, by)
        sure = [host for host in hosts if host is not None and host in known]
        if sure and len(sure) == vertex.parallelism:
            draft.tasks[vertex.id] = sure
        elif draft.nodes:
            lost.append(slug(vertex.name))
    if lost and len(lost) < len(vertices):
        draft.assume("PLACEMENT_UNKNOWN", f"{listed(lost)}: the answers do not say where all subtasks run")
    if len(draft.nodes) == 1 and len(managers) > 1:
        text = f"all {len(managers)} task managers run on one host, {draft.nodes[0].host}: one node"
        draft.note("ONE_HOST", f"{text}, whose failure takes everything; --node-by process makes each a node")


def label_slots(draft: Draft, vertices: Sequence[Vertex]) -> None:
    """Keep the slot sharing groups, where a job has several."""
    if len({vertex.slot_group for vertex in vertices}) > 1:
        for operator, vertex in zip(draft.operators, vertices, strict=True):
            if vertex.slot_group is not None:
                operator.labels["slot_sharing_group"] = vertex.slot_group


def with_state(draft: Draft, record: JobRecord, vertices: Sequence[Vertex]) -> None:
    """Take over checkpoints, bytes of state and key groups."""
    sizes, even = {}, []
    taken = checkpoints(record)
    for operator in draft.operators:
        operator.checkpoint_interval_s, operator.checkpoint_kind = taken.interval_s, taken.kind
        state, measured = state_bytes(record, operator.key, operator.parallelism)
        operator.state_bytes = _short(state)
        sizes[operator.key] = sum(state or ())
        if state is not None and not measured:
            even.append(slug(operator.name))
    groups = key_groups(vertices, sizes, draft)
    for operator in draft.operators:
        operator.key_groups = groups.get(operator.key)
    if even:
        draft.assume("STATE_EVEN", f"{listed(even)}: only the sum of the state is known; even parts are assumed")


def with_cpu(
    draft: Draft, vertices: Sequence[Vertex], rates: Mapping[str, VertexRates], managers: Mapping[str, TaskManager]
) -> None:
    """Take over the cores that subtasks take."""
    slots = sum(manager.slots for manager in managers.values() if manager.slots)
    cpu = cores(vertices, rates, draft.nodes, draft.tasks, slots or None, draft)
    for operator in draft.operators:
        operator.cpu = _short(cpu[operator.key])


def with_streams(draft: Draft, vertices: Sequence[Vertex], rates: Mapping[str, VertexRates]) -> None:
    """Take over the edges and what they carry, and what leaves each task."""
    outward: dict[str, list[Flow]] = {vertex.id: [] for vertex in vertices}
    told: dict[str, list[str]] = {}
    shared: set[str] = set()
    for edge in flows(vertices, rates):
        outward[edge.source.id].append(edge)
        pairs = substreams(edge, rates)
        rule = edge.partitioning()
        draft.edges.append(DraftEdge(edge.source.id, edge.target.id, rule, pairs))
        name = slug(edge.target.name)
        if pairs is None:
            if rule == "full":
                shared.add(edge.target.id)
            elif rule == "merge" and edge.source.parallelism % max(edge.target.parallelism, 1):
                told.setdefault("uneven", []).append(name)
            if edge.copies > 1:
                told.setdefault("copied", []).append(name)
        elif keeps_keys(edge, rates):
            told.setdefault("kept", []).append(name)
        elif edge.divided:
            told.setdefault("divided", []).append(name)
    for operator, vertex in zip(draft.operators, vertices, strict=True):
        measured = rates.get(vertex.id)
        if vertex.parallelism > 1 and vertex.inputs and all(s.shipped.startswith("GLOBAL") for s in vertex.inputs):
            operator.input_share = [1.0] + [0.0] * (vertex.parallelism - 1)
        if measured is None:
            continue
        out, certain = rate_out(outward[vertex.id], measured)
        operator.rate_out = _short(out)
        if not certain:
            told.setdefault("together", []).append(slug(vertex.name))
        read = sum(measured.records_in)
        if read and sum(out or ()):
            operator.selectivity = sum(out or ()) / read
        if vertex.id in shared and read and measured.measured:
            operator.input_share = measured.records_in
    for key, code, text in _STREAMS:
        if key in told:
            draft.assume(code, f"{listed(list(dict.fromkeys(told[key])))}: {text}")


_STREAMS = (
    (
        "divided",
        "PAIRS_BY_SHARES",
        "what each pair of tasks exchanges is not measured; senders' and readers' shares are multiplied",
    ),
    ("kept", "KEYS_KEPT", "each task reads what its namesake upstream writes, so that both are taken to have its keys"),
    (
        "together",
        "OUTPUTS_TOGETHER",
        "Flink counts what all its outputs write together; each output is taken to carry all of it",
    ),
    ("uneven", "RESCALE_UNEVEN", "which task reads from which differs a little from what merge means"),
    ("copied", "BROADCAST_AS_FULL", "a broadcast stream is taken to be divided among tasks"),
)


def with_joins(draft: Draft, vertices: Sequence[Vertex], said: Collection[str]) -> None:
    """Mark the operators that join their inputs; *said* are those of which the user says whether they do."""
    sure, doubtful = joins(vertices)
    keys = {vertex.id for vertex in sure}
    for operator in draft.operators:
        operator.correlated = operator.key in keys
    named = [slug(vertex.name) for vertex in sure]
    if named:
        text = "taken for joins by their names (correlated inputs); --independent OPERATOR takes it back"
        draft.note("JOINS", f"{listed(named)}: {text}")
    left = [slug(vertex.name) for vertex in doubtful if not {vertex.name, vertex.id, slug(vertex.name)} & {*said}]
    if left:
        text = "several keyed inputs, but no join by name: independent inputs are assumed"
        draft.assume("INPUTS_INDEPENDENT", f"{listed(left)}: {text}; --correlated OPERATOR says otherwise")


def tell(draft: Draft, record: JobRecord) -> None:
    """Say over which time rates are means, and what of the answers was left out."""
    longest = max((counter.seconds for counter in record.counters.values()), default=0.0)
    if longest:
        since = f"over {record.sets} sets of answers" if record.sets > 1 else "since the tasks began"
        off = f"; they may be off by {_REFRESHED_S / longest:.0%}: Flink renews its figures every {_REFRESHED_S:g} s"
        text = f"rates and busy times are means of up to {longest:,.0f} s, {since}"
        draft.note("RATES_OVER", text + off * (record.sets > 1 and longest < 60 * _REFRESHED_S))
    if record.left_out:
        text = "Flink marks them as incomplete, or they are missing: task managers out of reach report zeros"
        draft.note("INCOMPLETE_LEFT_OUT", f"figures of {record.left_out} subtasks or vertices are left out: {text}")
    if record.partial:
        draft.note("SETS_LEFT_OUT", f"{record.partial} sets of answers are left out: a vertex is missing in them")
    if record.counters and not record.complete:
        draft.assume("SET_INCOMPLETE", "no set of answers has every vertex: the last one is taken as it is")
    if record.rescaled:
        draft.note("RESCALED", f"the parallelism changed {record.rescaled} times: rates are of the time after the last")


def _short(values: list[float] | None) -> list[float] | float | None:
    """Return one number for a list of equal ones."""
    return values[0] if values and all(value == values[0] for value in values) else values or None

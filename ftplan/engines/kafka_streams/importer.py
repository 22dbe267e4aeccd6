"""Topologies of Kafka Streams, from ``Topology.describe()`` and Kafka's tools.

An operator is a sub-topology: its processors run together, as one task for each partition of what it reads, and its
stores are divided in the same way, so that tasks are key groups too. Sub-topologies are joined by the topics that one
writes and another reads, where every task may write to every partition.
"""

from __future__ import annotations

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftNode, DraftOperator, ImportOptions, counts
from ftplan.engines.importing.source import EngineSource
from ftplan.engines.kafka_streams.tools import (
    REPARTITION,
    Member,
    SubTopology,
    is_description,
    is_group,
    is_log_dirs,
    log_dirs,
    members,
    sub_topologies,
)
from ftplan.errors import FtplanError
from ftplan.model.names import listed

Sizes = dict[str, dict[int, float]]
_CHANGELOG = "-changelog"


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return the topology that a description, and beside it outputs of kafka-log-dirs and kafka-streams-groups, tell.

    Raises FtplanError if there is no description or more than one, or a file cannot be read.
    """
    if source.collection is not None or source.url is not None:
        raise FtplanError(f"{source.name}: Kafka's tools answer in text; give what they print as files")
    parts: list[SubTopology] = []
    sizes: Sizes = {}
    group, listed_members = "", list[Member]()
    described = name = ""
    for name, text in source.texts():
        if is_description(text):
            if described:
                raise FtplanError(f"{name}: a second topology's description, beside {described}")
            parts, described = sub_topologies(text, name), name
        elif is_log_dirs(text):
            for topic, on_disk in log_dirs(text, name).items():
                known = sizes.setdefault(topic, {})
                known.update({p: max(size, known.get(p, 0.0)) for p, size in on_disk.items()})
        elif is_group(text):
            if listed_members:
                raise FtplanError(f"{name}: a second description of a group's members; give one")
            group, listed_members = members(text, name)
        elif len(source.paths) == 1:
            raise FtplanError(f"{name}: is no description of a topology (Topology.describe())")
    if not described:
        raise FtplanError(f"{source.name}: the description of the topology is missing (Topology.describe())")
    application = options.job or group or _application(parts, sizes, source.name)
    draft = Draft(application or "kafka-streams")
    live = [part for part in parts if not part.for_global_store]
    partitions = _partitions(live, sizes, application, listed_members, options)
    _operators(draft, live, partitions, sizes, application)
    _edges(draft, live)
    for part in parts:
        if part.for_global_store:
            stores = ", ".join(sorted(part.stores))
            draft.note("GLOBAL_STORE", f"the global store {stores} lies whole on each instance and is left out")
    if listed_members:
        _place(draft, listed_members, options)
    return draft


def _application(parts: list[SubTopology], sizes: Sizes, name: str) -> str:
    """Return the application's id, which the names of internal topics begin with; nothing where none is seen."""
    ends = [f"-{store}{_CHANGELOG}" for part in parts for store in part.stores]
    ends += [f"-{topic}" for part in parts for topic in part.topics if topic.endswith(REPARTITION)]
    ids = {topic.removesuffix(end) for topic in sizes for end in ends if topic.endswith(end)}
    whole = {i for i in ids if not any(i != other and i.endswith(f"-{other}") for other in ids)}
    if len(whole) > 1:
        raise FtplanError(f"{name}: topics of several applications fit: choose one with --job: {listed([*whole])}")
    return next(iter(whole), "")


def _name(part: SubTopology) -> str:
    return f"Sub-topology: {part.number}"


def _partitions(
    parts: list[SubTopology], sizes: Sizes, application: str, group: list[Member], options: ImportOptions
) -> dict[int, int]:
    """Return the partitions of each sub-topology, 0 where nothing says them.

    What ``--partitions`` says of a topic wins over kafka-log-dirs, this over the present assignment. A repartition
    topic has as many as the most of what is read by those that write to it, which is Kafka Streams' rule.
    """
    every, each = counts(options.partitions, "--partitions")
    read_topics = {topic for part in parts for topic in part.topics}
    for topic in each:
        if topic not in read_topics:
            raise FtplanError(f"--partitions: no sub-topology reads {topic!r}: they read {listed([*read_topics])}")
    assigned: dict[int, int] = {}
    for member in group:
        for tasks in member.tasks.values():
            for number, partition in tasks:
                assigned[number] = max(assigned.get(number, 0), partition + 1)

    def of_topic(topic: str) -> int:
        on_disk = sizes.get(f"{application}-{topic}") or sizes.get(topic) or {}
        return each.get(topic, 0) or max(on_disk, default=-1) + 1

    known: dict[int, int] = {}
    for part in parts:
        stores = [sizes.get(f"{application}-{store}{_CHANGELOG}", {}) for store in part.stores]
        most = max(map(of_topic, part.topics), default=0) or max((max(s, default=-1) + 1 for s in stores), default=0)
        known[part.number] = most or assigned.get(part.number, 0)
    for _ in parts:  # from sub-topologies that are known to those that read what they write
        for part in parts:
            if not known[part.number]:
                writers = [known[other.number] for other in parts if other.sinks & part.topics]
                external = [topic for topic in part.topics if not any(topic in other.sinks for other in parts)]
                known[part.number] = max(writers, default=0) if not external else 0
    return {number: count or every or 0 for number, count in known.items()}


def _operators(
    draft: Draft, parts: list[SubTopology], partitions: dict[int, int], sizes: Sizes, application: str
) -> None:
    unmeasured: list[str] = []
    dynamic: list[str] = []
    unknown: list[str] = []
    for part in parts:
        count = partitions[part.number]
        if not count:
            unknown.append(_name(part))
            count = 1
        operator = DraftOperator(str(part.number), _name(part), count)
        operator.labels = {"topics": ", ".join(sorted(part.topics))} if part.topics else {}
        dynamic += part.dynamic
        if part.stores:
            operator.key_groups = count
            operator.checkpoint_kind = "incremental"  # a changelog has each change
            topics = [sizes.get(f"{application}-{store}{_CHANGELOG}") for store in sorted(part.stores)]
            if all(topic is not None for topic in topics):
                operator.state_bytes = [sum(t.get(i, 0.0) for t in topics if t) for i in range(count)]
            elif sizes:
                unmeasured.append(_name(part))
            operator.labels["stores"] = ", ".join(sorted(part.stores))
        draft.operators.append(operator)
    if unknown:
        text = "1 partition is assumed; --partitions says them, or kafka-log-dirs"
        draft.assume("PARTITIONS_UNKNOWN", f"{listed(unknown)}: {text}")
    if any(operator.state_bytes is not None for operator in draft.operators):
        text = "state bytes are those of the changelog topics on the brokers' disks, before they are compacted"
        draft.assume("STATE_FROM_CHANGELOG", text)
    if unmeasured:
        text = "kafka-log-dirs has no changelog topic of some store: 0 bytes are taken"
        draft.assume("CHANGELOG_MISSING", f"{listed(unmeasured)}: {text}")
    if dynamic:
        draft.assume(
            "TOPICS_UNKNOWN", f"{listed(dynamic)}: decided at run time, and taken for no stream of the topology"
        )


def _edges(draft: Draft, parts: list[SubTopology]) -> None:
    """Add the topics between sub-topologies; one with processors that join needs all of several inputs."""
    joins = []
    for writer in parts:
        for reader in parts:
            if writer.sinks & reader.topics:
                draft.edges.append(DraftEdge(str(writer.number), str(reader.number)))
    for part, operator in zip(parts, draft.operators, strict=True):
        if part.joins and sum(edge.target == operator.key for edge in draft.edges) > 1:
            operator.correlated = True
            joins.append(operator.name)
    if joins:
        text = "join by the names of their processors: all inputs are taken to be needed; --independent corrects it"
        draft.assume("JOIN_BY_NAME", f"{listed(joins)}: {text}")


def _place(draft: Draft, group: list[Member], options: ImportOptions) -> None:
    """Place tasks where they are active, and copies of their state where they stand by or warm up."""
    by_host = options.node_by == "host" and all(member.host for member in group)
    if not by_host and options.node_by == "host":
        draft.assume("HOSTS_UNKNOWN", "the members name processes, not hosts: each process is taken for a host")
    active: dict[tuple[str, int], str] = {}
    copies: dict[tuple[str, int], list[str]] = {}
    warm = 0
    names = {operator.key for operator in draft.operators}
    for member in group:
        host = str(member.host).lstrip("/") if by_host else member.process
        if all(node.host != host for node in draft.nodes):
            draft.nodes.append(DraftNode(host))
        for kind, tasks in member.tasks.items():
            warm += len(tasks) if kind == "warmup" else 0
            for number, partition in tasks:
                task = str(number), partition
                if task[0] not in names:
                    raise FtplanError(f"{draft.name}: has the task {number}_{partition}, but no sub-topology {number}")
                if kind == "active":
                    active[task] = host
                elif host not in copies.setdefault(task, []):
                    copies[task].append(host)
    if warm:
        draft.assume("WARMUP_COUNTED", f"tasks that warm up ({warm}) count as copies, although they may still lag")
    partial = []
    for operator in draft.operators:
        hosts = [active.get((operator.key, i)) for i in range(operator.parallelism)]
        if not hosts or None in hosts:
            partial.append(operator.name)
            continue
        draft.tasks[operator.key] = [str(host) for host in hosts]
        if operator.key_groups is not None:
            draft.key_groups[operator.key] = draft.tasks[operator.key]
            draft.checkpoints[operator.key] = [
                [host for host in copies.get((operator.key, i), []) if host != hosts[i]] for i in range(len(hosts))
            ]
    if partial:
        text = "not all of their tasks are assigned: where they run is left out"
        draft.assume("PLACEMENT_UNKNOWN", f"{listed(partial)}: {text}")

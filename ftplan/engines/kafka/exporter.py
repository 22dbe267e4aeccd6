"""A checkpoint allocation as the JSON of kafka-reassign-partitions.

A key group is a partition of its operator's changelog topic; the nodes that keep its copies are brokers. Source:
Kafka's documentation, "Expanding your cluster" (the form of the file) and "Limiting bandwidth usage during
data migration".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ftplan.engines.exporting import Export, node_of, operator_name, refuse_unknown
from ftplan.engines.registry import targets
from ftplan.errors import FtplanError
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.units import MB

#: Labels of a node that hold its broker id, and of an operator that hold its changelog topics or its stores.
BROKER_LABELS, TOPIC_LABELS, STORE_LABELS = ("broker", "broker.id", "node.id"), ("changelog",), ("stores", "store")
_NUMBERED = re.compile(r"(?:(?:broker|kafka)[-_.]?)?([0-9]{1,10})")
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
_MOST_BROKER = 2**31 - 1


def kafka_reassignment(
    plan: Plan,
    problem: Problem,
    *,
    broker_map: Mapping[str, str],
    topic: Mapping[str, str],
    application_id: str | None = None,
    log_dir: str | None = None,
    bandwidth: float | None = None,
    allow_fewer_replicas: bool = False,
) -> Export:
    """Write which brokers keep each partition of the changelog topics, in the order of the plan's copies.

    Raises FtplanError if a broker or a topic is not known or no valid one, two copies of a partition are to lie on one
    broker, or a partition would have fewer replicas than now and that is not allowed.

    *broker_map*: broker id by node id; else a label of the node says, else its id: ``3``, ``broker-3`` or ``kafka-3``.
    *topic*: changelog topic by operator id, several parted by commas; else the operator's label ``changelog``, else
    ``APPLICATION-STORE-changelog`` of *application_id* and the operator's labels ``stores`` or ``store``, its name or
    its id. An operator has a topic for each of its stores, and all lie alike. *log_dir*: log directory of every
    replica: a path, or ``any``. None leaves it to the brokers. *bandwidth*: throttle, in 2^20 bytes a second.
    """
    assignments = (plan.plan or {})["assignments"]
    fewer = _fewer(plan, problem)
    if fewer and not allow_fewer_replicas:
        raise FtplanError(f"{fewer}: plan with --copies as many as now, or give --allow-fewer-replicas")
    nodes = sorted({node for item in assignments for node in item["checkpoints"]}, key=natural_key)
    operators = sorted({item["operator"] for item in assignments})
    there = () if problem.cluster is None else problem.cluster.position
    refuse_unknown("--broker-map", broker_map, {*nodes, *there}, "node")
    refuse_unknown("--topic", topic, operators, "operator")
    brokers = {node: _broker(node, broker_map, problem) for node in nodes}
    topics = {operator: _topics(operator, topic, application_id, problem) for operator in operators}
    partitions: dict[tuple[str, int], dict[str, Any]] = {}
    for item in assignments:
        replicas = [brokers[node] for node in item["checkpoints"]]
        name = f"{item['operator']}/{item['key_group']}"
        if not replicas:
            raise FtplanError(f"key group {name} has no copy: Kafka keeps each partition on at least one broker")
        if len(set(replicas)) < len(replicas):
            raise FtplanError(f"key group {name} has two copies on broker {Counter(replicas).most_common(1)[0][0]}")
        for each in topics[item["operator"]]:
            if (each, item["key_group"]) in partitions:
                raise FtplanError(f"partition {item['key_group']} of topic {each} would be assigned twice")
            entry = {"topic": each, "partition": item["key_group"], "replicas": replicas}
            partitions[each, item["key_group"]] = (
                entry if log_dir is None else {**entry, "log_dirs": [log_dir] * len(replicas)}
            )
    entries = [partitions[key] for key in sorted(partitions)]
    text = json.dumps({"version": 1, "partitions": entries}, indent=1) + "\n"
    weaker = (Warn("FEWER_REPLICAS", fewer),) if fewer else ()
    return Export("kafka-reassignment", plan.kind, text, (*_warnings(plan, entries, bandwidth), *weaker))


def _fewer(plan: Plan, problem: Problem) -> str:
    """Say which key groups would have fewer copies than now, as the plan's moves or the cluster tell; "" for none."""
    body = plan.plan or {}
    moves, placed = body.get("moves"), problem.cluster and problem.cluster.placement
    more: Counter[tuple[str, int]] = Counter()
    for move in moves or ():
        more[move["operator"], move["key_group"]] += (move.get("from") is None) - (move.get("to") is None)
    lost = []
    for item in body["assignments"]:
        name, group, after = item["operator"], item["key_group"], len(item["checkpoints"])
        there = placed.checkpoints.get(name, ()) if placed else ()
        now = len(there[group]) if group < len(there) else 0
        now = max(now, after - more[name, group]) if moves is not None else now
        if now > after:
            lost.append(f"{name}/{group} has {now} replicas now and would have {after}")
    return f"{lost[0]}{f', and {len(lost) - 1:,} more partitions have fewer' if lost[1:] else ''}" if lost else ""


def _broker(node_id: str, mapped: Mapping[str, str], problem: Problem) -> int:
    text = mapped.get(node_id)
    if text is None:
        node = node_of(problem, node_id)
        labels = {} if node is None else node.labels
        numbered = _NUMBERED.fullmatch(node_id)
        text = next((labels[name] for name in BROKER_LABELS if name in labels), numbered[1] if numbered else None)
    if text is None:
        raise FtplanError(
            f"node {node_id}: which broker is it? Give --broker-map {node_id}=ID, or a label broker in the cluster file"
        )
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _MOST_BROKER):
        raise FtplanError(f"node {node_id}: {text!r} is no broker id (a whole number from 0 to {_MOST_BROKER:,})")
    return int(text)


def _topics(operator_id: str, mapped: Mapping[str, str], application_id: str | None, problem: Problem) -> list[str]:
    """Return the changelog topics of an operator: one for each of its stores."""
    labels = {} if problem.topology is None else problem.topology.operator(operator_id).labels
    named = mapped.get(operator_id) or next((labels[name] for name in TOPIC_LABELS if name in labels), None)
    if named is None and application_id is None:
        raise FtplanError(
            f"operator {operator_id}: which topic keeps its changelog? Give --topic {operator_id}=TOPIC, or "
            "--application-id ID for ID-STORE-changelog"
        )
    if named is None:
        stores = next((labels[name] for name in STORE_LABELS if name in labels), operator_name(problem, operator_id))
        topics = [f"{application_id}-{store}-changelog" for store in _listed(stores)]
    else:
        topics = _listed(named)
    for topic in topics:
        if not _TOPIC.fullmatch(topic):
            raise FtplanError(
                f"operator {operator_id}: {topic!r} is no name of a topic (letters, digits, '.', '_', '-', at most "
                f"249); give --topic {operator_id}=TOPIC"
            )
    return topics


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _warnings(plan: Plan, partitions: Any, bandwidth: float | None) -> list[Warn]:
    warnings = [targets()["kafka-reassignment"].limits()]
    command = "kafka-reassign-partitions.sh --bootstrap-server HOST:PORT --reassignment-json-file FILE"
    if bandwidth is None:
        text = f"give --bandwidth for the throttle; without one, {command} --execute copies as fast as brokers can"
        warnings.append(Warn("NO_THROTTLE", text))
    else:
        rate = max(1, round(bandwidth * MB))
        text = f"{command} --execute --throttle {rate} (bytes/s a broker); --verify takes it off when all is done"
        incoming: Counter[str] = Counter()
        for move in (plan.plan or {}).get("moves") or ():
            incoming[str(move.get("to"))] += move.get("bytes") or 0
        if incoming:
            text += f"; with it the plan's moves take at least {max(incoming.values()) / rate:,.3g} s"
        warnings.append(Warn("THROTTLE", text))
    single = sum(len(item["replicas"]) == 1 for item in partitions)
    if single:
        text = f"{single:,} of {len(partitions):,} partitions lie on one broker only: while it is down they cannot be "
        warnings.append(Warn("ONE_REPLICA", text + "written or restored from; plan with --copies 2 or more"))
    return warnings

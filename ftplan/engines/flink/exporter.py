"""What of a plan Flink can be told: a fragment of config.yaml, and the rest as remarks.

Source: Flink's documentation, "Configuration", "Fine-Grained Resource Management" and "Task failure recovery".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.engines.exporting import Export, scaled_of, title_of, yaml_text
from ftplan.engines.registry import targets
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, DRAIN_SCHEDULE, RECOVERY_SCHEDULE, REPLICATE_TASKS, SCALE_OUT
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

#: What any Flink job can have at most.
MOST_PARALLELISM = 32_768
#: The label of an operator that is the id of its vertex in the job graph; without it the one that an import has kept.
VERTEX, _IMPORTED = "vertex", "engine_id"
_VERTEX_ID = re.compile(r"[0-9a-f]{32}")


def flink(plan: Plan, problem: Problem) -> Export:
    """Write the options that carry out part of the plan; remarks say what remains to be done by code or by hand."""
    if plan.kind == SCALE_OUT.name:
        return _scale_out(plan, problem)
    body = plan.plan or {}
    config, remarks = _OF_KIND[plan.kind](body)
    warnings = [targets()["flink"].limits()]
    groups = _key_groups(body, problem)
    if groups:
        largest = max(groups.values())
        if largest > MOST_PARALLELISM:
            text = f"{largest:,} key groups are more than Flink's largest max parallelism, {MOST_PARALLELISM:,}"
            warnings.append(Warn("MAX_PARALLELISM", text))
        config = {"pipeline.max-parallelism": min(largest, MOST_PARALLELISM), **config}
        remarks += [
            f'In code, operator {operator}: .setMaxParallelism({count}), and .uid("{operator}").'
            for operator, count in groups.items()
            if count < largest
        ]
        text = "state of another max parallelism cannot be restored: it holds for jobs that start without state"
        warnings.append(Warn("STATE_BOUND", f"pipeline.max-parallelism: {text}"))
    if "slotmanager.redundant-taskmanager-num" in config:
        text = "slotmanager.redundant-taskmanager-num works where Flink starts TaskManagers itself (YARN, native "
        warnings.append(Warn("ACTIVE_ONLY", text + "Kubernetes), and not with fine-grained resources"))
    remarks += _slot_sharing(plan, body, problem)
    return Export("flink", plan.kind, yaml_text(title_of(plan), warnings, remarks, [config]), tuple(warnings))


def _key_groups(body: Mapping[str, Any], problem: Problem) -> dict[str, int]:
    """Return the number of key groups of each keyed operator: the topology's, else the plan's."""
    if problem.topology is not None:
        return {operator.id: operator.key_groups or 0 for operator in problem.topology.keyed_operators}
    groups: dict[str, int] = {}
    for item in body.get("assignments") or ():
        groups[item["operator"]] = max(groups.get(item["operator"], 0), item["key_group"] + 1)
    return dict(sorted(groups.items()))


def _checkpoints(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    config = {"execution.state-recovery.from-local": True, "taskmanager.load-balance.mode": "SLOTS"}
    counts = Counter(node for item in body["assignments"] for node in item["checkpoints"])
    return config, [
        "Local recovery gives a task that restarts where it was the state that lies there; all else is read from the "
        "checkpoint storage (before Flink 1.20 the option is state.backend.local-recovery).",
        *(f"Advisory: {node} keeps {counts[node]:,} of the plan's copies." for node in sorted(counts, key=natural_key)),
    ]


def _replicas(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    nodes = {item.get("node") for item in body["replicas"]} - {None}
    return {"slotmanager.redundant-taskmanager-num": len(nodes)} if nodes else {}, [
        "Spare TaskManagers stand in for the nodes of replicas: a failed task restarts from its last checkpoint.",
        *(f"Advisory: replica of {_task(item)}." for item in body["replicas"]),
    ]


def _recovery(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    remarks = ["Flink restarts the failed regions at once, in an order of its own; the plan's order:"]
    for step in body["steps"]:
        tasks = ", ".join(map(_task, step["recover"])) or "nothing can start"
        stopped = ", ".join(map(_task, step.get("pause") or ()))
        first = f"stop {stopped} with a savepoint, then " if stopped else ""
        remarks.append(f"Advisory, {step['at_s']:g} s: {first}{tasks}.")
    return {"jobmanager.execution.failover-strategy": "region"}, remarks


def _drain(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    most = max((len(item["nodes"]) for item in body["rounds"]), default=0)
    return {"slotmanager.redundant-taskmanager-num": most} if most else {}, [
        "Restart TaskManagers round by round; begin the next when GET /jobs/:id shows every vertex RUNNING.",
        *(f"Advisory, round {number}: {', '.join(item['nodes'])}." for number, item in enumerate(body["rounds"])),
    ]


def _scale_out(plan: Plan, problem: Problem) -> Export:
    """Write the parallelism of the vertices that a scale-out changes; the number of key groups stays as it is."""
    scaled = scaled_of(plan)
    config, more = _overrides(scaled, problem)
    remarks = [
        "With the adaptive scheduler, or by PUT /jobs/:id/resource-requirements, the job changes while it runs; "
        "otherwise it stops with a savepoint and starts from it.",
        "Flink divides key groups evenly by number: a plan made with --split hash says what that leaves to each task.",
    ]
    for item in scaled:
        by = f" by {item['technique']}" if item.get("technique") else ""
        remarks.append(f"Advisory: {item['operator']} from {item['parallelism_from']} tasks{by}.")
    warnings = (targets()["flink"].limits(), *more)
    return Export("flink", plan.kind, yaml_text(title_of(plan), warnings, remarks, [config]), warnings)


def _overrides(scaled: Sequence[Mapping[str, Any]], problem: Problem) -> tuple[dict[str, Any], list[Warn]]:
    """Return the parallelism of the vertices that change, by their ids where the topology knows these."""
    known = problem.topology.position if problem.topology is not None else {}
    pairs, nameless, uneven = [], [], []
    for item in scaled:
        name = item["operator"]
        labels = problem.topology.operator(name).labels if problem.topology is not None and name in known else {}
        vertex = _vertex(labels)
        pairs.append(f"{vertex or name}:{item['parallelism_to']}")
        nameless += [name] if vertex is None else []
        ranges = tuple(tuple(pair) for pair in item.get("key_ranges") or ())
        uneven += [name] if ranges and ranges != even_ranges(ranges[-1][1] + 1, len(ranges)) else []
    warnings = []
    if nameless:
        text = (
            f"the topology has no label {VERTEX} for {', '.join(nameless)}: put the ids of their vertices, which "
            "GET /jobs/:id lists, in place of these names"
        )
        warnings.append(Warn("NO_VERTEX_ID", text))
    if uneven:
        text = f"{', '.join(uneven)}: the plan's key ranges are not those of even number, which Flink takes"
        warnings.append(Warn("UNEVEN_RANGES", f"{text}; plan with --split hash"))
    return {"pipeline.jobvertex-parallelism-overrides": ",".join(pairs)} if pairs else {}, warnings


def _vertex(labels: Mapping[str, str]) -> str | None:
    """Return the id of an operator's vertex, None where its labels do not tell it."""
    imported = labels.get(_IMPORTED, "")
    return labels.get(VERTEX) or (imported if _VERTEX_ID.fullmatch(imported) else None)


def _task(item: Mapping[str, Any]) -> str:
    on = f" on {item['node']}" if item.get("node") else ""
    return f"{item['operator']}/{item['index']}{on}"


_OF_KIND = {
    ALLOCATE_CHECKPOINTS.name: _checkpoints,
    REPLICATE_TASKS.name: _replicas,
    RECOVERY_SCHEDULE.name: _recovery,
    DRAIN_SCHEDULE.name: _drain,
}


def _slot_sharing(plan: Plan, body: Mapping[str, Any], problem: Problem) -> list[str]:
    """Return a slot sharing group for each operator that a recovery schedule starts, with its cores."""
    if problem.topology is None or plan.kind != RECOVERY_SCHEDULE.name:
        return []
    named = sorted({item["operator"] for step in body["steps"] for item in step["recover"]})
    return [
        f'In code, for slots of {operator} alone: SlotSharingGroup.newBuilder("{operator}").setCpuCores('
        f"{float(problem.topology.operator(operator).cpu.max()):g}).setTaskHeapMemoryMB(…).build(), with "
        "cluster.fine-grained-resource-management.enabled: true."
        for operator in named
    ]

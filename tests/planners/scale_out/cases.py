"""Two small jobs with a bottleneck, one that it starves, and tasks to spare; measured task by task."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import ftplan
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import Objective, Plan
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import prepare
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, acting, sustained_load
from ftplan.planners.scale_out.rules import broken

MB = 2**20
WINDOWS, WINDOW_S = 40, 60
#: Records per second that one task takes, and of the records that come in how many go on.
RATES = {"parse": 500.0, "count": 100.0, "rank": 150.0, "alive": 400.0}
PASSED = {"parse": 1.0, "count": 0.5, "rank": 1.0, "alive": 0.1}
TASKS = {"clicks": 2, "parse": 2, "count": 4, "rank": 1, "beats": 1, "alive": 4}
GROUPS = {"count": 24, "rank": 8, "alive": 8}
STATE = {"count": 24 * MB, "rank": 8 * MB, "alive": 4 * MB}
JOBS: Mapping[str, Sequence[str]] = {"clicks": ("parse", "count", "rank"), "beats": ("alive",)}

TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "clicks", "parallelism": 2, "cpu": 0.5},
        {"id": "parse", "parallelism": 2, "cpu": 1.0},
        {"id": "count", "parallelism": 4, "cpu": 1.0, "key_groups": 24, "selectivity": 0.5,
         "checkpoint": {"interval_s": 30}},
        {"id": "rank", "parallelism": 1, "cpu": 0.5, "key_groups": 8, "output": True},
        {"id": "beats", "parallelism": 1, "cpu": 0.5},
        {"id": "alive", "parallelism": 4, "cpu": 1.0, "key_groups": 8, "selectivity": 0.1, "output": True},
    ],
    "edges": [
        {"from": "clicks", "to": "parse", "partitioning": "full"},
        {"from": "parse", "to": "count", "partitioning": "full"},
        {"from": "count", "to": "rank", "partitioning": "full"},
        {"from": "beats", "to": "alive", "partitioning": "full"},
    ],
}  # fmt: skip
PLACED = {
    "clicks": ["n1", "n2"],
    "parse": ["n1", "n2"],
    "count": ["n1", "n2", "n3", "n3"],
    "rank": ["n2"],
    "beats": ["n1"],
    "alive": ["n1", "n2", "n3", "n3"],
}
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "network": {"bandwidth_mb_s": 50, "delay_s": 0.002},
    "nodes": [
        {"id": "n1", "cpu": 8, "zone": "a", "memory_mb": 512},
        {"id": "n2", "cpu": 8, "zone": "a", "memory_mb": 512},
        {"id": "n3", "cpu": 8, "zone": "b", "memory_mb": 512},
        {"id": "n4", "cpu": 6, "zone": "b", "memory_mb": 512},
    ],
    "placement": {
        "tasks": PLACED,
        "checkpoints": {"count": [["n4"], ["n4"], ["n3"], ["n1"]] * 6, "rank": [["n4"]] * 8},
    },
}


def offered() -> Mapping[str, Any]:
    """Return the records/s that the sources offer in each window: one grows until nobody keeps up, the other is low."""
    ramp = np.concatenate([np.full(12, 150.0), np.linspace(150.0, 420.0, 20), np.full(WINDOWS - 32, 420.0)])
    return {"clicks": ramp, "beats": np.full(WINDOWS, 60.0)}


def shares(operator: str) -> Any:
    """Return the share of each key group of an operator: a hot one in ``count``."""
    weight = np.random.default_rng(len(operator)).uniform(0.8, 1.2, GROUPS[operator])
    if operator == "count":
        weight[3] *= 1.5
    return weight / weight.sum()


def statistics(factor: float = 1.0) -> dict[str, Any]:
    """Return what tasks and key groups did; a task that is too slow for its share is busy throughout, and queues."""
    tasks: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    start = pd.Timestamp("2026-01-01T00:00:00Z")
    times = [start + pd.Timedelta(seconds=WINDOW_S * w) for w in range(WINDOWS)]
    for source, chain in JOBS.items():
        rate = np.asarray(offered()[source]) * factor
        for w in range(WINDOWS):
            for task in range(TASKS[source]):
                written = rate[w] * WINDOW_S / TASKS[source]
                tasks.append(_task(source, task, times[w], 0.0, written, None, 0.0))
        for name in chain:
            rate = _measured(name, rate, times, tasks, groups)
    operators = {name: {"key_groups": GROUPS[name]} if name in GROUPS else {} for name in TASKS}
    manifest = {
        "format": "ftplan/stats", "format_version": "1.0", "window_s": WINDOW_S, "windows": WINDOWS,
        "start": str(start), "end": str(times[-1] + pd.Timedelta(seconds=WINDOW_S)),
        "measures": ["records"], "operators": operators,
    }  # fmt: skip
    return {"manifest": manifest, "tasks": pd.DataFrame(tasks), "key_groups": pd.DataFrame(groups)}


def _measured(name: str, rate: Any, times: list[Any], tasks: list[Any], groups: list[Any]) -> Any:
    """Add the rows of an operator that is offered so many records/s in each window, and return what it passes on."""
    count = TASKS[name]
    if name in GROUPS:
        of_group = shares(name)
        owner = np.arange(GROUPS[name]) * count // GROUPS[name]
        of_task = np.bincount(owner, of_group, minlength=count)
    else:
        of_task = np.full(count, 1.0 / count)
    passed = np.zeros(len(times))
    waiting = np.zeros(count)
    for w, time in enumerate(times):
        came = rate[w] * of_task * WINDOW_S
        taken = np.minimum(came + waiting, RATES[name] * WINDOW_S)
        waiting = np.minimum(waiting + came - taken, 20_000.0)
        passed[w] = PASSED[name] * taken.sum() / WINDOW_S
        for task in range(count):
            busy = 1000.0 * taken[task] / RATES[name]
            state = STATE.get(name, 0) / count
            tasks.append(_task(name, task, time, taken[task], PASSED[name] * taken[task], busy, waiting[task], state))
        for group in range(GROUPS.get(name, 0)):
            part = of_group[group] / of_task[owner[group]]
            groups.append({
                "operator": name, "key_group": group, "window_start": time, "bytes": None, "cpu_ms": None,
                "records": float(taken[owner[group]] * part), "state_bytes": STATE[name] * float(of_group[group]),
                "resolution": "key_group", "estimated": False,
            })  # fmt: skip
    return passed


def _task(
    name: str, task: int, time: Any, read: float, written: float, busy: float | None, waiting: float, state: float = 0.0
) -> dict[str, Any]:
    return {
        "operator": name, "task": task, "window_start": time, "records_in": float(read), "records_out": float(written),
        "cpu_ms": None, "busy_ms": busy, "memory_bytes": float(state), "queue_length": float(waiting),
    }  # fmt: skip


#: Options of all plans: without a forecast sizes follow from the statistics alone.
USUAL: Mapping[str, Any] = {"iterations": 50, "time_limit_s": 3600.0, "forecast": "none"}
JOB: Mapping[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER, "stats": statistics()}
#: The same without a cluster: no nodes, and no checkpoints on them.
BARE: Mapping[str, Any] = {name: JOB[name] for name in ("topology", "stats")}
#: The same on nodes with few cores to spare.
FULL: Mapping[str, Any] = {
    **JOB, "cluster": {**CLUSTER, "nodes": [{**node, "cpu": node["cpu"] * 0.75} for node in CLUSTER["nodes"]]}
}  # fmt: skip


def best(documents: Mapping[str, Any], options: Mapping[str, Any]) -> Plan:
    """Return a plan whose objective is that of the best parallelisms with even ranges, by trying all without nodes."""
    problem = prepare(ftplan.load(**documents), ScaleOutOptions.of("scale-out", options)).problem
    choices = [range(0, problem.operators[i].most + 1) for i in acting(problem)]
    value = 0.0
    for tried in itertools.product(*choices):
        items = [
            OperatorScaling(i, tasks, even_ranges(problem.operators[i].key_groups, tasks))
            for i, tasks in zip(acting(problem), tried, strict=True)
            if tasks
        ]
        scaling = Scaling(tuple(items))
        if not {breach.rule for breach in broken(problem, scaling)} - {"target"}:
            value = max(value, sustained_load(problem, scaling))
    return Plan("scale-out", {"operators": []}, objective=Objective.of("sustained-load", "max", value, value))


def job(placement: Mapping[str, Any] | None = None, factor: float = 1.0, **changes: Any) -> ftplan.Problem:
    """Return the job with another placement, with more traffic, or with other parts of the cluster."""
    cluster = {**CLUSTER, "placement": {**CLUSTER["placement"], **(placement or {})}, **changes}
    return ftplan.load(topology=TOPOLOGY, cluster=cluster, stats=statistics(factor))


def planned(problem: ftplan.Problem, **options: Any) -> Plan:
    return ftplan.plan("scale-out", problem, **{**USUAL, **options})


def document(plan: Plan) -> dict[str, Any]:
    """Return a plan as its file holds it."""
    assert plan.plan is not None, plan.reason
    made: dict[str, Any] = json.loads(plan.to_json())
    return made

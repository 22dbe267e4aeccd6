"""Small repairs in which some queries run on, and the least loss over everything that may give way, by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Substreams, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    RepairInstance,
    RepairPlacement,
    instance_of,
    value,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.exhaustive_repair import optimum_where_few


def running_repair(seed: int, *, restart_s: float = 0.0) -> RecoveryProblem:
    """Return a failure of some tasks; others run on few live nodes without room, and may give way."""
    rng = np.random.default_rng(seed)
    outputs, inner = int(rng.integers(2, 5)), int(rng.integers(0, 3))
    needs = rng.random((inner, outputs)) < 0.5
    cpu = rng.choice([0.5, 1.0, 1.5], inner + outputs)
    size = rng.choice([0.0, 10.0, 30.0], inner + outputs) * 2.0**20
    priority = rng.integers(1, 10, outputs).astype(np.float64)
    operators, edges = [], []
    if inner:
        operators.append(Operator("inner", inner, cpu[:inner], size[:inner], np.ones(inner), output=False))
        pairs = np.argwhere(needs)
        edges.append(Edge(0, 1, None, Substreams(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))))
    operators.append(Operator("out", outputs, cpu[inner:], size[inner:], priority, output=True))
    graph = TaskGraph(Topology(tuple(operators), tuple(edges), "small"))
    cost, tasks = graph.per_task("cpu"), graph.tasks
    live, coming = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    failed = rng.random(tasks) < 0.5
    failed[int(rng.integers(inner, tasks))] = True
    home = np.where(failed, -1, rng.integers(0, live, tasks))
    standby = np.where(~failed & (rng.random(tasks) < 0.3), rng.integers(0, live, tasks), -1)
    room = rng.choice([0.0, 0.0, 0.5], live).tolist() + rng.choice([1.0, 2.0], coming).tolist()
    return RecoveryProblem(
        graph=graph,
        cost=cost,
        failed=failed,
        home=home.astype(np.int64),
        standby=standby.astype(np.int64),
        hosts=tuple(Host(f"n{k}", float(cores)) for k, cores in enumerate(room)),
        live_hosts=live,
        arrivals=tuple(ArrivalEvent(20.0 + 10.0 * k, live + k, (20.0 + 10.0 * k,) * 2) for k in range(coming)),
        capacity=float(sum(room[:live])) if rng.random() < 0.2 else None,
        state_bytes=graph.per_task("state_bytes"),
        bandwidth_bytes_s=2.0**20 * float(rng.choice([1.0, 2.0])),
        delays=RecoveryDelays(2.0, restart_s, 3.0, 0.5) if rng.random() < 0.5 else RecoveryDelays(2.0, restart_s),
        may_pause=True,
        horizon_s=60.0,
        failed_nodes=2,
    )


def optimum(instance: RepairInstance, budget: Budget | None = None, seed: int = 0) -> RepairPlacement:
    """Return the best placement."""
    placement = optimum_where_few(instance, Budget(1e9, None), 10**6)
    assert placement is not None
    return placement


def losses(state: StepState, prefetch: bool) -> Iterator[float]:
    """Yield the least loss for everything that may give way: each set of tasks and of standbys."""
    tasks, standbys = np.flatnonzero(state.may_pause).tolist(), np.flatnonzero(state.may_drop).tolist()
    for pause in itertools.product((False, True), repeat=len(tasks)):
        for drop in itertools.product((False, True), repeat=len(standbys)):
            after = state.after_pause(list(itertools.compress(tasks, pause)), list(itertools.compress(standbys, drop)))
            instance = instance_of(after, prefetch)
            yield value(instance, optimum(instance))

"""Small whole repairs with tight rooms, arrivals, restores, copies and pools, and the least loss by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Substreams, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    value,
)
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryProblem


def random_repair(seed: int, most_tasks: int = 5, most_arrivals: int = 3, *, delays: bool = True) -> RecoveryProblem:
    """Return a failure of everything in a small job: inner tasks that queries share, on few nodes with little room."""
    rng = np.random.default_rng(seed)
    outputs = int(rng.integers(1, min(4, most_tasks) + 1))
    inner = int(rng.integers(0, most_tasks - outputs + 1))
    needs = rng.random((inner, outputs)) < 0.5
    cpu = rng.choice([0.25, 0.5, 0.75, 1.0, 1.5], inner + outputs)
    state = rng.choice([0.0, 10.0, 20.0, 50.0], inner + outputs) * 2.0**20
    priority = rng.integers(1, 10, outputs).astype(np.float64)
    operators, edges = [], []
    if inner:
        operators.append(Operator("inner", inner, cpu[:inner], state[:inner], np.ones(inner), output=False))
        pairs = np.argwhere(needs)
        table = Substreams(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))
        edges.append(Edge(0, 1, None, table))
    operators.append(Operator("out", outputs, cpu[inner:], state[inner:], priority, output=True))
    graph = TaskGraph(Topology(tuple(operators), tuple(edges), "small"))
    cost = graph.per_task("cpu")
    live, coming = int(rng.integers(0, 3)), int(rng.integers(0, most_arrivals + 1))
    live = max(live, 1 - min(coming, 1))
    share = float(rng.choice([0.4, 0.7, 1.0, 1.4]))
    room = rng.random(live + coming) + 0.3
    room = np.round(room * share * float(cost.sum()) / room.sum() * 4) / 4
    at = np.sort(rng.choice([5.0, 10.0, 10.0, 30.0, 40.0], coming))
    local = {
        (task, host): float(graph.per_task("state_bytes")[task] * rng.choice([0.5, 1.0]))
        for task in range(graph.tasks)
        for host in range(live)
        if rng.random() < 0.2 and graph.per_task("state_bytes")[task] > 0.0
    }
    add = RecoveryDelays(2.0, 1.0, rng.choice([0.0, 3.0], graph.tasks), rng.choice([0.0, 0.5], graph.tasks))
    nowhere = np.full(graph.tasks, -1, dtype=np.int64)
    return RecoveryProblem(
        graph=graph,
        cost=cost,
        failed=np.ones(graph.tasks, dtype=np.bool_),
        home=nowhere,
        standby=nowhere,
        hosts=tuple(Host(f"n{k}", float(cores)) for k, cores in enumerate(room)),
        live_hosts=live,
        arrivals=tuple(ArrivalEvent(float(when), live + k, (float(when),) * 2) for k, when in enumerate(at)),
        capacity=float(room[:live].sum()) * 0.8 if rng.random() < 0.2 else None,
        state_bytes=graph.per_task("state_bytes"),
        local_bytes=local,
        bandwidth_bytes_s=2.0**20 * float(rng.choice([1.0, 2.0, 5.0])),
        delay_s=float(rng.choice([0.0, 0.5])),
        restores_at_once=int(rng.choice([1, 1, 2])),
        delays=add if delays and rng.random() < 0.5 else RecoveryDelays(),
        horizon_s=float(rng.choice([60.0, 100.0])),
        failed_nodes=2,
    )


def placements(instance: RepairInstance) -> Iterator[RepairPlacement]:
    """Yield every placement that fits, with every order of the restores on each host."""
    tasks = range(len(instance.task))
    for hosts in itertools.product(range(NOWHERE, len(instance.host)), repeat=len(instance.task)):
        host = np.array(hosts, dtype=np.int64)
        if not instance.fits(host):
            continue
        queues = [[t for t in tasks if hosts[t] == h and instance.seconds[t, h] > 0.0] for h in set(hosts)]
        rest = [t for t in tasks if not any(t in queue for queue in queues)]
        for order in itertools.product(*(itertools.permutations(queue) for queue in queues)):
            yield RepairPlacement(host, np.array([t for queue in order for t in queue] + rest, dtype=np.int64))


def least_loss(instance: RepairInstance) -> float:
    """Return the least Σ priority × seconds down of all placements; tasks begin as early as their hosts are there."""
    return min(value(instance, placement) for placement in placements(instance))


def scattered(instance: RepairInstance, budget: Budget, seed: int) -> RepairPlacement:
    """Put tasks in a random order on the first host with room from a random one on."""
    rng = np.random.default_rng(seed)
    host, room, pool = np.full(len(instance.task), -1), instance.room.copy(), instance.pool
    order = rng.permutation(len(instance.task))
    for task in order.tolist():
        for place in rng.permutation(len(instance.host)).tolist():
            pooled = place < instance.pooled
            if instance.cost[task] <= room[place] and (not pooled or instance.cost[task] <= pool):
                host[task], room[place] = place, room[place] - instance.cost[task]
                pool -= instance.cost[task] if pooled else 0.0
                break
    return RepairPlacement(host, order)

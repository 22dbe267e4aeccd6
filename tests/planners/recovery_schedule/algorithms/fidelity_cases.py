"""Small repairs of jobs with partial queries: joins, full edges and shares, and the most fidelity by brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.failure import FailureEvent
from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, FloatArray, Operator, Substreams, Topology
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, is_ready
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from tests.planners.recovery_schedule.algorithms.repair_cases import placements, random_repair
from tests.topologies import operator


def random_job(seed: int, most_tasks: int = 5) -> RecoveryProblem:
    """Return a failure of up to so many tasks of a job with joins, full edges and shares, else as ``random_repair``.

    Room is what the drawn repair has, per core that failed.
    """
    rng = np.random.default_rng([7, seed])
    while True:
        graph = TaskGraph(_topology(rng))
        count = min(graph.tasks, int(rng.integers(2, most_tasks + 1)))
        failed = np.zeros(graph.tasks, dtype=np.bool_)
        failed[rng.choice(graph.tasks, count, replace=False)] = True
        cost = graph.per_task("cpu")
        drawn = random_repair(seed, most_tasks)
        if cost[failed].sum() > 0.0 and graph.tasks >= drawn.graph.tasks:
            break
    share = float(cost[failed].sum()) / float(drawn.cost.sum())
    hosts = tuple(replace(host, room=round(host.room * share * 4) / 4) for host in drawn.hosts)
    tasks = np.flatnonzero(failed)
    local = {(int(tasks[t % len(tasks)]), host): size for (t, host), size in drawn.local_bytes.items()}
    delays = drawn.delays
    if not isinstance(delays.replay_s, float):
        again = np.arange(graph.tasks) % len(delays.replay_s)
        delays = delays._replace(replay_s=delays.replay_s[again], catch_up=np.asarray(delays.catch_up)[again])
    nowhere = np.full(graph.tasks, -1, dtype=np.int64)
    return replace(
        drawn,
        graph=graph,
        cost=cost,
        failed=failed,
        home=nowhere,
        standby=nowhere,
        hosts=hosts,
        capacity=None if drawn.capacity is None else drawn.capacity * share,
        state_bytes=graph.per_task("state_bytes"),
        local_bytes=local,
        delays=delays,
    )


def _topology(rng: np.random.Generator) -> Topology:
    """Return two to four operators in layers, joins among them."""
    count = int(rng.integers(2, 5))
    size = rng.integers(1, 4, count)
    edges = []
    for target in range(1, count):
        sources = np.flatnonzero(rng.random(target) < 0.6)
        for source in sources.tolist() or [target - 1]:
            edges.append(_edge(rng, source, target, int(size[source]), int(size[target])))
    leaving = {edge.source for edge in edges}
    operators = []
    for k, tasks in enumerate(size.tolist()):
        operators.append(
            Operator(
                f"o{k}",
                tasks,
                rng.choice([0.25, 0.5, 0.75, 1.0, 1.5], tasks),
                rng.choice([0.0, 10.0, 20.0, 50.0], tasks) * 2.0**20,
                rng.integers(1, 10, tasks).astype(np.float64),
                output=k not in leaving,
                inputs="correlated" if rng.random() < 0.4 else "independent",
                rate_out=rng.integers(1, 5, tasks).astype(np.float64),
            )
        )
    return Topology(tuple(operators), tuple(edges), "small")


def _edge(rng: np.random.Generator, source: int, target: int, senders: int, receivers: int) -> Edge:
    if rng.random() < 0.4:
        return Edge(source, target, partitioning="full")
    pairs = np.argwhere(rng.random((senders, receivers)) < 0.6)
    if len(pairs) == 0:
        pairs = np.array([[0, 0]])
    return Edge(
        source, target, None, Substreams(pairs[:, 0], pairs[:, 1], rng.integers(1, 4, len(pairs)).astype(float))
    )


def fidelity_until(model: FidelityModel, live: BoolArray, task: np.ndarray, back_s: FloatArray, end_s: float) -> float:
    """Return fidelity × seconds until the end when tasks come back at some times, one evaluation for each time."""
    live = live.copy()
    total, since = 0.0, 0.0
    for at_s in sorted({float(s) for s in back_s if s < end_s}):
        total += model.fidelity(live) * (at_s - since)
        live[task[back_s == at_s]] = True
        since = at_s
    return total + model.fidelity(live) * (end_s - since)


def most_fidelity(problem: RecoveryProblem, instance: RepairInstance, model: FidelityModel) -> float:
    """Return the most fidelity × seconds of all placements; tasks begin as early as their hosts are there."""
    every = np.arange(len(instance.task))
    return max(
        fidelity_until(
            model,
            ~problem.failed,
            instance.task,
            instance.caught_up(is_ready(instance, placement), every),
            problem.horizon_s,
        )
        for placement in placements(instance)
    )


def with_failures(seed: int, most_tasks: int = 6) -> RecoveryProblem:
    """Return a job some of whose tasks fail at once and others, nodes too, up to two times later."""
    case = random_job(seed, most_tasks)
    rng = np.random.default_rng([8, seed])
    tasks = case.graph.tasks
    home, standby = np.full(tasks, -1, dtype=np.int64), np.full(tasks, -1, dtype=np.int64)
    failed = case.failed & (rng.random(tasks) < 0.7)
    if case.live_hosts:
        running = np.flatnonzero(~failed)
        home[running] = rng.integers(-1, case.live_hosts, len(running))
        standby[running] = np.where(rng.random(len(running)) < 0.2, rng.integers(-2, case.live_hosts, len(running)), -1)
    failures = []
    for at_s in np.unique(rng.choice([0.5, 12.0, 30.0, 41.0], int(rng.integers(1, 3)))).tolist():
        gone = [f"n{k}" for k in range(len(case.hosts)) if rng.random() < 0.35]
        named = np.flatnonzero(rng.random(tasks) < 0.2)
        failures.append(FailureEvent(at_s, "later", frozenset(gone), named))
    return replace(
        case,
        failed=failed,
        home=home,
        standby=standby,
        failures=tuple(failures),
        rolls_back=bool(rng.random() < 0.2),
        may_pause=bool(rng.random() < 0.3),
    )


def layers(depth: int, parallelism: int) -> Topology:
    """Return operators in a row, all of whose tasks send to all of the next."""
    made = tuple(operator(f"o{k}", parallelism, output=k == depth - 1) for k in range(depth))
    return Topology(made, tuple(Edge(k, k + 1, partitioning="full") for k in range(depth - 1)))

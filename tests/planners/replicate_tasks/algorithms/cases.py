"""Replication problems for tests, and their optimum by trying all plans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.instances import in_tree
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE, ReplicaHosts
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Topology
from ftplan.planners.replicate_tasks.problem import FailureCase, ReplicationProblem
from tests.topologies import topologies


def problem_of(
    topology: Topology, budget: float, failed: Sequence[tuple[float, BoolArray]] = (), weight: object = 1.0
) -> ReplicationProblem:
    """Return a problem: the worst case unless there are (weight, failed) pairs; replicas cost 1 each by default."""
    graph = TaskGraph(topology)
    model = fidelity_model(graph, rates(graph))
    given = failed or [(1.0, np.ones(graph.tasks, dtype=np.bool_))]
    cases = tuple(FailureCase(f"case{k}", w, down) for k, (w, down) in enumerate(given))
    cost = np.broadcast_to(np.asarray(weight, dtype=np.float64), (graph.tasks,)).copy()
    return ReplicationProblem(graph, model, cases, cost, budget)


def brute_force(problem: ReplicationProblem) -> tuple[float, float]:
    """Return the best value of all plans that fit, and the least cost that reaches it."""
    best, least = 0.0, 0.0
    some = np.flatnonzero(problem.fails)
    for chosen in itertools.product((False, True), repeat=len(some)):
        replicated = np.zeros(problem.tasks, dtype=np.bool_)
        replicated[some] = chosen
        cost = problem.cost(replicated)
        if not problem.fits(cost):
            continue
        value = problem.value(replicated)
        if value > best + 1e-12 or (value > best - 1e-12 and cost < least - 1e-9):
            best, least = max(best, value), cost
    return best, least


@st.composite
def problems(draw: st.DrawFn, operators: int = 4, parallelism: int = 3, tasks: int = 9) -> ReplicationProblem:
    """Draw a small problem: plain or weighted, in the worst case or in several."""
    drawn = topologies(operators, parallelism).filter(lambda topology: topology.task_count <= tasks)
    topology = draw(drawn)
    count = topology.task_count
    weight = draw(st.sampled_from([None, [0.5, 1.0, 2.0], [0.0, 1.0, 3.0]]))
    costs = 1.0 if weight is None else [draw(st.sampled_from(weight)) for _ in range(count)]
    failed = [
        (draw(st.sampled_from([0.5, 1.0])), np.array(draw(st.tuples(*[st.booleans()] * count))))
        for _ in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    budget = draw(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 20.0]))
    problem = problem_of(topology, budget, failed, costs)
    if draw(st.integers(0, 3)):
        return problem
    everywhere = replace(problem.model, outputs=np.arange(count), weight=np.full(count, 1.0 / count))
    return replace(problem, model=everywhere, metric="internal-completeness")


@st.composite
def hosted(draw: st.DrawFn, problem: ReplicationProblem, nodes: int = 3) -> ReplicationProblem:
    """Draw tight nodes for a problem: unequal replicas, zones, nodes that fail, and replicas in place."""
    tasks, count = problem.tasks, draw(st.integers(1, nodes))
    ids = tuple(f"n{k}" for k in range(count))
    each = lambda of, size: np.array(draw(st.lists(of, min_size=size, max_size=size)))  # noqa: E731
    hosts = ReplicaHosts(
        ids=ids,
        residual_cpu=each(st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 3.0]), count),
        residual_mb=each(st.sampled_from([0.0, 64.0, 128.0, np.inf]), count),
        zone=each(st.integers(0, 2), count),
        accepting=each(st.sampled_from([True, True, True, False]), count),
        max_cpu=1.0,
        primary=each(st.integers(NOWHERE, count - 1), tasks),
        cpu=each(st.sampled_from([0.25, 0.5, 1.0]), tasks),
        memory_mb=each(st.sampled_from([0.0, 0.0, 32.0, 64.0]), tasks),
        same_zone=draw(st.sampled_from(["never", "never", "allow", "last-resort"])),
    )
    failing = draw(st.booleans())
    cases = tuple(
        replace(case, nodes=frozenset(draw(st.sets(st.sampled_from(ids))) if failing else ())) for case in problem.cases
    )
    return replace(problem, hosts=hosts, cases=cases)


def random_tree(
    seed: int, operators: int, parallelism: int, partitioning: str = "full", joins: float = 0.0
) -> Topology:
    """Return an in-tree of operators: full, or structured as the numbers of tasks allow; shares fall as 1/√k."""
    return in_tree(seed, operators, (1, parallelism), 0.5, full=partitioning == "full", joins=joins, shuffled=False)


def joint_brute_force(problem: ReplicationProblem) -> tuple[float, float] | None:
    """Return the best value of all choices and placements, and the least cost that reaches it; None: none is allowed.

    Every task may get a replica on every node; what a node holds, what a replica is worth there and what counts as a
    change is counted anew here.
    """
    hosts, best = problem.hosts, None
    assert hosts is not None
    places = []
    for task in range(problem.tasks):
        home = int(hosts.primary[task])
        here = []
        for n in range(len(hosts.ids)):
            beside = home != NOWHERE and hosts.zone[n] == hosts.zone[home]
            stays = hosts.kept is not None and hosts.kept[task] == n
            if stays or (hosts.accepting[n] and n != home and not (beside and hosts.same_zone == "never")):
                here.append(n)
        places.append([NOWHERE, *here])
    known: dict[bytes, float] = {}

    def value(node: list[int]) -> float:
        live = []
        for case in problem.cases:
            up = [n != NOWHERE and hosts.ids[n] not in case.nodes for n in node]
            live.append(~case.failed | np.array(up))
        key = np.array(live).tobytes()
        if key not in known:
            parts = [case.weight * problem.model.fidelity(up) for case, up in zip(problem.cases, live, strict=True)]
            known[key] = sum(parts) / sum(case.weight for case in problem.cases)
        return known[key]

    for node in itertools.product(*places):
        chosen = [t for t, n in enumerate(node) if n != NOWHERE]
        cost = float(sum(problem.weight[t] for t in chosen))
        if cost > problem.budget + 1e-9 or not has_room(hosts, node, chosen):
            continue
        if problem.max_changes is not None and changed(problem, node) > problem.max_changes:
            continue
        reached = value(list(node))
        if best is None or reached > best[0] + 1e-12 or (reached > best[0] - 1e-12 and cost < best[1] - 1e-9):
            best = (max(reached, best[0] if best else 0.0), cost)
    return best


def has_room(hosts: ReplicaHosts, node: Sequence[int], chosen: list[int]) -> bool:
    """Return whether the replicas of some tasks fit onto their nodes."""
    for n in {node[t] for t in chosen}:
        here = [t for t in chosen if node[t] == n]
        if hosts.cpu[here].sum() > hosts.residual_cpu[n] + 1e-9:
            return False
        if hosts.memory_mb[here].sum() > hosts.residual_mb[n] + 1e-9:
            return False
    return True


def changed(problem: ReplicationProblem, node: Sequence[int]) -> int:
    """Return how many replicas start and stop, up to those on some nodes, by task."""
    current = np.full(problem.tasks, NOWHERE) if problem.current is None else problem.current
    changes = 0
    for now, then in zip(current.tolist(), node, strict=True):
        if now == ANYWHERE:
            changes += then == NOWHERE
        elif now != then:
            changes += (now != NOWHERE) + (then != NOWHERE)
    return changes


@st.composite
def joint_problems(draw: st.DrawFn, tasks: int = 5, nodes: int = 4, changes: bool = False) -> ReplicationProblem:
    """Draw a small problem with nodes that are tight, zones, and cases in which nodes fail with the tasks on them."""
    topology = draw(topologies(operators=4, parallelism=3).filter(lambda topology: topology.task_count <= tasks))
    count, size = topology.task_count, draw(st.integers(2, nodes))

    def some(values: st.SearchStrategy[Any], length: int) -> Any:
        return np.array(draw(st.lists(values, min_size=length, max_size=length)))

    primary, cpu = some(st.integers(0, size - 1), count), some(st.sampled_from([0.0, 0.3, 0.5, 1.0]), count)
    zone, ids = some(st.integers(0, 2), size), tuple(f"n{n}" for n in range(size))
    memory = some(st.sampled_from([0.0, 64.0, 100.0]), count)
    hosts = ReplicaHosts(
        ids=ids,
        residual_cpu=some(st.sampled_from([-0.5, 0.0, 0.5, 0.8, 1.3, 4.0]), size),
        residual_mb=some(st.sampled_from([np.inf, 64.0, 128.0, 170.0]), size),
        zone=zone,
        accepting=some(st.sampled_from([True] * 5 + [False]), size),
        max_cpu=1.0,
        primary=primary,
        cpu=cpu,
        memory_mb=memory,
        same_zone=draw(st.sampled_from(["never", "never", "allow", "last-resort"])),
    )
    failed = []
    for _ in range(draw(st.integers(0, 3))):
        down = draw(st.lists(st.integers(0, size - 1), max_size=size))
        more = some(st.sampled_from([False, False, True]), count)
        failed.append((draw(st.sampled_from([0.1, 0.5, 1.0])), np.isin(primary, down) | more, {ids[n] for n in down}))
    weight = draw(st.sampled_from(["one", "cpu", "memory", "several"]))
    several = some(st.sampled_from([0.0, 0.25, 1.0, np.pi / 4]), count) if weight == "several" else np.ones(count)
    weight_of = {"one": np.ones(count), "cpu": cpu, "memory": memory / 64.0, "several": several}
    budget = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 20.0]))
    problem = problem_of(topology, budget, [(w, down) for w, down, _ in failed], weight_of[weight])
    cases = tuple(
        replace(case, nodes=frozenset(names)) for case, (_, _, names) in zip(problem.cases, failed, strict=False)
    )
    problem = replace(problem, hosts=hosts, cases=cases or problem.cases)
    if not changes:
        return problem
    places = some(st.sampled_from([NOWHERE, NOWHERE, *range(size)]), count)
    if draw(st.booleans()):  # nobody knows of any replica
        return replace(problem, max_changes=draw(st.integers(0, 4)))
    here = places >= 0
    needs = (np.bincount(places[here], need[here], size) for need in (cpu, memory))
    held_cpu, held_mb = (np.where(np.isin(np.arange(size), places), need, -np.inf) for need in needs)
    kept = replace(
        hosts,
        kept=places,
        residual_cpu=np.maximum(hosts.residual_cpu, held_cpu),
        residual_mb=np.maximum(hosts.residual_mb, held_mb),
    )
    return replace(problem, hosts=kept, current=places, max_changes=draw(st.integers(0, 4)))

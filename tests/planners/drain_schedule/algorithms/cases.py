"""Drain problems for tests, what may go together word by word, and the fewest rounds by trying all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets
from ftplan.planners.drain_schedule.problem import DrainLimits, DrainProblem, KeyGroupCopies, MovingRoom
from tests.model.measures.slow_fidelity import slow_fidelity
from tests.topologies import operator, topologies


def drain_problem(
    topology: Topology,
    nodes: int,
    task_node: Sequence[int],
    copies: Iterable[Sequence[int]] = (),
    replica_node: Sequence[int] | None = None,
    zone: Sequence[int] | None = None,
    **fields: Any,
) -> DrainProblem:
    """Return a problem: nodes n0, n1, ... restart in 60 s, each a zone of its own; copies are of groups of ``k``."""
    graph = TaskGraph(topology)
    ids = tuple(f"n{k}" for k in range(nodes))
    zones = list(range(nodes)) if zone is None else list(zone)
    given: dict[str, Any] = {
        "chosen": np.ones(nodes, dtype=np.bool_),
        "restart_s": np.full(nodes, 60.0),
        "limits": DrainLimits(),
    }
    return DrainProblem(
        graph=graph,
        model=fidelity_model(graph, rates(graph)),
        nodes=ids,
        zone=np.array(zones, dtype=np.int64),
        zone_names=tuple(f"node:{ids[k]}" if zone is None else f"z{zones[k]}" for k in range(nodes)),
        task_node=np.array(task_node, dtype=np.int64),
        replica_node=np.full(graph.tasks, NOWHERE) if replica_node is None else np.array(replica_node, dtype=np.int64),
        priority=graph.per_task("priority").astype(np.float64),
        copies=KeyGroupCopies.of(("k", g, list(held)) for g, held in enumerate(copies)),
        **(given | fields),
    )


def conflict_problem(nodes: int, pairs: Iterable[tuple[int, int]], **fields: Any) -> DrainProblem:
    """Return a problem whose nodes only have copies of key groups: a group a pair."""
    return drain_problem(Topology((operator("k", 1, output=True),), ()), nodes, [0], pairs, **fields)


def chain(sources: int) -> Topology:
    """Return sources that feed one sink each: every source carries an equal share of the output."""
    return Topology(
        (operator("a", sources), operator("b", sources, output=True)), (Edge(0, 1, partitioning="one-to-one"),)
    )


def allowed(problem: DrainProblem, nodes: frozenset[int]) -> bool:
    """Return whether nodes may go together: the definition, task by task, with packings tried one by one."""
    limits, graph = problem.limits, problem.graph
    for first, last in itertools.pairwise(problem.copies.start.tolist()):
        if sum(node in nodes for node in problem.copies.node[first:last].tolist()) > 1:
            return False
    off = []
    for task in range(graph.tasks):
        primary, replica = int(problem.task_node[task]), int(problem.replica_node[task])
        if primary in nodes and replica in nodes:
            return False
        if primary in nodes and replica == NOWHERE:
            off.append(task)
    if limits.max_nodes is not None and len(nodes) > limits.max_nodes:
        return False
    zones = [int(problem.zone[node]) for node in nodes]
    if limits.max_per_zone is not None and any(zones.count(zone) > limits.max_per_zone for zone in zones):
        return False
    if limits.move:
        return _fit(problem, off, nodes)
    live = {(i, k): graph.slice_of(i).start + k not in off for i, k in _tasks(graph)}
    if limits.min_fidelity is not None and slow_fidelity(graph.topology, live) < limits.min_fidelity - 1e-9:
        return False
    if limits.keep_priority is None:
        return True
    streams = _streams(graph)
    for output in np.flatnonzero(graph.output).tolist():
        needs = nx.ancestors(streams, output) | {output}
        if problem.priority[output] >= limits.keep_priority and needs & set(off):
            return False
    return True


def _tasks(graph: TaskGraph) -> list[tuple[int, int]]:
    return [(i, k) for i, o in enumerate(graph.topology.operators) for k in range(o.parallelism)]


def _streams(graph: TaskGraph) -> nx.DiGraph[int]:
    streams: nx.DiGraph[int] = nx.DiGraph()
    streams.add_nodes_from(range(graph.tasks))
    for edge in graph.topology.edges:
        senders, receivers = (range(*graph.slice_of(i).indices(graph.tasks)) for i in (edge.source, edge.target))
        pairs = graph.pairs(edge)
        if pairs is None:
            streams.add_edges_from(itertools.product(senders, receivers))
        else:
            streams.add_edges_from(
                (senders[i], receivers[j]) for i, j in zip(*(p.tolist() for p in pairs), strict=True)
            )
    return streams


def _fit(problem: DrainProblem, tasks: list[int], nodes: frozenset[int]) -> bool:
    """Return whether tasks find room on nodes that stay, one after another on each of them."""
    room = problem.room
    assert room is not None
    hosts = [k for k in range(len(problem.nodes)) if k not in nodes and room.accepting[k]]

    @cache
    def place(k: int, left: tuple[tuple[float, float], ...]) -> bool:
        if k == len(tasks):
            return True
        cpu, mb = float(room.task_cpu[tasks[k]]), float(room.task_mb[tasks[k]])
        for h, (free_cpu, free_mb) in enumerate(left):
            if cpu <= free_cpu + 1e-9 and mb <= free_mb + 1e-9:
                after = (*left[:h], (free_cpu - cpu, free_mb - mb), *left[h + 1 :])
                if place(k + 1, after):
                    return True
        return False

    return place(0, tuple((float(room.cpu[h]), float(room.memory_mb[h])) for h in hosts))


def fewest_rounds(problem: DrainProblem) -> int | None:
    """Return the fewest rounds by trying all sets of the chosen nodes; None where some node may not even go alone."""
    nodes = problem.to_restart
    may = [allowed(problem, frozenset(n for k, n in enumerate(nodes) if s >> k & 1)) for s in range(1 << len(nodes))]
    rounds = [0] + [len(nodes) + 1] * ((1 << len(nodes)) - 1)
    for mask in range(1, 1 << len(nodes)):
        first, part = mask & -mask, mask
        while part:
            if part & first and may[part]:
                rounds[mask] = min(rounds[mask], rounds[mask ^ part] + 1)
            part = (part - 1) & mask
    return rounds[-1] if rounds[-1] <= len(nodes) else None


@st.composite
def problems(draw: st.DrawFn, most: int = 7) -> DrainProblem:
    """Draw a small problem with any mixture of limits, many of them tight."""
    topology = draw(topologies(4, 4).filter(lambda t: t.task_count <= 10))
    nodes = draw(st.one_of(st.integers(1, most), st.integers(max(1, most - 2), most)))
    tasks = topology.task_count
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    task_node = rng.integers(0, nodes, tasks)
    replica = np.full(tasks, NOWHERE)
    if nodes > 1 and draw(st.booleans()):
        some = rng.random(tasks) < 0.4
        replica[some] = (task_node[some] + rng.integers(1, nodes, int(some.sum()))) % nodes
        replica[rng.random(tasks) < 0.1] = ANYWHERE
    width = min(nodes, draw(st.sampled_from([1, 2, 2, 3])))
    copies = [rng.choice(nodes, width, replace=False).tolist() for _ in range(draw(st.integers(0, 6)))]
    move = draw(st.sampled_from([False, False, True]))
    limits = DrainLimits(
        min_fidelity=draw(st.sampled_from([None, None, 0.1, 0.2, 0.25, 0.4, 0.5])),
        keep_priority=draw(st.sampled_from([None, None, None, None, 4.0, 5.0])),
        max_per_zone=draw(st.sampled_from([None, None, 1, 2])),
        max_nodes=draw(st.sampled_from([None, None, 1, 2, 3])),
        move=move,
    )
    room = None
    if move:
        cores, mb = rng.choice([0.0, 0.5, 1.0, 2.0], tasks), rng.choice([0.0, 1.0, 3.0], tasks)
        room = MovingRoom(
            cpu=rng.choice([0.5, 1.0, 2.0, 3.0, 5.0, -1.0], nodes, p=[0.05, 0.05, 0.1, 0.2, 0.55, 0.05]),
            memory_mb=rng.choice([np.inf, 6.0, 9.0], nodes),
            accepting=rng.random(nodes) < 0.9,
            task_cpu=cores,
            task_mb=mb,
        )
    chosen = rng.random(nodes) < 0.9
    return drain_problem(
        topology, nodes, task_node.tolist(), copies, replica.tolist(), rng.integers(0, 3, nodes).tolist(),
        limits=limits, room=room, chosen=chosen, restart_s=rng.choice([30.0, 60.0, 90.0], nodes),
    )  # fmt: skip


def kneser(n: int, k: int) -> DrainProblem:
    """Return the Kneser graph: the sets of k of n, two in conflict where they are disjoint (Lovász 1978)."""
    sets = [set(some) for some in itertools.combinations(range(n), k)]
    pairs = [(i, j) for i, j in itertools.combinations(range(len(sets)), 2) if not sets[i] & sets[j]]
    return conflict_problem(len(sets), pairs)


def queens(n: int) -> DrainProblem:
    """Return the queen graph of DIMACS: the squares of a board of n by n, two in conflict where queens attack."""
    squares = list(itertools.product(range(n), range(n)))

    def attack(a: tuple[int, int], b: tuple[int, int]) -> bool:
        return a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1])

    return conflict_problem(
        n * n, [(i, j) for i, j in itertools.combinations(range(n * n), 2) if attack(squares[i], squares[j])]
    )


def sets_of(problem: DrainProblem) -> AllowedSets:
    """Return the allowed sets of a problem whose nodes each may go alone."""
    return AllowedSets(problem, problem.to_restart, Budget(math.inf))

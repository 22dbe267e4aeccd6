"""Replicas on nodes: what a growing solution keeps, against trying everything."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.planners.replicate_tasks.algorithms.deployment import spread
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement
from ftplan.planners.replicate_tasks.algorithms.search.enumeration import WorkLimit, assigned
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import hosted, problems

FEW = settings(max_examples=40, deadline=None)


def valid(problem: ReplicationProblem, node: np.ndarray) -> bool:
    """Return whether replicas keep to zones, cores and memory: summed up node by node."""
    hosts = problem.hosts
    assert hosts is not None
    for task in np.flatnonzero(node != NOWHERE).tolist():
        home, here = int(hosts.primary[task]), int(node[task])
        if not hosts.accepting[here] or here == home:
            return False
        if hosts.same_zone == "never" and home != NOWHERE and hosts.zone[home] == hosts.zone[here]:
            return False
    for n in set(node[node != NOWHERE].tolist()):
        some = node == n
        if hosts.cpu[some].sum() > hosts.residual_cpu[n] + 1e-9 or hosts.memory_mb[some].sum() > hosts.residual_mb[n]:
            return False
    return True


@FEW
@given(st.data(), problems(tasks=5))
def test_the_best_nodes_of_a_set_equal_all_assignments(data: st.DataObject, problem: ReplicationProblem) -> None:
    problem = data.draw(hosted(problem))
    replicated = np.array(data.draw(st.tuples(*[st.booleans()] * problem.tasks)))
    nodes = range(len(problem.hosts.ids))  # type: ignore[union-attr]
    best = -1.0
    for places in itertools.product(nodes, repeat=int(replicated.sum())):
        node = np.full(problem.tasks, NOWHERE)
        node[replicated] = places
        if valid(problem, node):
            best = max(best, problem.value_at(node))
    found = assigned(problem, replicated, -1.0, WorkLimit(10**9))
    assert (found is None) == (best < 0.0)
    if found is not None:
        assert valid(problem, found)
        assert ((found != NOWHERE) == replicated).all()
        assert problem.value_at(found) == pytest.approx(best, abs=1e-12)


@FEW
@given(st.data(), problems(tasks=8))
def test_what_is_added_and_taken_back_leaves_everything(data: st.DataObject, problem: ReplicationProblem) -> None:
    """All of some tasks find nodes, by moving others too, or nothing changes; sums are kept right."""
    problem = data.draw(hosted(problem))
    room = ReplicaPlacement(problem)
    for _ in range(6):
        tasks = data.draw(st.lists(st.integers(0, problem.tasks - 1), min_size=1, max_size=3, unique=True))
        case = data.draw(st.sampled_from([None, *range(len(problem.cases))]))
        before = room.node.copy()
        if room.add(tasks, case):
            assert (room.node == before).all()
        else:
            assert (room.node[tasks] != NOWHERE).all()
            if case is not None:
                assert not problem.down[case][room.node[tasks]].any()
        assert valid(problem, room.node)
        fresh = ReplicaPlacement(problem, room.node)
        assert room.cost == pytest.approx(fresh.cost)
        assert room.changes == fresh.changes == problem.changes(room.node)
        assert room.cpu == pytest.approx(fresh.cpu)
        impossible = ~room.possible() & ~room.replicated
        assert all(len(room.open_to(task)) == 0 for task in np.flatnonzero(impossible).tolist())
    even = spread(problem, room.node)
    assert valid(problem, even)
    assert ((even != NOWHERE) == room.replicated).all()
    assert problem.value_at(even) >= room.value - 1e-12


def test_one_replica_moves_to_make_room_for_another() -> None:
    """Task 0 could stand on both nodes and stands where task 1 alone fits."""
    from ftplan.model.topology import Topology
    from tests.planners.replicate_tasks.algorithms.cases import problem_of
    from tests.topologies import operator

    one = np.ones(2)
    problem = problem_of(Topology((operator("a", 2, output=True),), ()), 2)
    hosts = ReplicaHosts(
        ids=("x", "y"), residual_cpu=one, residual_mb=one, zone=np.arange(2), accepting=np.ones(2, dtype=np.bool_),
        max_cpu=1.0, primary=np.array([NOWHERE, 1]), cpu=one, memory_mb=0.0 * one,
    )  # fmt: skip
    room = ReplicaPlacement(replace(problem, hosts=hosts))
    room.put(0, 0)
    assert room.add([1]) == []
    assert room.node.tolist() == [1, 0]

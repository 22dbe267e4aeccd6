"""Targets, limits of change and room on nodes hold whatever planner chooses the replicas."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.metrics.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.plan import Infeasible
from ftplan.model.topology import Topology
from ftplan.planners.budget import Budget
from ftplan.planners.registry import rows
from ftplan.planners.replication.changes import ChangeLimits, limited
from ftplan.planners.replication.choice import ReplicationPlanner
from ftplan.planners.replication.curve import curve, curve_budgets
from ftplan.planners.replication.deployment import DeploymentProblem, deployed
from ftplan.planners.replication.exact import exact
from ftplan.planners.replication.fewest import fewest
from ftplan.planners.replication.planner import ReplicationOptions
from tests.planners.replication.cases import brute_force, problem_of, problems
from tests.topologies import topologies

OPTIONS = ReplicationOptions(time_limit_s=3600)
PLANNERS = {row.name: ReplicationPlanner.of(row) for row in rows("replicate-tasks")}
FEW = settings(max_examples=25, deadline=None)


@FEW
@given(topologies(operators=4, parallelism=2), st.sampled_from([0.3, 0.5, 1.0]))
def test_no_budget_below_the_fewest_reaches_the_target(topology: Topology, target: float) -> None:
    problem = problem_of(topology, 0)
    result = fewest(problem, PLANNERS["exact"].choose, OPTIONS, target, lambda replicated: True)
    assert result.answer is not None
    count = int(problem.useful(result.answer.replicated).sum())
    assert problem.value(result.answer.replicated) >= target - 1e-9
    if count:
        assert brute_force(problem_of(topology, count - 1))[0] < target
    assert result.status == "optimal"
    assert result.bound == count


@FEW
@given(st.data(), problems(), st.integers(0, 4))
def test_changes_are_limited(data: st.DataObject, problem: ReplicationProblem, most: int) -> None:
    """No more changes than allowed, within the budget, and never worse than replicas in place that fit."""
    flags = data.draw(st.tuples(*[st.booleans()] * problem.tasks))
    current = np.array(flags, dtype=np.bool_) & problem.fails
    answer = exact(problem, OPTIONS).answer
    assert answer is not None
    plan, _ = limited(problem, answer.replicated, current, ChangeLimits(most), Budget(math.inf))
    if isinstance(plan, Infeasible):
        assert not problem.fits(problem.cost(current))
        return
    assert (plan != current).sum() <= most
    assert problem.fits(problem.cost(plan))
    if problem.fits(problem.cost(current)):
        assert problem.value(plan) >= problem.value(current) - 1e-12


@FEW
@given(problems())
def test_curves_rise_below_their_bounds(problem: ReplicationProblem) -> None:
    best = brute_force(problem)[0]
    for planner in PLANNERS.values():
        points, warnings = curve(problem, planner, OPTIONS, curve_budgets(problem))
        assert warnings == ()
        values, bounds = [p.value for p in points], [p.bound for p in points if p.bound is not None]
        assert values == sorted(values)
        assert bounds == sorted(bounds)
        assert len(bounds) == len(points)
        assert all(p.value <= b for p, b in zip(points, bounds, strict=True))
        assert all(b >= best - 1e-9 for p, b in zip(points, bounds, strict=True) if p.budget >= problem.budget)


@FEW
@given(st.data(), problems(tasks=7))
def test_replicas_keep_to_the_room_on_nodes(data: st.DataObject, problem: ReplicationProblem) -> None:
    nodes, one = 3, np.ones(problem.tasks)
    room = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 8.0]), min_size=nodes, max_size=nodes))
    primary = np.array(data.draw(st.tuples(*[st.integers(NOWHERE, nodes - 1)] * problem.tasks)))
    hosts = ReplicaHosts(
        ids=("n0", "n1", "n2"), residual_cpu=np.array(room), residual_mb=np.full(nodes, np.inf), zone=np.arange(nodes),
        accepting=np.ones(nodes, dtype=np.bool_), max_cpu=1.0, primary=primary, cpu=one, memory_mb=0.0 * one,
    )  # fmt: skip
    result = deployed(DeploymentProblem(problem, hosts), PLANNERS["structure-aware"], OPTIONS)
    if result.answer is None:
        assert result.infeasible is not None
        assert result.infeasible.smallest_fix
        return
    node = result.answer
    taken = [sum(place == name for place in node.values()) for name in hosts.ids]
    assert all(count <= cores for count, cores in zip(taken, room, strict=True))
    assert all(place is not None and hosts.position[place] != primary[task] for task, place in node.items())
    assert result.bound is not None
    assert problem.value_on(node) <= result.bound + 1e-9

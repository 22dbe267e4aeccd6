"""Targets, limits of change and room on nodes hold whatever planner chooses the replicas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.topology import Topology
from ftplan.planners.registry import rows
from ftplan.planners.replicate_tasks.algorithms.curve import curve, curve_budgets
from ftplan.planners.replicate_tasks.algorithms.deployment import deployed
from ftplan.planners.replicate_tasks.algorithms.fewest import fewest
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import brute_force, hosted, problem_of, problems
from tests.topologies import topologies

OPTIONS = ReplicationOptions(time_limit_s=3600)
PLANNERS = {row.name: ReplicationPlanner.of(row) for row in rows("replicate-tasks")}
FEW = settings(max_examples=25, deadline=None)


@FEW
@given(topologies(operators=4, parallelism=2), st.sampled_from([0.3, 0.5, 1.0]))
def test_no_budget_below_the_fewest_reaches_the_target(topology: Topology, target: float) -> None:
    problem = problem_of(topology, 0)
    result = fewest(problem, PLANNERS["exact"], OPTIONS, target)
    assert result.answer is not None
    count = int((problem.useful_at(result.answer.nodes()) != NOWHERE).sum())
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
    problem = replace(problem, current=np.where(current, 0, NOWHERE), max_changes=most)
    for name in ("greedy", "dynamic-programming", "structure-aware"):
        result = deployed(problem, PLANNERS[name], OPTIONS)
        if result.answer is None:
            assert not problem.fits(problem.cost(current))
            continue
        plan = problem.mask(result.answer)
        assert (plan != current).sum() <= most
        assert problem.fits(problem.cost(plan))
        if problem.fits(problem.cost(current)):
            assert problem.value(plan) >= problem.value(current) - 1e-12


@settings(max_examples=4, deadline=None)
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
    problem = data.draw(hosted(problem))
    hosts = problem.hosts
    assert hosts is not None
    for name in ("greedy", "dynamic-programming", "structure-aware"):
        result = deployed(problem, PLANNERS[name], OPTIONS)
        if result.answer is None:
            assert result.infeasible is not None
            assert result.infeasible.smallest_fix
            continue
        node = result.answer
        for id, cores in zip(hosts.ids, hosts.residual_cpu, strict=True):
            here = [task for task, place in node.items() if place == id]
            assert not here or hosts.cpu[here].sum() <= cores + 1e-9
        assert all(hosts.allowed(task)[hosts.position[str(place)]] for task, place in node.items())
        assert result.bound is not None
        assert problem.value_on(node) <= result.bound + 1e-9

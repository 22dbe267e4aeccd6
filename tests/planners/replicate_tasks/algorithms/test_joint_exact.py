"""Choice and placement at once equal trying all of both, and bounds hold for all of both."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings

from ftplan.model.measures.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.model.topology import Edge, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.bounds import least_value, quick_bound
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, Sites
from ftplan.planners.replicate_tasks.algorithms.models.joint_program import JointProgram
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.shortage import too_few_changes
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import (
    brute_force,
    changed,
    has_room,
    joint_brute_force,
    joint_problems,
    problem_of,
    problems,
)
from tests.topologies import operator

OPTIONS = ReplicationOptions(time_limit_s=3600)
SOME = settings(max_examples=80, deadline=None)


def check(problem: ReplicationProblem) -> None:
    """Hold exact, its bound and the quick one to the optimum of all choices and placements."""
    best = joint_brute_force(problem)
    result = exact(problem, OPTIONS)
    if best is None:
        assert too_few_changes(problem) is not None
        return
    assert quick_bound(problem, Budget(np.inf)) >= best[0] - 1e-12
    assert result.answer is not None
    assert result.bound is not None
    node = result.answer.node
    assert node is not None
    chosen = np.flatnonzero(node != NOWHERE).tolist()
    assert problem.hosts is not None
    assert has_room(problem.hosts, node.tolist(), chosen)
    assert all(problem.hosts.allowed(task)[node[task]] for task in chosen)
    assert problem.fits(problem.cost(node != NOWHERE))
    assert problem.max_changes is None or changed(problem, node.tolist()) <= problem.max_changes
    assert problem.value_at(node) == pytest.approx(best[0], abs=1e-9)
    assert result.status == "optimal"
    assert result.bound >= best[0] - 1e-12


#: The one replica that pays is that of c, and to move the budget there from b takes two changes.
TWO_CHANGES = replace(
    problem_of(
        Topology(
            (
                operator("a", 1),
                operator("b", 1, rate_out=[0.0], output=True),
                operator("c", 1, rate_out=[1.0], output=True),
            ),
            (Edge(0, 1, "full"),),
        ),
        1,
    ),
    hosts=ReplicaHosts(
        ids=("n0", "n1"),
        residual_cpu=np.array([-0.5, 0.0]),
        residual_mb=np.full(2, np.inf),
        zone=np.zeros(2, dtype=np.int64),
        accepting=np.ones(2, dtype=np.bool_),
        max_cpu=1.0,
        primary=np.zeros(3, dtype=np.int64),
        cpu=np.zeros(3),
        memory_mb=np.zeros(3),
        same_zone="allow",
        kept=np.array([NOWHERE, 1, NOWHERE]),
    ),
    current=np.array([NOWHERE, 1, NOWHERE]),
    max_changes=1,
)


@SOME
@given(joint_problems())
def test_equals_all_choices_and_placements(problem: ReplicationProblem) -> None:
    check(problem)


@SOME
@given(joint_problems(tasks=4, changes=True))
@example(TWO_CHANGES)
def test_equals_all_choices_and_placements_within_changes(problem: ReplicationProblem) -> None:
    check(problem)


@SOME
@given(joint_problems())
def test_merged_sites_bound_the_optimum(problem: ReplicationProblem) -> None:
    best, candidates = joint_brute_force(problem), CandidateNodes.of(problem)
    assert best is not None
    program = JointProgram(problem, candidates, Sites.merged(problem, candidates), 0, Budget(3600))
    relaxation = program.relaxed(Budget(3600))
    assert relaxation is not None
    for bound in (relaxation.bound, program.solved(Budget(3600)).bound):
        assert bound >= best[0] - 1e-12


@SOME
@given(joint_problems(tasks=4, changes=True))
def test_bounds_hold_without_time_or_work(problem: ReplicationProblem) -> None:
    best = joint_brute_force(problem)
    if best is None:
        return
    for options in (ReplicationOptions(time_limit_s=0.0), ReplicationOptions(iterations=1)):
        result = exact(problem, options)
        assert result.answer is not None
        assert result.bound is not None
        assert problem.value_at(result.answer.nodes()) - 1e-9 <= best[0] <= result.bound + 1e-12


#: The lighter of two outputs fails in both cases, and is the better choice for one replica.
OFTEN = problem_of(
    Topology((operator("a", 2, rate_out=[11.0, 9.0], output=True),), ()),
    1,
    [(1.0, np.array([True, True])), (1.0, np.array([False, True]))],
)


@settings(max_examples=60, deadline=None)
@given(problems())
@example(OFTEN)
def test_programs_and_their_relaxations_bound_all_plans(problem: ReplicationProblem) -> None:
    """Tasks that fail in different cases are not alike, whatever their weight."""
    best, candidates = brute_force(problem)[0], CandidateNodes.of(problem)
    program = JointProgram.of(problem, candidates, Sites.merged(problem, candidates), 0, Budget(np.inf))
    assert program is not None
    relaxation = program.relaxed(Budget(3600.0))
    assert relaxation is not None
    assert relaxation.bound >= best - 1e-9
    assert program.solved(Budget(3600.0)).bound >= best - 1e-9


@settings(max_examples=60, deadline=None)
@given(problems(tasks=6))
def test_no_value_lies_between_nothing_and_the_least(problem: ReplicationProblem) -> None:
    values = {problem.value(np.array(choice)) for choice in itertools.product((False, True), repeat=problem.tasks)}
    assert min(values - {0.0}) >= least_value(problem) * (1.0 - 1e-9) > 0.0

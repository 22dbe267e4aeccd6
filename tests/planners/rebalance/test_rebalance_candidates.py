"""What an explanation says rules a node out, beside the judge of whole plans."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ftplan.model.cluster import Cluster, Node
from ftplan.planners.rebalance.algorithms.adaptive import adaptive
from ftplan.planners.rebalance.candidates import PlannedRebalance, candidate_rows
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem, RebalanceSearch
from ftplan.planners.rebalance.rules import broken
from tests.planners.rebalance.algorithms.cases import random_problem

#: Rules that depend on what else happens in a phase, or on new copies, which a row does not look at.
TOGETHER = {"phase-capacity", "phase-bytes", "max-pause", "within", "copies-apart"}


@cache
def answered(seed: int) -> tuple[RebalanceProblem, Rebalance] | None:
    problem = random_problem(seed, groups=6, nodes=5)
    answer = adaptive(problem, RebalanceSearch(seed=seed, iterations=20, time_limit_s=3600.0)).answer
    return None if answer is None or broken(problem, answer) else (problem, answer)


def instead(problem: RebalanceProblem, answer: Rebalance, group: int, move: Migration | None) -> set[str]:
    """Return the rules that are broken where a group goes another way, in the phase of its move if it has one."""
    phases = [[other if other.group != group else move for other in phase] for phase in answer.phases]
    if move is not None and group not in {other.group for other in answer.moves}:
        phases.append([move])
    kept = tuple(tuple(some for some in phase if some is not None) for phase in phases)
    copies = tuple(copy for copy in answer.new_copies if copy.group != group)
    return {breach.rule for breach in broken(problem, Rebalance(tuple(p for p in kept if p), copies))}


@pytest.mark.parametrize("first", [0, 8, 16])
def test_rows_say_what_the_judge_says(first: int) -> None:
    """A node that nothing rules out breaks nothing by some protocol, but for what depends on the phase; others do."""
    cases = [case for seed in range(first, first + 8) if (case := answered(seed)) is not None]
    assert cases
    for problem, answer in cases:
        planned = PlannedRebalance.of(
            problem, Cluster(tuple(Node(name, 1.0) for name in problem.nodes)), answer, "auto"
        )
        for group in range(len(problem.home)):
            for row in candidate_rows(planned, group):
                check(problem, answer, group, row)


def check(problem: RebalanceProblem, answer: Rebalance, group: int, row: dict[str, Any]) -> None:
    node = problem.nodes.index(row["node"])
    if row["chosen"]:
        assert row["ruled out by"] is None
        return
    at_home = node == problem.home[group]
    moves = [None] if at_home else [Migration(group, node, way) for way in problem.possible(group, node)]
    outcomes = [instead(problem, answer, group, move) for move in moves if at_home or problem.hosts[node]]
    if row["ruled out by"] is None:
        assert any(not rules - TOGETHER for rules in outcomes), (row, outcomes)
    else:
        assert all(outcomes), (row, outcomes)


def test_costs_are_those_of_single_moves() -> None:
    problem, answer = next(case for seed in range(40) if (case := answered(seed)) is not None)
    planned = PlannedRebalance.of(problem, Cluster(tuple(Node(name, 1.0) for name in problem.nodes)), answer, "auto")
    for group in range(len(problem.home)):
        for row in candidate_rows(planned, group):
            node = problem.nodes.index(row["node"])
            for way in problem.possible(group, node) if node != problem.home[group] else ():
                names = (f"{problem.criterion} by {way}", f"{problem.criterion} by {way}, s")
                assert [row[n] for n in names if n in row] == [problem.cost(Migration(group, node, way))]

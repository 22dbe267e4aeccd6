"""Rounds against all sets tried, against graphs of known chromatic number, and against looser limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ftplan.planners import registry
from ftplan.planners.drain_schedule.algorithms import exact as module
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds
from ftplan.planners.drain_schedule.algorithms.exact import exact
from ftplan.planners.drain_schedule.algorithms.first_fit import one_by_one, zone_by_zone
from ftplan.planners.drain_schedule.algorithms.greedy import greedy
from ftplan.planners.drain_schedule.problem import Drain, DrainLimits, DrainOptions, DrainProblem
from ftplan.planners.drain_schedule.rules import broken
from ftplan.planners.result import Result
from tests.planners.drain_schedule.algorithms.cases import (
    allowed,
    chain,
    conflict_problem,
    drain_problem,
    fewest_rounds,
    kneser,
    problems,
    queens,
    sets_of,
)

Planner = Callable[[DrainProblem, DrainOptions], Result[Drain]]
PLANNERS = [pytest.param(registry.load(row), id=row.name) for row in registry.rows("drain-schedule")]
OPTIONS = DrainOptions(time_limit_s=3600.0, iterations=200)


def checked(problem: DrainProblem, result: Result[Drain]) -> int:
    """Return the rounds of a result, each recomputed word by word and by the measures."""
    drain = result.answer
    assert drain is not None
    assert result.bound is not None
    assert sorted(node for nodes in drain.rounds for node in nodes) == list(problem.to_restart)
    for nodes, moves in zip(drain.rounds, drain.moves, strict=True):
        assert allowed(problem, frozenset(nodes))
        assert broken(problem, nodes, moves) == []
    assert result.bound <= len(drain.rounds)
    assert (result.status == "optimal") == (result.bound == len(drain.rounds))
    return len(drain.rounds)


@settings(max_examples=100)
@given(problems())
def test_exact_tries_as_well_as_all_sets(problem: DrainProblem) -> None:
    fewest, best, quick = fewest_rounds(problem), exact(problem, OPTIONS), greedy(problem, OPTIONS)
    if fewest is None:
        assert best.status == quick.status == "infeasible"
        return
    assert checked(problem, best) == fewest == best.bound
    assert checked(problem, quick) >= fewest
    assert quick.bound is not None
    assert quick.bound <= fewest


@settings(max_examples=30)
@given(problem=problems(), program=st.booleans())
def test_each_proof_alone_agrees_with_all_sets(problem: DrainProblem, program: bool) -> None:
    """From rounds of one node each: by the program first, or by prices."""
    fewest = fewest_rounds(problem)
    assume(fewest is not None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "few_rounds", lambda sets, *_: one_by_one(sets))
        patch.setattr(module, "least_rounds", lambda sets: LeastRounds(min(1, sets.count), ()))
        patch.setattr(module, "SMALL_PROGRAM", 400 if program else -1)
        assert checked(problem, exact(problem, OPTIONS)) == fewest


@pytest.mark.parametrize(
    ("problem", "chromatic"),
    [(kneser(n, k), n - 2 * k + 2) for n, k in ((5, 2), (6, 2), (7, 2), (7, 3), (8, 3))]
    + [(queens(n), number) for n, number in ((5, 5), (6, 7), (7, 7))]
    + [(conflict_problem(3 * 2 ** (k - 2) - 1, nx.mycielski_graph(k).edges), k) for k in (3, 4, 5)],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_conflicts_alone_are_a_colouring(problem: DrainProblem, chromatic: int) -> None:
    """Kneser graphs need n - 2k + 2 colours (Lovász 1978), Mycielski's k; queens as DIMACS says."""
    assert checked(problem, exact(problem, OPTIONS)) == chromatic
    assert checked(problem, greedy(problem, OPTIONS)) >= chromatic


@settings(max_examples=40)
@given(problems(), st.data())
def test_looser_limits_never_need_more_rounds(problem: DrainProblem, data: st.DataObject) -> None:
    tight = exact(problem, OPTIONS)
    assume(tight.answer is not None)
    limits = problem.limits
    loosened = data.draw(
        st.sampled_from(
            [
                replace(limits, min_fidelity=None if limits.min_fidelity is None else limits.min_fidelity / 2),
                replace(limits, keep_priority=None),
                replace(limits, max_per_zone=None if limits.max_per_zone is None else limits.max_per_zone + 1),
                replace(limits, max_nodes=None if limits.max_nodes is None else limits.max_nodes + 1),
            ]
        )
    )
    loose = replace(problem, limits=loosened)
    assert checked(loose, exact(loose, OPTIONS)) <= checked(problem, tight)


@settings(max_examples=40)
@given(problem=problems())
@pytest.mark.parametrize("planner", PLANNERS)
def test_never_worse_than_one_by_one_or_zone_by_zone(planner: Planner, problem: DrainProblem) -> None:
    result = planner(problem, OPTIONS)
    assume(result.answer is not None)
    sets = sets_of(problem)
    assert checked(problem, result) <= min(len(one_by_one(sets)), len(zone_by_zone(sets)))


@settings(max_examples=20)
@given(problem=problems())
@pytest.mark.parametrize("planner", PLANNERS)
def test_the_same_question_has_the_same_answer(planner: Planner, problem: DrainProblem) -> None:
    first, again = planner(problem, OPTIONS), planner(replace(problem), OPTIONS)
    assert (first.answer, first.bound) == (again.answer, again.bound)


@settings(max_examples=60)
@given(problem=problems())
@pytest.mark.parametrize("planner", PLANNERS)
def test_partial_leaves_out_what_cannot_go_alone(planner: Planner, problem: DrainProblem) -> None:
    partial = planner(problem, replace(OPTIONS, partial=True))
    assert partial.answer is not None
    left = {node for node, _ in partial.answer.unplaced}
    assert left == {node for node in problem.to_restart if not allowed(problem, frozenset({node}))}
    rest = replace(problem, chosen=problem.chosen & ~problem.mask(left))
    assert checked(rest, planner(rest, OPTIONS)) == len(partial.answer.rounds)


def test_the_fix_of_lost_output_is_the_smallest() -> None:
    """Of ten equal shares of the output n0 holds three: nothing above 0.7 can be kept, and 0.7 can."""
    problem = drain_problem(
        chain(10), 5, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4] + [4] * 10, limits=DrainLimits(min_fidelity=0.8)
    )
    problem = replace(problem, chosen=problem.mask([0, 1, 2, 3]))
    result = greedy(problem, OPTIONS)
    assert result.infeasible is not None
    assert "node n0 cannot restart even alone" in result.infeasible.reason
    assert (result.infeasible.limit, result.infeasible.current) == ("min-fidelity", 0.8)
    assert result.infeasible.smallest_fix == "--min-fidelity 0.7"
    fixed = replace(problem, limits=DrainLimits(min_fidelity=0.7))
    assert checked(fixed, exact(fixed, OPTIONS)) == 4  # any two of 0.3 and 0.2 lose more


def test_of_as_few_rounds_the_shorter_are_taken() -> None:
    """Two slow nodes go together, although first fit would pair each with a quick one."""
    seconds = np.array([300.0, 60.0, 300.0, 60.0])
    problem = conflict_problem(4, [], restart_s=seconds, limits=DrainLimits(max_nodes=2))
    for planner in (greedy, exact):
        result = planner(problem, OPTIONS)
        assert result.answer is not None
        assert result.answer.rounds == ((0, 2), (1, 3))


@pytest.mark.parametrize("planner", PLANNERS)
def test_nothing_to_restart_takes_no_round(planner: Planner) -> None:
    problem = conflict_problem(3, [(0, 1)], chosen=np.zeros(3, dtype=np.bool_))
    result: Any = planner(problem, OPTIONS)
    assert (result.status, result.bound, result.answer.rounds) == ("optimal", 0.0, ())


@settings(max_examples=30)
@given(problem=problems())
@pytest.mark.parametrize("planner", PLANNERS)
def test_without_time_there_is_a_plan_and_a_bound(planner: Planner, problem: DrainProblem) -> None:
    """Each node goes alone, at the worst."""
    assume(not problem.limits.move)
    result = planner(problem, replace(OPTIONS, time_limit_s=0.0))
    fewest = fewest_rounds(problem)
    assert (result.answer is None) == (fewest is None)
    if fewest is not None:
        assert checked(problem, result) >= fewest
        assert result.bound is not None
        assert result.bound <= fewest
        assert result.status == "optimal" or "TIME_LIMIT" in {warning.code for warning in result.warnings}

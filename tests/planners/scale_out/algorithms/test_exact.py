"""The best scale-out, against a search of everything that there is, with tight limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import SearchOptions
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms import exact as module
from ftplan.planners.scale_out.algorithms.baselines import baselines, doubling, ds2
from ftplan.planners.scale_out.algorithms.exact import exact
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.problem import (
    ScalableOperator,
    Scaling,
    ScalingProblem,
    extra_cpu,
    slots_taken,
    sustained_load,
)
from ftplan.planners.scale_out.rules import TARGET, TASK_MEMORY, broken
from tests.effort import examples
from tests.planners.scale_out.algorithms.cases import Best, BruteForce, operator, problem, random_problem

SEARCH = SearchOptions(time_limit_s=3600.0)
SEEDS = st.integers(0, 2**31)


def solved(question: ScalingProblem) -> Result:
    return exact(question, SEARCH)


def figures(question: ScalingProblem, result: Result) -> Best:
    kinds = BruteForce(question).kind
    roomier = sum(kinds[item.operator] == "roomier" for item in result.answer.operators)
    value, extra = sustained_load(question, result.answer), extra_cpu(question, result.answer)
    return Best(round(value, 9), roomier, round(-extra, 9), -len(result.answer.operators))


def rules_broken(question: ScalingProblem, answer: Scaling) -> list[object]:
    """What is broken but the target, which may be out of reach, and limits on state that nothing could keep."""
    keeps = {f"operator:{item.id}" for item, kept in zip(question.operators, held(question), strict=True) if kept}
    changed = {f"operator:{question.operators[item.operator].id}" for item in answer.operators}
    return [
        breach
        for breach in broken(question, answer)
        if breach.rule != TARGET and (breach.rule != TASK_MEMORY or breach.where in keeps & changed)
    ]


def check(question: ScalingProblem) -> None:
    expected, result = BruteForce(question).best(), solved(question)
    if expected is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert figures(question, result) == expected
    assert result.bound >= sustained_load(question, result.answer)
    least = result.answer.least_extra_cpu
    assert least is None or least <= extra_cpu(question, result.answer) + 1e-9
    assert expected.roomier or least == extra_cpu(question, result.answer)
    assert not rules_broken(question, result.answer)
    for other in baselines(question).values():
        assert not [breach for breach in rules_broken(question, other) if breach.rule != "ranges"]
        value, extra = sustained_load(question, other), extra_cpu(question, other)
        assert value <= expected.value + 1e-9
        if least is not None and value >= expected.value - 1e-9:
            assert extra >= least - 1e-9


@pytest.mark.parametrize("seed", range(examples(240)))
def test_it_is_the_best_of_all(seed: int) -> None:
    check(random_problem(seed))


@pytest.mark.parametrize("seed", range(examples(90)))
def test_it_is_the_best_of_all_where_nodes_decide(seed: int) -> None:
    """Tasks of several sizes, on nodes with less than they need."""
    draws = np.random.default_rng([seed, 7])
    question = random_problem(seed, free_cpu=None, quota=None)
    nodes = int(draws.integers(2, 4))
    tasks = tuple(tuple(draws.integers(0, nodes, item.parallelism).tolist()) for item in question.operators)
    free = draws.integers(1, 6, nodes) / 2
    check(replace(question, nodes=tuple(f"n{n}" for n in range(nodes)), free=free, now=tasks))


@pytest.mark.parametrize("seed", range(examples(120)))
def test_it_is_the_best_of_all_where_slots_decide(seed: int) -> None:
    """Operators of one or two slot sharing groups, with few slots more than they take now, or fewer."""
    check(with_slots(random_problem(seed), seed))


def with_slots(question: ScalingProblem, seed: int) -> ScalingProblem:
    draws = np.random.default_rng([seed, 8])
    operators = tuple(replace(item, slot_group=str(draws.choice(["", "own"]))) for item in question.operators)
    question = replace(question, operators=operators)
    if not question.nodes:
        return replace(question, slots=float(slots_taken(question, {}) + draws.integers(-1, 3)))
    node_slots = draws.integers(1, 5, len(question.nodes)).astype(float)
    if seed % 3 == 0:
        node_slots[0] = np.inf  # one node does not say
    return replace(question, slots=float(node_slots.sum()), node_slots=node_slots)


@given(SEEDS)
@settings(max_examples=40)
def test_more_is_never_worse(seed: int) -> None:
    question = with_slots(random_problem(seed), seed) if seed % 2 else random_problem(seed)
    limits, nodes = question.limits, question.nodes
    more = [
        replace(question, limits=replace(limits, free_cpu=None if limits.free_cpu is None else limits.free_cpu + 1.0)),
        replace(question, limits=replace(limits, quota=None if limits.quota is None else limits.quota + 1.0)),
        replace(question, nodes=(*nodes, "more"), free=np.append(question.free, 1.5), **more_slots(question))
        if nodes
        else question,
        replace(question, slots=question.slots + 1.0, node_slots=question.node_slots + 1.0),
        replace(question, operators=tuple(with_more_tasks(item) for item in question.operators)),
    ]
    before = solved(question)
    if before.answer is None:
        return
    if held(more[-1]) != held(question):  # one task more, and a limit on state that nothing could keep can be kept
        more.pop()
    for other in more:
        value = sustained_load(other, solved(other).answer)
        assert value >= sustained_load(question, before.answer) - 1e-9


def more_slots(question: ScalingProblem) -> dict[str, Any]:
    """Return the slots with one node more, of one slot."""
    if not len(question.node_slots):
        return {}
    return {"slots": question.slots + 1.0, "node_slots": np.append(question.node_slots, 1.0)}


def held(question: ScalingProblem) -> list[bool]:
    """Return by operator whether the limit on state of a task can be kept: where it cannot, it is no rule."""
    return [OperatorSizing(item, question.split, question.limits.target).holds_state for item in question.operators]


def test_a_limit_that_can_be_kept_is_kept_though_less_comes_through() -> None:
    """With one task more the limit on state can be kept, and tasks between may not be had any more."""
    question = random_problem(202)
    more = replace(question, operators=tuple(with_more_tasks(item) for item in question.operators))
    assert held(more) != held(question)
    assert sustained_load(more, solved(more).answer) < sustained_load(question, solved(question).answer)


def with_more_tasks(item: ScalableOperator) -> ScalableOperator:
    return replace(item, most=item.most + 1)


@given(SEEDS)
@settings(max_examples=40)
def test_other_planners_keep_the_rules_and_the_bound(seed: int) -> None:
    question = random_problem(seed)
    best = solved(question)
    for planner in (ds2, doubling):
        result = planner(question, SEARCH)
        assert (result.status == "infeasible") == (best.status == "infeasible")
        if result.answer is not None:
            assert result.bound == pytest.approx(best.bound, rel=1e-9)
            assert not [b for b in rules_broken(question, result.answer) if b.rule != "ranges"]


def test_ds2_is_its_formula() -> None:
    """Three operators by hand: demand over true rate over target, rounded up; no look at skew."""
    question = problem(
        operator("source", 1.4, 1),
        operator("map", 5.6, 4),
        operator("count", [2.8, 0.1, 0.1, 0.1], 2, most=4),
        operator("sink", 0.2, 3, state="scale-in"),
    )
    answer = ds2(question, SEARCH).answer
    assert {item.operator: item.parallelism for item in answer.operators} == {0: 2, 1: 8, 2: 4, 3: 1}
    # ceil(3.1 / 0.7) = 5 tasks, of which there are 4; its first key group keeps one four times as busy as it may be.
    assert sustained_load(question, answer) == pytest.approx(0.25)
    assert {item.operator for item in doubling(question, SEARCH).answer.operators} == {0, 1, 2, 3}


def test_scaling_in_makes_room_for_others() -> None:
    """Free now: 2 cores. The new task of what is scaled in takes one; when its old four are gone, 5 are free."""
    idle, busy = operator("idle", 0.5, 4, state="scale-in", job=1), operator("busy", 3.4, 3)
    question = problem(idle, busy, weight=(0.5, 0.5), free_cpu=2.0)
    answer = solved(question).answer
    assert [(item.operator, item.parallelism) for item in answer.operators] == [(0, 1), (1, 5)]
    assert answer.least_extra_cpu == -1.0
    alone = replace(question, operators=(busy,), weight=np.ones(1))
    assert solved(alone).answer.operators == ()


def test_twice_the_tasks_is_not_half_the_load() -> None:
    """Even ranges of six key groups: with three tasks the busiest is as busy as with two, with four busier again."""
    use = [0.6, 0.1, 0.1, 0.1, 0.1, 0.6]
    question = problem(operator("agg", use, 1), target=0.75, split="hash")
    assert solved(question).answer.operators[0].parallelism == 3
    hot = problem(operator("agg", [0.1, 0.1, 0.7, 0.7, 0.1, 0.1], 1), target=0.95, split="hash")
    assert solved(hot).answer.operators[0].parallelism == 2


def test_a_key_group_may_be_the_bottleneck() -> None:
    question = problem(operator("agg", [0.1, 2.8, 0.2, 0.2], 1, most=4))
    result = solved(question)
    assert [warning.code for warning in result.warnings] == ["KEY_GROUP_BOTTLENECK"]
    assert "key group 1 alone" in result.warnings[0].message
    assert result.answer.operators[0].ranges == ((0, 0), (1, 1), (2, 3))
    assert result.status == "optimal"
    assert result.bound == pytest.approx(0.25)


def test_what_suffices_stays_and_is_said_so() -> None:
    result = solved(problem(operator("agg", [0.1, 0.1], 2)))
    assert result.answer.operators == ()
    assert [warning.code for warning in result.warnings] == ["NOT_THE_BOTTLENECK"]
    assert result.bound == 1.0


def test_a_quota_below_what_runs_has_a_fix_that_works() -> None:
    question = problem(operator("agg", 3.0, 3), quota=2.5)
    result = solved(question)
    assert result.status == "infeasible"
    assert result.infeasible.smallest_fix == "--quota 3"
    assert solved(replace(question, limits=replace(question.limits, quota=3.0))).status == "optimal"


def test_first_comes_what_gains_most_for_its_cores() -> None:
    """Of two jobs of the same weight the one whose operator needs fewer cores; scale-ins before all."""
    question = problem(
        operator("a", 6.0, 2, job=0),
        operator("b", 2.0, 1, job=1),
        operator("c", 0.1, 3, job=1, state="scale-in"),
        weight=(0.5, 0.5),
    )
    assert [item.operator for item in solved(question).answer.operators] == [2, 1, 0]


def test_all_that_fits_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ScalingModel", None)
    draws = np.random.default_rng(3)
    operators = [
        operator(f"o{i}", draws.gamma(1.0, 0.01, 1024), 4, most=256, state_bytes=draws.random(1024)) for i in range(5)
    ]
    nodes = tuple(f"n{i}" for i in range(100))
    now = tuple(tuple(range(4)) for _ in operators)
    question = problem(*operators, nodes=nodes, free=np.full(100, 2.0), now=now)
    result = solved(question)
    assert result.status == "optimal"
    assert result.bound == 1.0
    assert not broken(question, result.answer)


def test_without_time_there_is_an_answer_with_a_bound() -> None:
    question = problem(operator("a", 6.0, 2), operator("b", 6.0, 2), free_cpu=9.0)
    result = exact(question, SearchOptions(time_limit_s=0.0))
    assert result.status == "feasible"
    assert result.bound == 1.0
    assert not rules_broken(question, result.answer)

"""Which technique is taken: the cheapest of those that pause shortly enough, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.scale_out.algorithms.techniques import AUTO, choose_techniques
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.planners.scale_out.techniques.costs import (
    ACTIVE_BACKUP,
    ASSISTED,
    CHECKPOINT,
    TechniqueSetting,
    technique_costs,
)
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import evenly, operator, problem, splits

SETTING = TechniqueSetting(setup_s=10.0, bandwidth_mb_s=64.0, lead_s=300.0)
ITEM = operator(copies=((0,), (1,), (2,), (3,)))
QUESTION = problem(ITEM, nodes=4)
ON_COPIES, ELSEWHERE = Scaling((evenly(ITEM, 4, (0, 1, 2, 3)),)), Scaling((evenly(ITEM, 4, (3, 2, 1, 0)),))


@pytest.mark.parametrize(
    ("scaling", "budget", "expected"),
    [
        (ON_COPIES, None, ASSISTED),  # no pause to speak of, and no 300 s of backup
        (ELSEWHERE, None, ACTIVE_BACKUP),
        (ON_COPIES, 120.0, CHECKPOINT),
        (ELSEWHERE, 120.0, CHECKPOINT),
        (ELSEWHERE, 0.001, ACTIVE_BACKUP),
    ],
)
def test_the_cheapest_within_the_budget(scaling: Scaling, budget: float | None, expected: str) -> None:
    answer = choose_techniques(QUESTION, scaling, SETTING, AUTO, budget)
    assert [item.cost.technique for item in answer.chosen] == [expected]
    assert answer.infeasible is None


def test_reasons_compare() -> None:
    (chosen,) = choose_techniques(QUESTION, ELSEWHERE, SETTING).chosen
    assert chosen.reason == (
        "least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 62 s for 188 core-s;"
        " assisted: no checkpoint lies on the node of a new task that needs it"
    )
    (asked,) = choose_techniques(QUESTION, ELSEWHERE, SETTING, CHECKPOINT).chosen
    assert asked.reason == "as asked for"


def test_no_pause_is_short_enough() -> None:
    """The figure that is said to be needed is enough, and nothing below it."""
    refused = choose_techniques(QUESTION, ELSEWHERE, SETTING, AUTO, 1e-4)
    assert refused.infeasible is not None
    assert (refused.infeasible.limit, refused.infeasible.smallest_fix) == ("latency-budget", "--latency-budget 0.001s")
    assert refused.infeasible.reason == "operator 'op' pauses at least 0.001 s, by active-backup"
    assert choose_techniques(QUESTION, ELSEWHERE, SETTING, AUTO, refused.infeasible.needed).infeasible is None
    asked = choose_techniques(QUESTION, ELSEWHERE, SETTING, CHECKPOINT, 1.0).infeasible
    assert asked is not None
    assert asked.smallest_fix.startswith("--technique auto, or --latency-budget 62.")


def test_a_technique_that_cannot_be_used_is_refused() -> None:
    refused = choose_techniques(QUESTION, ELSEWHERE, SETTING, ASSISTED).infeasible
    assert refused is not None
    assert (refused.limit, refused.current, refused.smallest_fix) == ("technique", ASSISTED, "--technique auto")
    heavy = operator(group_use=np.array([1.5, 0.1, 0.1, 0.1]))
    answer = choose_techniques(problem(heavy), Scaling((evenly(heavy, 4),)), SETTING, CHECKPOINT)
    assert answer.infeasible is not None
    assert answer.infeasible.needed == ACTIVE_BACKUP
    assert "never catches up" in answer.infeasible.reason


def test_operators_without_state_go_with_any_technique() -> None:
    free = operator("free", key_groups=0)
    scaling = Scaling((OperatorScaling(1, 3, ()), evenly(ITEM, 4)))
    for technique in (AUTO, CHECKPOINT, ACTIVE_BACKUP):
        first, second = choose_techniques(problem(ITEM, free), scaling, SETTING, technique).chosen
        assert (first.cost.technique, first.cost.pause_s) == (None, 0.0)
        assert second.cost.technique in (technique, ACTIVE_BACKUP)


@settings(max_examples=examples(100), deadline=None)
@given(
    splits(highest=1.2),
    st.none() | st.floats(1e-6, 200.0),
    st.sampled_from([AUTO, ACTIVE_BACKUP, CHECKPOINT, ASSISTED]),
    st.floats(0.0, 400.0),
)
def test_no_other_technique_is_better(
    case: tuple[ScalingProblem, OperatorScaling], budget: float | None, technique: str, lead: float
) -> None:
    question, item = case
    setting = TechniqueSetting(5.0, 8.0, lead, 20.0)
    answer = choose_techniques(question, Scaling((item,)), setting, technique, budget)
    able = [
        cost
        for cost in technique_costs(question, item, setting)
        if cost.why_not is None and technique in (AUTO, cost.technique)
    ]
    if budget is not None:
        able = [cost for cost in able if cost.pause_s <= budget]
    assert (answer.infeasible is None) == bool(able)
    if not able:
        return
    (chosen,) = answer.chosen
    assert chosen.cost in able
    reached = [cost for cost in able if cost.pause_s <= (1.0 if budget is None else budget)]
    if reached:
        assert chosen.cost.extra_core_s == min(cost.extra_core_s for cost in reached)
    else:
        assert chosen.cost.pause_s == min(cost.pause_s for cost in able)

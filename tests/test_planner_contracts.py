"""What every planner promises, over the registry: a planner is held to it by its row alone."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.model import kinds
from ftplan.model.tolerances import PROVEN, ROUNDING
from ftplan.planners.registry import Row, rows
from tests.planner_cases import QUESTIONS, Question, inputs

pytestmark = pytest.mark.usefixtures("few_random_orders")


def every(part: str) -> list[Any]:
    """Return each planner with each of its command's questions of one part."""
    return [
        pytest.param(row, name, id=f"{row.kind}-{row.name}-{name}")
        for row in rows()
        for name in getattr(QUESTIONS[row.kind], part)
    ]


def answer(row: Row, question: Question, seed: int | None = None, **options: Any) -> ftplan.Plan:
    return ftplan.plan(
        row.kind,
        inputs(question.documents, seed),
        algorithm=row.name,
        **{"time_limit_s": 60.0, **question.options, **options},
    )


def asked(row: Row, name: str) -> Question:
    return QUESTIONS[row.kind].asked[name]


@functools.cache
def planned(row: Row, name: str) -> ftplan.Plan:
    return answer(row, asked(row, name))


def objective(plan: ftplan.Plan) -> tuple[float, float]:
    """Return value and bound, larger being better."""
    found = plan.objective
    assert found is not None
    assert found.value is not None
    assert found.bound is not None
    sign = 1.0 if found.sense == "max" else -1.0
    return sign * found.value, sign * found.bound


def closed(plan: ftplan.Plan) -> bool:
    """Return whether there is no gap but what solvers round away: in the objective, or in none of its levels.

    A largest load within ``target_load`` is good enough.
    """
    assert plan.objective is not None
    if "levels" not in plan.summary:
        return plan.objective.gap is not None and plan.objective.gap <= PROVEN
    pairs = {name: (level["value"], level["bound"]) for name, level in plan.summary["levels"].items()}
    value, target = pairs["largest_load"][0], plan.options["target_load"]
    if target is not None and value <= target + slack(value):
        del pairs["largest_load"]
    return all(
        value is None or (bound is not None and value <= bound + slack(value, bound)) for value, bound in pairs.values()
    )


def slack(*values: float) -> float:
    return ROUNDING * max(1.0, *map(abs, values))


@pytest.mark.parametrize(("row", "name"), every("asked"))
def test_a_plan_keeps_its_rules_and_says_the_truth(row: Row, name: str) -> None:
    """It is valid, its value is what it is worth, and its bound is no worse than that."""
    questions = QUESTIONS[row.kind]
    plan = planned(row, name)
    assert plan.plan is not None, plan.reason
    assert 0 < len(plan.plan[kinds.row(plan.kind).table]) == len(plan.to_frame())
    assert verify(plan, inputs(questions.asked[name].documents), strict=questions.strict).violations == ()
    value, bound = objective(plan)
    assert value <= bound + slack(value, bound)
    assert (plan.status == "optimal") == closed(plan)


@pytest.mark.parametrize(("row", "name"), every("asked"))
def test_a_plan_is_the_same_twice_and_in_any_order_of_file(row: Row, name: str) -> None:
    """All of it but the digests of the files."""
    other = answer(row, asked(row, name), seed=1)
    assert without_inputs(other) == without_inputs(planned(row, name))


def without_inputs(plan: ftplan.Plan) -> dict[str, Any]:
    return {key: value for key, value in json.loads(plan.to_json()).items() if key != "inputs"}


def comparable(row: Row, name: str) -> Iterator[tuple[Row, ftplan.Plan]]:
    """Yield the plans of all planners that answer the same question as one planner's, under its rules or more."""
    mine = planned(row, name)
    for other in rows(row.kind):
        plan = planned(other, name)
        if plan.options == mine.options and set(plan.rules) >= set(mine.rules):
            yield other, plan


def proven(plan: ftplan.Plan) -> tuple[float, float]:
    """Return value and bound of what all planners are asked alike.

    Steps of a schedule are alike as far as the first: what comes later follows from what was chosen before.
    """
    if plan.kind != "recovery-schedule" or plan.options["objective"] != "priority":
        return objective(plan)
    assert plan.plan is not None
    step = plan.plan["steps"][0]["objective"]
    return step["value"], step["bound"]


@pytest.mark.parametrize(("row", "name"), every("asked"))
def test_no_plan_beats_a_bound(row: Row, name: str) -> None:
    """Neither another planner's, nor one by trying everything, which an exact planner reaches."""
    _, bound = proven(planned(row, name))
    for other, plan in comparable(row, name):
        value, _ = proven(plan)
        assert value <= bound + slack(value, bound), other.name
    question = asked(row, name)
    if question.best is not None:
        best, _ = objective(question.best())
        assert best <= bound + slack(best, bound)
        assert not row.exact or objective(planned(row, name))[0] == pytest.approx(best)


@pytest.mark.parametrize(("row", "name"), [p for p in every("asked") if p.values[0].exact and asked(*p.values).more])
def test_more_is_never_worse(row: Row, name: str) -> None:
    """A larger budget, a looser rule: an exact planner makes use of it."""
    question, best = asked(row, name), -float("inf")
    assert question.more is not None
    option, values = question.more
    for given in values:
        plan = answer(row, question, **{option: given})
        value = objective(plan)[0] if plan.plan is not None else -float("inf")
        assert value >= best or value == pytest.approx(best, rel=ROUNDING)
        best = value


@pytest.mark.parametrize(("row", "name"), every("impossible"))
def test_the_impossible_is_refused_with_a_fix_that_works(row: Row, name: str) -> None:
    question = QUESTIONS[row.kind].impossible[name]
    refused = answer(row, question)
    assert refused.status == "infeasible"
    assert refused.plan is None
    assert refused.infeasible is not None
    assert refused.infeasible.reason
    fix = re.match(r"--([a-z-]+) (\d+(?:\.\d+)?)", refused.infeasible.smallest_fix)
    assert fix is not None, refused.infeasible.smallest_fix
    value: float = float(fix[2]) if "." in fix[2] else int(fix[2])
    assert answer(row, question, **{fix[1].replace("-", "_"): value}).status in ("optimal", "feasible")


@pytest.mark.parametrize(("row", "name"), every("nothing"))
def test_where_there_is_nothing_to_do_any_plan_is_worth_the_same(row: Row, name: str) -> None:
    questions = QUESTIONS[row.kind]
    question = questions.nothing[name]
    plan = answer(row, question)
    assert verify(plan, inputs(question.documents), strict=questions.strict).violations == ()
    value, bound = objective(plan)
    assert value == bound == 0.0


@pytest.mark.parametrize(("row", "name"), every("asked"))
def test_no_time_at_all(row: Row, name: str) -> None:
    """A clock that has run out gives a valid plan, or one sentence that says that there was no time."""
    questions = QUESTIONS[row.kind]
    question, refusal = questions.asked[name], None
    try:
        plan = answer(row, question, time_limit_s=1e-6)
    except FtplanError as error:
        refusal = str(error)
    if refusal is not None:
        assert re.search(" stops after .* use exact", refusal)
        return
    assert (plan.plan is None) == (plan.status in ("infeasible", "no-plan-in-time"))
    if plan.plan is not None:
        assert verify(plan, inputs(question.documents), strict=questions.strict).violations == ()


def test_every_command_has_its_questions() -> None:
    assert {row.kind for row in rows()} == set(QUESTIONS)

"""Plans and evaluations: hand-made ones, exact messages, and the same bytes when written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import Infeasible, InputFile, Objective, Plan, Warn
from tests.io.examples import plan, said, write

ASSIGNMENT = {"operator": "join", "key_group": 0, "checkpoints": ["n2"]}


def body(**changes: Any) -> dict[str, Any]:
    return plan(plan={"assignments": [{**ASSIGNMENT, **changes}]})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (plan(kind="checkpoints"), "kind: expected 'allocate-checkpoints', 'replicate-tasks', 'recovery-schedule', "
         "'rebalance', 'peer-ring', 'scale-out' or 'drain-schedule', got 'checkpoints' "
         "(did you mean 'allocate-checkpoints'?)"),
        (plan(kind="checkpoint-allocation"),
         "kind: 'checkpoint-allocation' is now 'allocate-checkpoints'; the rest of the plan is as it was"),
        (plan(kind="task-replication"),
         "kind: 'task-replication' is now 'replicate-tasks'; the rest of the plan is as it was"),
        (plan(plan=None), "plan: is null, but the status is not infeasible or no-plan-in-time"),
        (plan(plan=[]), "plan: expected a mapping, got a list"),
        (plan(plan={}), "plan.assignments: is missing"),
        (body(key_group=-1), "plan.assignments[0].key_group: must be at least 0, got -1"),
        (body(checkpoints="n2"), "plan.assignments[0].checkpoints: expected a list, got 'n2'"),
        (body(checkpoints=[True]),
         "plan.assignments[0].checkpoints[0]: is read as true, not as text: quote it"),
        (plan(objective={"name": "x", "sense": "max", "value": "high"}),
         "objective.value: expected a number, got 'high'"),
        (plan(options={"x": [float("nan")]}), "options.x[0]: must be a finite number, got NaN"),
        (plan(status="good"),
         "status: expected 'optimal', 'feasible', 'infeasible' or 'no-plan-in-time', got 'good'"),
        (plan(format_version="2.1"), "format_version: 2.1 is newer than this ftplan reads (1.x); upgrade ftplan"),
        ({"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance"}, "plan: is missing"),
        (plan(kind="peer-ring", plan={"ring": [{"node": "n1", "token": 1.0}]}),
         "plan.ring[0].token: must be less than 1, got 1.0"),
        (plan(kind="peer-ring", plan={"ring": [{"node": "n1", "token": -0.5}]}),
         "plan.ring[0].token: must be at least 0, got -0.5"),
    ],
)  # fmt: skip
def test_messages(document: dict[str, Any], message: str) -> None:
    assert said(load_plan, document) == f"plan: {message}"


def test_made_by_hand() -> None:
    found = load_plan(plan()).value
    assert found.algorithm is None
    assert found.rules is None
    assert found.plan == plan()["plan"]


def test_the_envelope_is_checked() -> None:
    assert said(load_plan, plan(seed="x")) == "plan: seed: expected a whole number, got 'x'"


SCHEDULE: dict[str, Any] = {
    "steps": [{"at_s": 0, "recover": [{"operator": "join", "index": 1, "node": "n1", "key_groups": [0, 3]}]}]
}


def schedule(**changes: Any) -> dict[str, Any]:
    """A schedule made by hand, with another first step."""
    return plan(kind="recovery-schedule", plan={"steps": [{**SCHEDULE["steps"][0], **changes}]})


def test_schedule_made_by_hand() -> None:
    assert load_plan(schedule()).value.plan == SCHEDULE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"at_s": -1}, "plan.steps[0].at_s: must be at least 0, got -1"),
        ({"recover": [{"operator": "join"}]}, "plan.steps[0].recover[0].index: is missing"),
        (
            {"recover": [{"operator": "join", "index": 0, "key_groups": [3, 0]}]},
            "plan.steps[0].recover[0].key_groups: the first key group 3 lies behind the last 0",
        ),
    ],
)
def test_schedule_messages(changes: dict[str, Any], message: str) -> None:
    assert said(load_plan, schedule(**changes)) == f"plan: {message}"


def test_misspelt_key_of_the_body() -> None:
    (warning,) = load_plan(body(chekpoints=[])).warnings
    assert warning.message == (
        "plan: plan.assignments[0].chekpoints: unknown key is ignored (did you mean 'checkpoints'?)"
    )


text = st.text(max_size=6)
number = st.integers(-9, 9) | st.floats(-1e12, 1e12)
data = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
maybe = st.none() | number
objectives = st.builds(Objective, text, st.sampled_from(["min", "max"]), maybe, maybe, maybe, maybe)
rows = st.fixed_dictionaries(
    {"operator": st.just("a.b"), "key_group": st.integers(0, 9), "checkpoints": st.just(["n1"]), "extra": data}
)
plans = st.builds(
    Plan,
    kind=st.just("allocate-checkpoints"),
    plan=st.fixed_dictionaries({"assignments": st.lists(rows, max_size=3), "more": data}),
    algorithm=st.none() | text,
    status=st.sampled_from(["optimal", "feasible"]),
    objective=st.none() | objectives,
    options=st.dictionaries(text, data, max_size=3),
    seed=st.integers(0, 99),
    inputs=st.lists(st.builds(InputFile, text, st.none() | text, text), max_size=2).map(tuple),
    reason=st.none() | text,
    rules=st.none() | st.lists(text, max_size=2).map(tuple),
    summary=st.dictionaries(text, data, max_size=3),
    warnings=st.lists(st.builds(Warn, text, text), max_size=2).map(tuple),
    infeasible=st.none() | st.builds(Infeasible, text, text, data, data, text),
    tool_version=st.none() | text,
)


@given(plans)
def test_round_trip_keeps_the_bytes(tmp_path_factory: pytest.TempPathFactory, original: Plan) -> None:
    written = original.to_json()
    path = Path(write(tmp_path_factory.mktemp("plan"), "plan.json", written))
    assert load_plan(path).value.to_json() == written


def test_evaluation() -> None:
    document = {
        "format": "ftplan/evaluation",
        "format_version": "1.0",
        "kind": "allocate-checkpoints",
        "failures": ["zone:rack-a"],
        "metrics": [{"name": "usable", "value": None, "sense": "max", "unit": "share"}],
    }
    assert load_evaluation(document).value == document
    assert said(load_evaluation, {**document, "metrics": [{"name": "usable", "value": 1}]}) == (
        "evaluation: metrics[0].sense: is missing"
    )

"""Plans on statistics of tasks and substreams: valid, worth what the written-out rules say, the same as files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.api import evaluate, verify
from ftplan.model.measures.measured_topology import measured_topology
from tests.model.measures.measured_cases import measured
from tests.model.measures.slow_fidelity import slow_fidelity

pytestmark = pytest.mark.usefixtures("few_random_orders")

HEAD = {"format_version": "1.0"}
COUNTS = {"a": 2, "b": 3, "c": 3, "d": 2}
RULES = {("a", "b"): ["full", "split"], ("b", "c"): ["full", "one-to-one"], ("c", "d"): ["full", "merge"]}


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a chain of four operators and a log of it, also of pairs that cannot meet."""
    operators = [
        {"id": name, "parallelism": count, "cpu": 0.5, "priority": [draw(st.integers(1, 3)) for _ in range(count)]}
        for name, count in COUNTS.items()
    ]
    edges = [{"from": a, "to": b, "partitioning": draw(st.sampled_from(rules))} for (a, b), rules in RULES.items()]
    number = st.integers(0, 9)
    by_task = [
        (name, i, 0, draw(number), draw(st.one_of(st.none(), number)), draw(st.one_of(st.none(), number)))
        for name, count in COUNTS.items()
        for i in range(count)
        if draw(st.booleans())
    ]
    every = [(a, i, b, j) for a, b in RULES for i in range(COUNTS[a]) for j in range(COUNTS[b])]
    pairs = [(*pair, 0, draw(number)) for pair in draw(st.lists(st.sampled_from(every), unique=True, max_size=14))]
    stats = measured(list(COUNTS), tasks=by_task, substreams=pairs, windows=1)
    topology = {"format": "ftplan/topology", **HEAD, "operators": operators, "edges": edges}
    return {"topology": topology, "stats": stats}


@settings(max_examples=25, deadline=None)
@given(inputs(), st.sampled_from(["greedy", "structure-aware", "exact"]), st.integers(1, 9))
def test_replicas_are_worth_what_was_measured(given_inputs: dict[str, Any], algorithm: str, budget: int) -> None:
    problem = ftplan.load(**given_inputs)
    plan = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, budget=budget)
    assert verify(plan, problem, strict=True).violations == ()
    assert problem.topology is not None
    weighed = measured_topology(problem.topology, problem.stats).topology
    replicated = {(item["operator"], item["index"]) for item in (plan.plan or {})["replicas"]}
    live = {
        (k, i): (o.id, i) in replicated for k, o in enumerate(problem.topology.operators) for i in range(o.parallelism)
    }
    assert plan.objective is not None
    assert plan.objective.value == pytest.approx(slow_fidelity(weighed, live), abs=1e-9)
    assert evaluate(plan, problem)["output-fidelity"] == pytest.approx(plan.objective.value, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(inputs(), st.sampled_from(["priority", "priority-time", "fidelity-time"]), st.data())
def test_recoveries_keep_their_queries(given_inputs: dict[str, Any], objective: str, data: st.DataObject) -> None:
    """Whatever was measured, the queries that come back are those of the plain topology."""
    tasks = [f"task:{name}/{i}" for name, count in COUNTS.items() for i in range(count)]
    fail = data.draw(st.lists(st.sampled_from(tasks), min_size=1, max_size=5, unique=True))
    arrivals = [{"at_s": 60 * k, "node": {"id": f"r{k}", "cpu": 1}} for k in (1, 2, 3)]
    failure = {"format": "ftplan/failure", **HEAD, "fail": fail, "arrivals": arrivals}
    options = {"algorithm": "best-density", "objective": objective, "capacity": 0.5, "iterations": 5}
    weighed, plain = (
        ftplan.load(**given_inputs, failure=failure),
        ftplan.load(topology=given_inputs["topology"], failure=failure),
    )
    plan, without = (ftplan.plan("recovery-schedule", problem, **options) for problem in (weighed, plain))
    assert verify(plan, weighed, strict=True).violations == ()
    if plan.plan is not None and without.plan is not None:
        named = [sorted((q["operator"], q["index"]) for q in p.plan["queries"]) for p in (plan, without)]
        assert named[0] == named[1]

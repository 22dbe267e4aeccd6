"""The one log of a search: what is best, what is proven, when it is closed, and that false bounds are caught."""

from __future__ import annotations

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.trace import TraceLine
from ftplan.planners.incumbents import Incumbents, traced, untraced


@given(
    sense=st.sampled_from(["min", "max"]),
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    slack=st.floats(0.0, 10.0),
)
def test_keeps_the_first_of_the_best_and_the_best_bound(
    sense: Literal["min", "max"], values: list[float], slack: float
) -> None:
    best = min(values) if sense == "min" else max(values)
    sign = -1.0 if sense == "min" else 1.0
    log: Incumbents[int] = Incumbents(sense, "x")
    for k, value in enumerate(values):
        log.prove(best + sign * (slack + k), "relaxation")
        log.offer(k, value, "search")
    assert (log.value, log.answer) == (best, values.index(best))
    assert log.bound == pytest.approx(best + sign * slack)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("first", ["value", "bound"])
def test_a_false_bound_is_caught_whichever_comes_first(sense: Literal["min", "max"], first: str) -> None:
    beaten = 10.0 + (1e-3 if sense == "min" else -1e-3)
    log: Incumbents[str] = Incumbents(sense, "x")
    steps = [lambda: log.offer("plan", 10.0, "search"), lambda: log.prove(beaten, "model")]
    if first == "bound":
        steps.reverse()
    steps[0]()
    with pytest.raises(RuntimeError, match="reported as proven"):
        steps[1]()


def test_a_bound_beaten_by_rounding_alone_is_the_value() -> None:
    log: Incumbents[str] = Incumbents("max", "x")
    log.prove(10.0 - 1e-12, "model")
    log.offer("plan", 10.0, "search")
    assert log.bound == 10.0
    assert log.status == "optimal"
    assert log.gap == 0.0


@pytest.mark.parametrize(("gap", "closed"), [(8.6e-8, True), (1.4e-6, True), (1e-5, False)])
def test_a_gap_of_rounding_is_closed(gap: float, closed: bool) -> None:
    log: Incumbents[str] = Incumbents("min", "x")
    log.offer("plan", 50.0, "search")
    log.prove(50.0 * (1.0 - gap), "model")
    assert (log.status == "optimal") is closed


def test_multiples_of_a_unit_are_told_apart_however_large_they_are() -> None:
    log: Incumbents[str] = Incumbents("max", "x", unit=1.0)
    log.offer("plan", 4_000_000.0, "search")
    log.prove(4_000_001.7, "model")
    assert log.bound == 4_000_001.0
    assert not log.closed
    log.prove(4_000_000.9, "model")
    assert log.closed


def test_a_bound_on_better_answers_alone_is_no_less_than_the_floor() -> None:
    log: Incumbents[str] = Incumbents("max", "x")
    log.offer("plan", 5.0, "search")
    log.prove_better_than(7.0, 3.0, "slice")
    assert (log.bound, log.closed) == (7.0, False)
    log.prove_better_than(5.0, -math.inf, "nothing is better")
    assert log.closed


def test_without_an_answer_there_is_no_status_and_no_gap() -> None:
    log: Incumbents[str] = Incumbents("min", "x")
    log.prove(1.0, "model")
    assert (log.status, log.gap, log.proven_bound, log.closed) == ("no-plan-in-time", math.inf, 1.0, False)


def test_the_trace_hears_better_values_and_bounds_of_its_block_alone() -> None:
    lines: list[TraceLine] = []
    with traced(lines.append):
        log: Incumbents[str] = Incumbents("min", "priority-time")
        with untraced():
            Incumbents[str]("min", "another").offer("plan", 1.0, "search")
        log.offer("a", 9.0, "greedy")
        log.offer("b", 9.5, "search")
        log.prove(4.0, "relaxation")
    Incumbents[str]("min", "after").offer("plan", 1.0, "search")
    assert [(line.value, line.bound, line.by, line.search) for line in lines] == [
        (9.0, None, "greedy", "priority-time"),
        (9.0, 4.0, "relaxation", "priority-time"),
    ]

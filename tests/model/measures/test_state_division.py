"""Equation 1 of [Mudassar2019]: state that is divided by key ranges and put together again is what it was."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.task_state import even_ranges
from ftplan.planners.scale_out.problem import OperatorScaling, ScalingProblem
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import operator, problem, splits

#: A key's value, by key.
State = Mapping[str, int]
STATES = st.dictionaries(st.text(max_size=5), st.integers(-9, 9), max_size=40)


def group_of(key: str, key_groups: int) -> int:
    return zlib.crc32(key.encode()) % key_groups


def decompose(state: State, key_groups: int, ranges: tuple[tuple[int, int], ...]) -> list[dict[str, int]]:
    """Return the part of each new task: the keys whose key group is in its range."""
    return [
        {key: value for key, value in state.items() if first <= group_of(key, key_groups) <= last}
        for first, last in ranges
    ]


def compose(parts: list[dict[str, int]]) -> dict[str, int]:
    """Return the state that parts make up; no two have a key in common."""
    assert len({key for part in parts for key in part}) == sum(map(len, parts))
    return {key: value for part in parts for key, value in part.items()}


def check(state: State, key_groups: int, ranges: tuple[tuple[int, int], ...]) -> None:
    parts = decompose(state, key_groups, ranges)
    assert compose(parts) == state
    for key, value in state.items():
        owner = next(i for i, (first, last) in enumerate(ranges) if first <= group_of(key, key_groups) <= last)
        assert parts[owner][key] == value
        assert all(key not in part for i, part in enumerate(parts) if i != owner)


@settings(max_examples=examples(50))
@given(STATES, splits())
def test_over_ranges_by_load(state: State, case: tuple[ScalingProblem, OperatorScaling]) -> None:
    question, item = case
    check(state, question.operators[0].key_groups, item.ranges)


@settings(max_examples=examples(50))
@given(STATES, st.integers(1, 300), st.data())
def test_over_even_ranges(state: State, key_groups: int, data: st.DataObject) -> None:
    check(state, key_groups, even_ranges(key_groups, data.draw(st.integers(1, key_groups))))


@settings(max_examples=examples(50), deadline=None)
@given(splits())
def test_the_size_of_parts_is_the_size_of_the_whole(case: tuple[ScalingProblem, OperatorScaling]) -> None:
    question, item = case
    split = TaskReplacement(question, item)
    assert split.state.sum() == pytest.approx(split.operator.state_bytes.sum())
    assert split.use.sum() == pytest.approx(split.operator.use)


def test_two_tasks_share_a_group_only_where_ranges_overlap() -> None:
    with pytest.raises(AssertionError):
        check({"a": 1, "b": 2}, 1, ((0, 0), (0, 0)))
    assert TaskReplacement(problem(operator()), OperatorScaling(0, 1, ((0, 3),))).state.shape == (1,)

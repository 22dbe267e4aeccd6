"""What is known of the operators before the log is read."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators, known_operators
from tests.spark_stats.cases import topology

GOOD: dict[str, Any] = {"time_columns": ("t",), "operator": "op", "key_columns": ("k",), "key_groups": 8}
TASKS: dict[str, Any] = {**GOOD, "task_column": "task", "upstream_task_column": "up"}


def test_numbers_of_key_groups() -> None:
    known = known_operators(LogMapping(**GOOD, operator_key_groups=(("other", 3),)), None)
    assert (known.count("op"), known.count("other"), known.most_key_groups) == (8, 3, 8)
    with pytest.raises(FtplanError, match="operator 'op': no number of key groups; give --key-groups N or a topology"):
        known_operators(LogMapping(**{**GOOD, "key_groups": None}), None)
    column = {**GOOD, "operator": None, "operator_column": "o", "key_groups": None}
    with pytest.raises(FtplanError, match=r"no number of key groups; give --key-groups N or a topology \(-t\)"):
        known_operators(LogMapping(**column), None)


def test_whose_tasks_are_upstream() -> None:
    assert known_operators(LogMapping(**TASKS), topology("src")).upstream == "src"
    assert known_operators(LogMapping(**TASKS, upstream_operator="src"), None).upstream == "src"
    assert known_operators(LogMapping(**TASKS, upstream_operator_column="o"), None).upstream is None
    for job in (None, topology("a", "b")):
        with pytest.raises(FtplanError, match="whose tasks are these"):
            known_operators(LogMapping(**TASKS), job)


def test_names_become_ids() -> None:
    known = Operators({}, None, {"Join": "join"}, None, None)
    assert known.resolve(["Join", "a b", "->"]) == {"Join": "join", "a b": "a-b", "->": "-"}
    with pytest.raises(FtplanError, match="operators 'a b' and 'a-b' of the log both become 'a-b'"):
        known.resolve(["a b", "a-b"])

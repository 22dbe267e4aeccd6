"""A mapping that makes no sense is refused with the option that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping

GOOD: dict[str, Any] = {"time_columns": ("t",), "operator": "a", "key_columns": ("k",), "key_groups": 8}
BAD = [
    ({"time_columns": ()}, "--time-column is missing"),
    ({"window_s": 0.0}, "at least one millisecond"),
    ({"window_s": float("nan")}, "--window"),
    ({"window_s": 0.0015}, "whole number of milliseconds"),
    ({"time_columns": ("a", "b"), "time_format": "epoch-s"}, "takes one --time-column"),
    ({"time_columns": tuple("abcdefg")}, "have no known shape"),
    ({"time_format": "epoch-sec"}, "did you mean 'epoch-s'"),
    ({"time_from": datetime(2011, 1, 1)}, "no time zone"),
    ({"time_from": datetime(2011, 1, 2, tzinfo=UTC), "time_to": datetime(2011, 1, 1, tzinfo=UTC)}, "is not after"),
    ({"operator_column": "o"}, "exclude each other"),
    ({"operator": None, "key_columns": ()}, "no operator"),
    ({"operator": None, "keys": (("b", ("k",)),)}, "--key-column needs"),
    ({"operator": "a b"}, "no identifier"),
    ({"keys": (("a", ("k",)),)}, "named twice"),
    ({"keys": (("b", ()),)}, "no column is named"),
    ({"key_hash": "murmur"}, "did you mean 'murmur3'"),
    ({"key_type": "text"}, "--key-type"),
    ({"key_columns": ("a", "b"), "key_hash": "identity"}, "takes one key column"),
    ({"key_columns": ("a", "b"), "key_type": "long"}, "takes one key column"),
    ({"key_groups": 0}, "--key-groups"),
    ({"operator_key_groups": (("a", 1), ("a", 2))}, "given twice"),
    ({"busy_column": "b"}, "needs --task-column"),
    ({"upstream_task_column": "u"}, "needs --task-column"),
    ({"upstream_operator": "u"}, "needs --upstream-task-column"),
    ({"task_column": "t", "upstream_task_column": "u", "upstream_operator": "a", "upstream_operator_column": "o"},
     "--upstream-operator and --upstream-operator-column exclude each other"),
    ({"operator": None, "key_columns": (), "keys": (("b", ("k",)),), "node_column": "n"}, "--node-column needs"),
    ({"input_format": "xml"}, "--input-format"),
    ({"delimiter": '"'}, "--delimiter"),
    ({"max_rejects": 1.5}, "--max-rejects"),
    ({"max_kept_rejects": -1}, "--max-kept-rejects"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_mappings(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message):
        LogMapping(**{**GOOD, **change})


def test_columns_are_named_once() -> None:
    mapping = LogMapping(**{**GOOD, "bytes_column": "k", "keys": (("b", ("x", "t")),)})
    assert mapping.columns == ("t", "k", "x")
    assert LogMapping(**{**GOOD, "window_s": 0.25}).window_us == 250_000

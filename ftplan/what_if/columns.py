"""The columns of a sweep's rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

ColumnType = Literal["text", "number", "whole", "flag"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows: its type, which way is better (None: neither), and its unit."""

    name: str
    type: ColumnType
    sense: Literal["min", "max"] | None = None
    unit: str | None = None


def column_of(name: str, values: Iterable[Any]) -> tuple[Column, list[Any]]:
    """Return the column of some values, None among them, and these as it holds them."""
    listed = list(values)
    some = [value for value in listed if value is not None]
    if some and all(isinstance(value, bool) for value in some):
        return Column(name, "flag"), listed
    if some and all(isinstance(value, int) and not isinstance(value, bool) for value in some):
        return Column(name, "whole"), listed
    if some and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in some):
        return Column(name, "number"), [None if value is None else float(value) for value in listed]
    return Column(name, "text"), [None if value is None else text_of(value) for value in listed]


def text_of(value: Any) -> str:
    """Return a value as text: numbers in at most 12 digits, lists and mappings as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.12g}"
    return json.dumps(value, sort_keys=True)

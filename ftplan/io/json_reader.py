"""JSON to plain data: duplicate keys and deep nesting are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.yaml_reader import MAX_DEPTH, parse_yaml


class _DuplicateKeyError(ValueError):
    """Carries the key that occurs twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        met: set[str] = set()
        for key, _ in pairs:
            if key in met:
                raise _DuplicateKeyError(key)
            met.add(key)
    return result


def parse_json(text: str, name: str) -> Any:
    """Return the JSON value in *text* as plain data; *name* stands in messages. NaN and Infinity come through.

    Raises
    ------
    FtplanError
        With the line where it is known: a syntax error, a duplicate key, nesting deeper than 100 levels.
    """
    if _may_be_deep(text):
        _refuse_depth(text, name)
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FtplanError(f"{name}: line {error.lineno}: not JSON: {error.msg} (column {error.colno})") from None
    except _DuplicateKeyError as error:
        _duplicate_with_line(text, name)
        raise FtplanError(f"{name}: duplicate key {error.args[0]!r}") from None
    except RecursionError:
        raise FtplanError(f"{name}: nested deeper than {MAX_DEPTH} levels") from None
    except ValueError:
        raise FtplanError(f"{name}: a number with too many digits") from None


def _duplicate_with_line(text: str, name: str) -> None:
    """Raise the complaint about a duplicate key with its line: JSON is YAML, and YAML's reader knows lines."""
    try:
        parse_yaml(text, name)
    except FtplanError as error:
        if "duplicate key" in str(error):
            raise


def _may_be_deep(text: str) -> bool:
    """Return whether the brackets, those in strings included, open more than the allowed levels at once."""
    data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8) | 0x20  # [ ] become { }
    step = (data == ord("{")).astype(np.int8) - (data == ord("}")).astype(np.int8)
    return bool(len(step)) and int(np.cumsum(step, dtype=np.int32).max()) > MAX_DEPTH


def _refuse_depth(text: str, name: str) -> None:
    """Raise if the nesting outside of strings is too deep."""
    depth = 0
    line = 1
    inside = escaped = False
    for character in text:
        line += character == "\n"
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise FtplanError(f"{name}: line {line}: nested deeper than {MAX_DEPTH} levels")
        elif character in "]}":
            depth -= 1

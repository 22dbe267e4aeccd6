"""JSON to plain data: duplicate keys and deep nesting are refused."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.yaml_reader import MAX_DEPTH, parse_yaml

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)


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

    Raises FtplanError (with the line where it is known) for a syntax error, a duplicate key, or more than 100 levels.
    """
    _refuse_depth(text, name)
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FtplanError(f"{name}: line {error.lineno}: not JSON: {error.msg} (column {error.colno})") from None
    except _DuplicateKeyError as error:
        _duplicate_with_line(text, name)
        raise FtplanError(f"{name}: duplicate key {error.args[0]!r}") from None
    except ValueError:
        raise FtplanError(f"{name}: a number with too many digits") from None


def _duplicate_with_line(text: str, name: str) -> None:
    """Raise the complaint about a duplicate key with its line: JSON is YAML, and YAML's reader knows lines."""
    try:
        parse_yaml(text, name)
    except FtplanError as error:
        if "duplicate key" in str(error):
            raise


def _refuse_depth(text: str, name: str) -> None:
    """Raise if the nesting outside of strings is too deep."""
    if _deep_at(text) is None:  # strings included: almost every document passes here
        return
    bare = _STRING.sub('""', text)
    if (place := _deep_at(bare)) is not None:
        line = bare.encode("utf-8", "replace").count(b"\n", 0, place) + 1
        raise FtplanError(f"{name}: line {line}: nested deeper than {MAX_DEPTH} levels")


def _deep_at(text: str) -> int | None:
    """Return the position of the first byte at which more brackets than the allowed levels are open."""
    data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8) | 0x20  # [ ] become { }
    step = (data == ord("{")).astype(np.int8) - (data == ord("}")).astype(np.int8)
    deep = np.cumsum(step, dtype=np.int32) > MAX_DEPTH
    return int(np.argmax(deep)) if deep.any() else None

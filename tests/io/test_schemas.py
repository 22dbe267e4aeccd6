"""Schemas are made of the models of the readers, and both judge the same documents alike."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest

from ftplan.errors import FtplanError
from ftplan.io.schemas import KINDS, schema
from tests.effort import some
from tests.io.cases import CASES
from tests.io.examples import said

#: What is put in the place of every value in turn. Semantic rules are the readers' alone: see `_structural`.
BAD_VALUES = (None, True, -1, 0.5, "x y", "", [], {}, [None], [[]], 10**30)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from _places(item, (*place, key))


def _bent(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value at a place; it shares what is elsewhere."""
    bent = copy.copy(document)
    if len(place) > 1:
        bent[place[0]] = _bent(document[place[0]], place[1:], value)
    elif value is _REMOVED:
        del bent[place[0]]
    else:
        bent[place[0]] = value
    return bent


_REMOVED = object()


@cache
def schema_of(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file, that of plans for a kind of plan."""
    return schema(kind if kind in KINDS else "plan")


#: Words of messages about what a schema cannot say: rules between one place and another.
_BETWEEN_PLACES = (
    "wrong length", "unknown operator", "unknown node", "duplicate", "all shares are 0", "needs equal", "needs fewer",
    "needs more", "out of range", "no time", "no time zone", "windows:", "must be after", "not on the grid",
    "but the status", "ends before", "self loop", "cycle", "too large", "expected between", "outside",
    "above the value", "below the value", "nothing differs", "changes nothing", "varies nothing",
    "needs at least one of", "points must rise", "is no label", "is no input", "say nothing of", "the plan's options",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_schemas_and_plain_data(kind: str) -> None:
    made = schema(kind)
    assert made == json.loads(json.dumps(made))
    jsonschema.Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("kind", CASES)
def test_valid_for_both(kind: str) -> None:
    document, load = CASES[kind]
    load(document)
    jsonschema.Draft202012Validator(schema_of(kind)).validate(document)


@pytest.mark.parametrize("kind", CASES)
def test_both_judge_alike(kind: str) -> None:
    """Every value is replaced or removed in turn: reader and schema accept the same, but for rules between places.

    The first entry of a list takes all other values, those behind it a share in turn.
    """
    document, load = CASES[kind]
    validator = jsonschema.Draft202012Validator(schema_of(kind))
    differences, seen = [], Counter[Any]()
    for place in _places(document):
        name = tuple(0 if isinstance(key, int) else key for key in place)
        others = some((*BAD_VALUES, _REMOVED), seen[name]) if seen[name] else (*BAD_VALUES, _REMOVED)
        seen[name] += 1
        for value in others:
            bent = _bent(document, place, value)
            message = ""
            try:
                load(bent)
            except FtplanError as error:
                message = str(error)
            if any(words in message for words in _BETWEEN_PLACES):
                continue
            if validator.is_valid(bent) != (not message):
                differences.append((place, "removed" if value is _REMOVED else value, message))
    assert differences == []


def test_every_field_is_described() -> None:
    for kind in KINDS:
        for name, definition in {**schema_of(kind).get("$defs", {}), kind: schema_of(kind)}.items():
            for field, content in definition.get("properties", {}).items():
                assert field == "format" or "description" in content, (kind, name, field)


def test_unknown_kind() -> None:
    assert said(schema, "topologie") == (
        "unknown kind of file 'topologie' (did you mean 'topology'?): one of topology, cluster, failure, stats, plan, "
        "evaluation, what-if, recovery-costs, bottleneck-rules, checkpoint-interval, collection, prometheus-mapping, "
        "what-if-result, simulation"
    )

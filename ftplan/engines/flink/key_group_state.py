"""Bytes of state by key group, from what was read out of a Flink checkpoint's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.engines.flink.values import entries, number, text, whole
from ftplan.errors import FtplanError


@dataclass(frozen=True, slots=True)
class OperatorState:
    """Bytes by key group of an operator with keyed state.

    ``operator`` is the id of Flink's operator; that of the first operator of a chain is the id of its vertex.
    """

    operator: str
    key_groups: int
    state_bytes: Mapping[int, float]


def is_key_group_state(value: Any) -> bool:
    """Return whether a document lists operators with ``key_group_bytes``."""
    return isinstance(value, list) and any("key_group_bytes" in item for item in entries(value))


def key_group_state(value: Any, name: str) -> list[OperatorState]:
    """Return the operators with keyed state in a document: a list of objects with ``operator``, ``max_parallelism`` and
    ``key_group_bytes``, a mapping from key group to bytes.

    Raises FtplanError if an entry lacks one of these, or has a key group beyond the largest.
    """
    states = []
    for i, entry in enumerate(entries(value)):
        operator, most = text(entry.get("operator")), whole(entry.get("max_parallelism"))
        sizes = entry.get("key_group_bytes")
        if operator is None or not most or not isinstance(sizes, dict):
            raise FtplanError(f"{name}: [{i}]: expected operator, max_parallelism and key_group_bytes")
        known: dict[int, float] = {}
        for group, size in sizes.items():
            index, value_ = whole(group), number(size)
            if index is None or index >= most or value_ is None:
                raise FtplanError(f"{name}: [{i}].key_group_bytes.{group}: expected bytes of a key group below {most}")
            known[index] = value_
        if known:
            states.append(OperatorState(operator, most, known))
    return states

"""Flink's ``_metadata`` of a checkpoint or savepoint: which key group begins where in each subtask's state.

Versions 3 (Flink 1.11) to 6 (2.3). Flink writes keyed state of the heap, and of savepoints, key group by key group;
what RocksDB checkpoints incrementally lies in files that mix them, and neither do changelogs tell key groups apart.
The same as a JSON document, which a program of Flink's own can write, is read by :func:`key_group_state`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ftplan.engines.flink.pages import entries, number, text, whole
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


MAGIC = 0x4960672D
_VERSIONS = (3, 4, 5, 6)
_MASTER_STATE = 0xC96B1696
#: Handles of keyed state: by key groups (of three kinds), and incremental (of two kinds).
_KEY_GROUPS, _SAVEPOINT, _KEY_GROUPS_V2 = 3, 7, 12
_INCREMENTAL, _INCREMENTAL_V2 = 5, 11
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """Operators whose state is known by key group, and the ids of those whose keyed state is not."""

    operators: tuple[OperatorState, ...]
    mixed: tuple[str, ...]


@dataclass(slots=True)
class _Operator:
    id: str
    key_groups: int
    state: dict[int, float] = field(default_factory=dict)
    mixed: bool = False


def checkpoint_state(data: bytes, name: str) -> CheckpointState:
    """Return what the metadata says of keyed state.

    Raises FtplanError if the data is no metadata of a known version, is cut off, or holds changelogs or the in-flight
    data of unaligned checkpoints.
    """
    try:
        return _read(_Cursor(data), name)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise FtplanError(f"{name}: the metadata of the checkpoint is damaged or cut off ({error})") from None


def _read(cursor: _Cursor, name: str) -> CheckpointState:
    if cursor.number(">I") != MAGIC:
        raise FtplanError(f"{name}: is no metadata of a Flink checkpoint")
    version = cursor.number(">i")
    if version not in _VERSIONS:
        raise FtplanError(f"{name}: metadata of version {version}; versions {_VERSIONS[0]} to {_VERSIONS[-1]} are read")
    cursor.number(">q")  # the checkpoint's number
    for _ in range(cursor.count()):
        if cursor.number(">I") != _MASTER_STATE:
            raise FtplanError(f"{name}: the metadata of the checkpoint is damaged")
        cursor.skip(cursor.count())
    operators = [_operator(cursor, version, name) for _ in range(cursor.count())]
    keyed = [OperatorState(one.id, one.key_groups, one.state) for one in operators if one.state]
    return CheckpointState(tuple(keyed), tuple(one.id for one in operators if one.mixed))


def _operator(cursor: _Cursor, version: int, name: str) -> _Operator:
    if version >= 5:
        cursor.text()  # name
        cursor.text()  # uid
    key = cursor.bytes(16).hex()
    cursor.number(">i")  # parallelism
    operator = _Operator(key, cursor.number(">i"))
    _stream(cursor, name)  # of the coordinator
    subtasks = cursor.number(">i")
    for _ in range(subtasks):  # below 0 where all have finished
        if cursor.number(">i") >= 0:  # below 0: this one has
            _subtask(cursor, operator, name)
    return operator


def _subtask(cursor: _Cursor, operator: _Operator, name: str) -> None:
    for _ in ("managed", "raw"):
        if cursor.number(">i"):
            _operator_state(cursor, name)
    for _ in ("managed", "raw"):
        _keyed(cursor, operator, name)
    for _ in ("input", "output"):
        if cursor.number(">i"):
            raise FtplanError(f"{name}: in-flight data of an unaligned checkpoint is not read; use another checkpoint")


def _operator_state(cursor: _Cursor, name: str) -> None:
    kind = cursor.number(">b")
    if kind == 0:
        return
    if kind not in (4, 17):
        raise FtplanError(f"{name}: operator state of kind {kind} is not known")
    for _ in range(cursor.count()):
        cursor.text()
        cursor.number(">b")
        cursor.skip(8 * cursor.count())
    if kind == 17:
        cursor.text()
        cursor.text()
        cursor.number(">b")
    _stream(cursor, name)


def _keyed(cursor: _Cursor, operator: _Operator, name: str) -> None:
    kind = cursor.number(">b")
    if kind in (_KEY_GROUPS, _SAVEPOINT, _KEY_GROUPS_V2):
        first, offsets = cursor.number(">i"), cursor.numbers(cursor.count())
        size = _stream(cursor, name)
        if kind == _KEY_GROUPS_V2:
            cursor.text()
        _add(operator, first, offsets, size)
    elif kind in (_INCREMENTAL, _INCREMENTAL_V2):
        operator.mixed = True
        cursor.number(">q")
        cursor.text()
        cursor.skip(8)  # range of key groups
        if kind == _INCREMENTAL_V2:
            cursor.number(">q")
        _stream(cursor, name)
        for _ in ("shared", "private"):
            for _ in range(cursor.count()):
                cursor.text()
                _stream(cursor, name)
        if kind == _INCREMENTAL_V2:
            cursor.text()
    elif kind != 0:
        raise FtplanError(f"{name}: keyed state of kind {kind} (a changelog) is not told apart by key group")


def _add(operator: _Operator, first: int, offsets: Sequence[int], size: int) -> None:
    """Add the bytes from each key group's offset to the next; an offset below 0 is of one without state."""
    known = sorted((offset, first + i) for i, offset in enumerate(offsets) if offset >= 0)
    for (offset, group), end in zip(known, [*(offset for offset, _ in known[1:]), size], strict=True):
        operator.state[group] = operator.state.get(group, 0.0) + max(end - offset, 0)


def _stream(cursor: _Cursor, name: str) -> int:
    """Skip a handle of a stream of bytes, and return their number."""
    kind = cursor.number(">b")
    if kind == 1:
        cursor.text()
        size = cursor.count()
        cursor.skip(size)
    elif kind == 2:
        size = cursor.number(">q")
        cursor.text()
    elif kind == 3:
        cursor.number(">i")
        cursor.skip(8 * cursor.count())
        size = _stream(cursor, name)
    elif kind == 6:
        cursor.text()
        size = cursor.number(">q")
    elif kind == 15:
        cursor.number(">q")
        size = cursor.number(">q")
        cursor.number(">i")
        cursor.text()
        cursor.text()
    elif kind in (0, 16):
        size = 0
    else:
        raise FtplanError(f"{name}: a handle of kind {kind} is not known")
    return size


@dataclass(slots=True)
class _Cursor:
    """Reads what Java's DataOutputStream wrote."""

    data: bytes
    at: int = 0

    def number(self, form: str) -> int:
        value: int = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def count(self) -> int:
        value = self.number(">i")
        if not 0 <= value <= min(_MOST, len(self.data)):
            raise IndexError(f"a count of {value}")
        return value

    def numbers(self, count: int) -> tuple[int, ...]:
        values = struct.unpack_from(f">{count}q", self.data, self.at)
        self.at += 8 * count
        return values

    def bytes(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise IndexError("it ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def skip(self, count: int) -> None:
        self.bytes(count)

    def text(self) -> str:
        return self.bytes(self.number(">H")).decode("utf-8", "surrogatepass")

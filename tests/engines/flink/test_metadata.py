"""Metadata of a real checkpoint, held to what Flink's own loader reads from it, and cut off at every byte."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.engines.flink.metadata import checkpoint_state, is_key_group_state, key_group_state
from ftplan.errors import FtplanError
from tests.places import ROOT

FLINK = ROOT / "tests" / "data" / "flink"
DATA = (FLINK / "checkpoints" / "heap._metadata").read_bytes()


def test_bytes_by_key_group_are_flinks() -> None:
    document = json.loads((FLINK / "checkpoints" / "heap.json").read_text())
    assert is_key_group_state(document)
    state = checkpoint_state(DATA, "_metadata")
    assert list(state.operators) == key_group_state(document, "heap.json")
    assert state.mixed == ()
    (operator,) = state.operators
    assert (operator.key_groups, len(operator.state_bytes)) == (32, 32)


def test_what_is_cut_off_is_refused() -> None:
    end = max(i for i in range(len(DATA)) if _refused(DATA[:i]))
    assert end > len(DATA) / 2  # what stands behind the operators is not read
    assert all(_refused(DATA[:i]) for i in range(end))


@given(st.integers(0, 2**32))
def test_garbled_bytes(seed: int) -> None:
    random = Random(seed)
    data = bytearray(DATA)
    for _ in range(random.choice((1, 3, 10))):
        data[random.randrange(len(data))] = random.randrange(256)
    _refused(bytes(data))


def _refused(data: bytes) -> bool:
    try:
        checkpoint_state(data, "_metadata")
    except FtplanError:
        return True
    return False


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "damaged or cut off"),
        (b"no metadata", "is no metadata of a Flink checkpoint"),
        (DATA[:4] + b"\0\0\0\7" + DATA[8:], "metadata of version 7; versions 3 to 6 are read"),
    ],
)
def test_what_is_no_metadata(data: bytes, text: str) -> None:
    with pytest.raises(FtplanError, match=text):
        checkpoint_state(data, "_metadata")


@pytest.mark.parametrize(
    "document",
    [
        [{"operator": "a", "key_group_bytes": {"0": 1}}],
        [{"operator": "a", "max_parallelism": 2, "key_group_bytes": {"2": 1}}],
        [{"operator": "a", "max_parallelism": 2, "key_group_bytes": {"0": -1}}],
        [{"max_parallelism": 2, "key_group_bytes": {}}],
    ],
)
def test_what_is_no_state_by_key_group(document: object) -> None:
    with pytest.raises(FtplanError, match=r"state.json: \[0\]"):
        key_group_state(document, "state.json")

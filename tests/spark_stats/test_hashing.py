"""Hashes against references: Flink's own answers, kafka-python, and the definitions of Java's hash codes."""

from __future__ import annotations

import csv

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.spark_stats import hashing
from tests.places import ROOT

FLINK = ROOT / "tests" / "data" / "flink_keygroups.csv"
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=30)
LONGS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30)


def signed(value: int) -> int:
    return (value & 0xFFFFFFFF) - ((value & 0x80000000) << 1)


def java_hash_code(text: str) -> int:
    units = text.encode("utf-16-le")
    h = 0
    for i in range(0, len(units), 2):
        h = (31 * h + int.from_bytes(units[i : i + 2], "little")) & 0xFFFFFFFF
    return signed(h)


@pytest.mark.parametrize("kind", ["string", "long"])
def test_flink_key_groups_agree_with_flink(kind: str) -> None:
    with FLINK.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["key_type"] == kind]
    assert len(rows) == 500
    if kind == "string":
        hashes = hashing.flink(pa.array([r["key"] for r in rows]))
    else:
        hashes = hashing.flink(pa.array([int(r["key"]) for r in rows]), "long")
    assert [h % 128 for h in hashes.to_pylist()] == [int(r["key_group_128"]) for r in rows]


@given(TEXTS)
def test_kafka_text_agrees_with_kafka_python(texts: list[str]) -> None:
    murmur2 = pytest.importorskip("kafka.partitioner.default").murmur2
    expected = [murmur2(t.encode()) & 0x7FFFFFFF for t in texts]
    assert hashing.kafka(pa.array(texts, pa.string())).to_pylist() == expected


@given(LONGS)
def test_kafka_numbers_agree_with_kafka_python(values: list[int]) -> None:
    murmur2 = pytest.importorskip("kafka.partitioner.default").murmur2
    expected = [murmur2(v.to_bytes(8, "big", signed=True)) & 0x7FFFFFFF for v in values]
    assert hashing.kafka(pa.array(values, pa.int64()), "long").to_pylist() == expected
    small = [v % 2**31 for v in values]
    expected = [murmur2(v.to_bytes(4, "big")) & 0x7FFFFFFF for v in small]
    assert hashing.kafka(pa.array(small, pa.int64()), "int").to_pylist() == expected


@given(TEXTS)
@settings(max_examples=300)
def test_java_text_is_the_definition(texts: list[str]) -> None:
    """Including surrogate pairs, which count as two units."""
    assert hashing.java(pa.array(texts, pa.string())).to_pylist() == [java_hash_code(t) for t in texts]


def test_java_text_known_values() -> None:
    keys = pa.array(["", "a", "hello", "Aa", "BB", "ключ"])
    assert hashing.java(keys).to_pylist()[:5] == [0, 97, 99162322, 2112, 2112]


@given(LONGS)
def test_java_numbers_are_the_definition(values: list[int]) -> None:
    expected = [signed((v & (2**64 - 1)) ^ ((v & (2**64 - 1)) >> 32)) for v in values]
    assert hashing.java(pa.array(values, pa.int64()), "long").to_pylist() == expected
    assert hashing.java(pa.array(values, pa.int64()), "int").to_pylist() == [signed(v) for v in values]


@given(TEXTS, st.integers(0, 5))
def test_slices_and_nulls(texts: list[str], start: int) -> None:
    """Arrow hands over slices with an offset, and nulls."""
    keys: list[str | None] = [*texts, None, "x", None]
    for function in (hashing.java, hashing.flink, hashing.kafka):
        whole = function(pa.array(keys, pa.string())).to_pylist()
        assert whole[-1] is None
        assert function(pa.array(keys, pa.string())[start:]).to_pylist() == whole[start:]
        assert function(pa.array(keys, pa.large_string())).to_pylist() == whole
    numbers = pa.array([1, None, 3], pa.int64())
    assert hashing.flink(numbers[1:], "long").to_pylist()[0] is None
    assert hashing.flink(pa.array([1], pa.int64()), "int") == hashing.flink(pa.array([1], pa.int64()), "long")


def test_no_keys() -> None:
    for function in (hashing.java, hashing.flink, hashing.kafka):
        assert function(pa.array([], pa.string())).to_pylist() == []

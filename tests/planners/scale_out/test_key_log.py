"""Every max parallelism, key by key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ftplan.errors import FtplanError
from ftplan.io.key_log_file import load_key_log
from ftplan.model.statistics import EPOCH, Manifest, OperatorStatistics
from ftplan.planners.scale_out.key_log import hashes, max_parallelisms
from ftplan.planners.scale_out.problem import ScalingProblem
from tests.planners.scale_out.algorithms.cases import even, figures, operator, problem, splits

KEYS = [f"user-{i}" for i in range(40)]
RECORDS = np.random.default_rng(3).integers(1, 20, 40).astype(float)
TARGET = 0.7


def question(split: str, use: float = 5.0, **fields: Any) -> ScalingProblem:
    item = operator("agg", np.full(8, use / 8), 2, **fields)
    return problem(item, operator("map", 1.0, 2), split=split, target=TARGET)


def manifest(key_hash: str | None) -> Manifest:
    return Manifest(60.0, EPOCH, EPOCH, {"agg": OperatorStatistics(8, key_hash)})


def log(name: str = "agg", keys: list[Any] = KEYS) -> Any:
    return load_key_log(pa.table({"operator": [name] * len(keys), "key": keys, "records": RECORDS[: len(keys)]}))


def by_hand(split: str, key_hash: str, groups: int, use: float) -> tuple[int, float]:
    """The smallest parallelism that suffices, else that with the least, and the use of its busiest task."""
    loads = np.zeros(groups)
    for value, records in zip(hashes(pa.array(KEYS), key_hash).tolist(), RECORDS, strict=True):
        loads[value % groups] += records * use / RECORDS.sum()
    item = operator("agg", loads, 1)
    sizes = [
        (tasks, min(figures(item, tasks, ranges)[0] for ranges in splits(item, tasks, split)))
        for tasks in range(1, groups + 1)
    ]
    enough = [size for size in sizes if size[1] <= TARGET * (1 + 1e-9)]
    return enough[0] if enough else min(sizes, key=lambda size: (round(size[1], 9), size[0]))


@pytest.mark.parametrize("key_hash", ["flink", "xxhash64", "kafka"])
@pytest.mark.parametrize(("split", "most"), [("hash", 40), ("load", 11)])
def test_each_is_tried_exactly(split: str, most: int, key_hash: str) -> None:
    (row,), warnings = max_parallelisms(question(split), log(), manifest(key_hash), most)
    expected = {groups: by_hand(split, key_hash, groups, 5.0) for groups in range(1, most + 1)}
    assert row["tried"] == most
    assert not warnings

    def rank(groups: int) -> tuple[float, ...]:
        tasks, highest = expected[groups]
        short = highest > TARGET * (1 + 1e-9)
        return short, round(highest, 9) if short else 0.0, tasks

    best = min(expected, key=lambda groups: (*rank(groups), groups != 8, expected[groups][1], groups))
    for item in (row["best"], row["now"], *row["traps"]):
        tasks, highest = expected[item["max_parallelism"]]
        assert item["parallelism"] == tasks
        assert item["highest"] == pytest.approx(highest)
    assert row["best"]["max_parallelism"] == best
    assert row["now"]["max_parallelism"] == 8
    worse = [g for g in expected if any(rank(smaller) < rank(g) for smaller in range(1, g))]
    assert [item["max_parallelism"] for item in row["traps"]] == worse


def test_divisors_of_the_key_groups_divide_them_evenly() -> None:
    """The ranges of the engines: with 7 tasks of 8 key groups the busiest has two."""
    assert [last - first + 1 for first, last in even(8, 7)].count(2) == 1


def test_a_key_that_is_too_heavy_is_told() -> None:
    keys = ["hot", *KEYS[:10]]
    table = pa.table({"operator": ["agg"] * 11, "key": keys, "records": [1000.0, *[1.0] * 10]})
    (row,), _ = max_parallelisms(question("hash"), load_key_log(table), manifest("java"), 20)
    assert row["heaviest_key_use"] == pytest.approx(5.0 * 1000 / 1010)
    assert row["best"]["highest"] > TARGET


def test_without_a_hash_they_are_those_of_flink() -> None:
    for known in (None, "identity"):
        (row,), warnings = max_parallelisms(question("hash"), log(), manifest(known), 16)
        assert row["key_hash"] == "flink"
        assert [warning.code for warning in warnings] == ["KEY_HASH_ASSUMED"]


def test_powers_and_multiples_beyond_those_that_are_all_tried() -> None:
    (row,), _ = max_parallelisms(question("hash"), log(), manifest("flink"), 1024)
    assert row["tried"] == 512 + (1024 - 512) // 8


@pytest.mark.parametrize(
    ("name", "said"),
    [("agh", "operator 'agh' is not in the topology (did you mean 'agg'?)"), ("map", "'map' has no key_groups")],
)
def test_other_operators_are_refused(name: str, said: str) -> None:
    with pytest.raises(FtplanError) as raised:
        max_parallelisms(question("hash"), log(name), manifest("flink"), 16)
    assert said in str(raised.value)

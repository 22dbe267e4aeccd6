"""Hashes without Spark, for key logs, against the engines' own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ftplan.planners.scale_out.key_log import HASHES, key_groups
from ftplan.spark_stats.key_groups import hashed_key, key_group
from ftplan.spark_stats.readers import Field
from ftplan.spark_stats.session import Session

TEXTS = ["", "a", "ab", "abc", "user-17", "ключ", "😀 two units", "x" * 31, "y" * 32, "z" * 33, "long key " * 17, "-12"]
NUMBERS = [0, 1, -1, 42, 2**31 - 1, -(2**31), 123456789]
WIDE = [*NUMBERS, 2**31, -(2**63), 2**63 - 1]


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (pa.array(TEXTS, pa.string()), "string"),
        (pa.array(WIDE, pa.int64()), "bigint"),
        (pa.array(NUMBERS, pa.int32()), "int"),
    ],
    ids=["text", "long", "int"],
)
def test_key_groups_are_those_of_the_statistics(session: Session, keys: Any, kind: str) -> None:
    from pyspark.sql import functions as F

    frame = session.spark.createDataFrame([(i, k) for i, k in enumerate(keys.to_pylist())], f"i int, k {kind}")
    field = Field("k", F.col("k"), {"string": "text", "bigint": "long", "int": "int"}[kind])
    # The others are the same functions in Spark's workers, which take seconds to start.
    names = HASHES if session.kind == "sail" else ("xxhash64", "murmur3", "crc32")
    columns = [
        key_group(hashed_key([field], name, "auto"), name, F.lit(groups).cast("bigint")).alias(f"{name}_{groups}")
        for name in names
        for groups in (7, 128)
    ]
    rows = frame.select("i", *columns).orderBy("i").collect()
    for name in names:
        for groups in (7, 128):
            expected = [row[f"{name}_{groups}"] for row in rows]
            assert np.array_equal(key_groups(keys, name, groups), expected), (name, groups)

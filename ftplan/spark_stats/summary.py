"""What the manifest says of each operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from ftplan.model.statistics import OperatorStatistics
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators


def operator_statistics(
    mapping: LogMapping, tables: Mapping[str, Any], spread: Mapping[str, str], operators: Operators, windows: int
) -> dict[str, OperatorStatistics]:
    """Return resolution, hash and coverage of each operator in the tables; *spread* tells how it was spread, if so.

    An operator without loads of key groups, such as one that only sends, has none, whatever ``--key-groups`` says of
    all operators: only its own number or the topology's counts.
    """
    seen: dict[str, set[Any]] = {}
    keyed: set[str] = set()
    for name in ("key_groups", "tasks"):
        if name in tables:
            table = tables[name]
            pairs = table.group_by(["operator", "window_start"]).aggregate([])
            for operator in pc.unique(pairs["operator"]).to_pylist():
                own = pairs.filter(pc.equal(pairs["operator"], operator))
                seen.setdefault(operator, set()).update(own["window_start"].cast("int64").to_pylist())
                if name == "key_groups":
                    keyed.add(operator)
    result = {}
    for operator in sorted(seen):
        way: Any = spread.get(operator)
        resolution = "key_group" if operator in keyed else "task"
        result[operator] = OperatorStatistics(
            key_groups=operators.count(operator) if operator in keyed else operators.counts.get(operator),
            key_hash=mapping.key_hash if operator in keyed and way is None else None,
            resolution=way or resolution,  # type: ignore[arg-type]
            estimated=way is not None,
            coverage=round(len(seen[operator]) / windows, 12),
        )
    return result

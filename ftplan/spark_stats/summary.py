"""What the manifest says of each operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ftplan.model.statistics import OperatorStatistics
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators


def operator_statistics(
    mapping: LogMapping, tables: Mapping[str, Any], operators: Operators, windows: int
) -> dict[str, OperatorStatistics]:
    """Return resolution, hash and coverage of each operator in the tables.

    An operator without loads of key groups, such as one that only sends, has none, whatever ``--key-groups`` says of
    all operators: only its own number or the topology's counts.
    """
    groups = tables["key_groups"]
    keyed = set(groups["operator"].unique().to_pylist())
    spread = groups.filter(groups["estimated"]).group_by(["operator", "resolution"]).aggregate([])
    resolution_of = dict(zip(spread["operator"].to_pylist(), spread["resolution"].to_pylist(), strict=True))
    loads = [tables[name].select(["operator", "window_start"]) for name in ("key_groups", "tasks") if name in tables]
    counted = pa.concat_tables(loads).group_by("operator").aggregate([("window_start", "count_distinct")])
    counts = dict(zip(counted["operator"].to_pylist(), counted["window_start_count_distinct"].to_pylist(), strict=True))
    result = {}
    for operator in sorted(counts):
        estimated = operator in resolution_of
        result[operator] = OperatorStatistics(
            key_groups=operators.count(operator) if operator in keyed else operators.counts.get(operator),
            key_hash=mapping.key_hash if operator in keyed and not estimated else None,
            resolution=resolution_of.get(operator, "key_group" if operator in keyed else "task"),
            estimated=estimated,
            coverage=round(counts[operator] / windows, 12),
        )
    return result

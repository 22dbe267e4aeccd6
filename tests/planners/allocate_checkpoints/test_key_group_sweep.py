"""The sweep over the number of key groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ftplan.api.statistics import compute_stats, summarise_stats, sweep_stats
from ftplan.errors import FtplanError

NODES = [f"n{i}" for i in range(1, 7)]


def inputs(key_groups: int, windows: int = 40) -> dict[str, Any]:
    """A job on six nodes whose tasks take turns: half of the key groups are busy while the other half rests."""
    rng = np.random.default_rng(3)
    start = pd.Timestamp("2026-01-01", tz="UTC")
    rows = [
        {
            "operator": "join",
            "key_group": g,
            "window_start": start + pd.Timedelta(hours=w),
            "records": float(rng.poisson(90 if (w + g // (key_groups // 2)) % 2 else 30)),
            "resolution": "key_group",
            "estimated": False,
        }
        for w in range(windows)
        for g in range(key_groups)
    ]
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": 3600.0,
        "start": "2026-01-01T00:00:00Z",
        "end": f"{start + pd.Timedelta(hours=windows):%Y-%m-%dT%H:%M:%SZ}",
        "operators": {"join": {"key_groups": key_groups}},
        "tables": {"key_groups": {"rows": len(rows)}},
        "measures": ["records"],
        "rows_read": len(rows),
    }
    return {
        "stats": {"manifest": manifest, "key_groups": pd.DataFrame(rows)},
        "topology": {
            "format": "ftplan/topology",
            "format_version": "1.0",
            "operators": [{"id": "join", "parallelism": 6, "key_groups": key_groups}],
            "edges": [],
        },
        "cluster": {
            "format": "ftplan/cluster",
            "format_version": "1.0",
            "nodes": [{"id": n, "cpu": 1} for n in NODES],
            "placement": {"tasks": {"join": NODES}},
        },
    }


def test_sweep_weighs_use_against_overhead() -> None:
    given = inputs(96)
    rows = sweep_stats(
        given["stats"], [6, 24, 48, 96], topology=given["topology"], cluster=given["cluster"], load="records"
    )
    assert [row["key_groups"] for row in rows] == [6, 24, 48, 96]
    assert [row["checkpoint_files"] for row in rows] == [6, 24, 48, 96]
    assert [row["least_groups_per_task"] for row in rows] == [1, 4, 8, 16]
    assert [row["heaviest_share"] for row in rows] == sorted((row["heaviest_share"] for row in rows), reverse=True)
    # g mod 48 puts a busy and a resting group together: nothing runs against anything any more.
    assert rows[-1]["usable_share"] > 0.9
    assert rows[-1]["usable_share"] > rows[-1]["even_usable_share"]
    assert all(0 <= row[name] <= 1 for row in rows for name in ("usable_share", "even_usable_share") if row[name])


def test_less_is_told_with_less() -> None:
    given = inputs(12)
    only_loads = sweep_stats(given["stats"], [4, 12])
    assert "least_groups_per_task" not in only_loads[0]
    with_topology = sweep_stats(given["stats"], [4], topology=given["topology"])
    assert with_topology[0]["idle_tasks"] == 2
    assert "usable_share" not in with_topology[0]
    assert {k: v for k, v in with_topology[0].items() if k in only_loads[0]} == only_loads[0]


def test_unknown_load() -> None:
    with pytest.raises(Exception, match="did you mean 'records'"):
        sweep_stats(inputs(12)["stats"], [4], load="record")


def test_names_that_are_not_known() -> None:
    with pytest.raises(FtplanError, match=r"--load: unknown 'byte' .did you mean 'bytes'"):
        summarise_stats(inputs(12)["stats"], load="byte")
    with pytest.raises(FtplanError, match=r"compute-stats: unknown option 'key_column' .did you mean 'key_columns'"):
        compute_stats(["log.csv"], "stats", key_column="k")

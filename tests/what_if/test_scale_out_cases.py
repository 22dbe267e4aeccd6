"""Scale-outs under changed options and traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import ftplan
from tests.planners.scale_out.cases import BARE, TOPOLOGY, USUAL


def written(folder: Path) -> dict[str, str]:
    """Write the inputs of the case into files."""
    (folder / "stats").mkdir()
    (folder / "topology.yaml").write_text(yaml.safe_dump(dict(TOPOLOGY)))
    (folder / "stats" / "manifest.json").write_text(json.dumps(BARE["stats"]["manifest"]))
    for name in ("tasks", "key_groups"):
        pq.write_table(
            pa.Table.from_pandas(BARE["stats"][name], preserve_index=False), folder / "stats" / f"{name}.parquet"
        )
    return {"topology": str(folder / "topology.yaml"), "stats": str(folder / "stats")}


def test_more_room_and_more_traffic(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "name": "room",
        "inputs": written(tmp_path),
        "run": {"command": "scale-out", "options": dict(USUAL)},
        "measures": ["objective", "extra-cpu", "summary.after.highest_utilisation"],
        "grid": [{"options": {"free_cpu": [0, 4, 40]}}, {"traffic": [0.5, 2.0]}],
    }
    rows = ftplan.what_if(document, jobs=1).set_index("case")
    assert len(rows) == 7
    for traffic in (0.5, 2.0):
        values = [rows.loc[f"free_cpu={cores} traffic={traffic:g}", "objective"] for cores in (0, 4, 40)]
        assert values == sorted(values)
    assert rows.loc["free_cpu=40 traffic=0.5", "objective"] == 1.0
    assert rows.loc["free_cpu=40 traffic=2", "extra-cpu"] > rows.loc["base", "extra-cpu"]

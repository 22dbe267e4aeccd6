"""The inputs of every example, complete: what an example does not ship (statistics, plans) is made here."""

from __future__ import annotations

import json
import math
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import ftplan
from ftplan.io.starter import starter_files
from tests.places import ROOT

EXAMPLES = ROOT / "examples"
SMALL = ROOT / "tests" / "data" / "small"

WINDOWS = 6


@dataclass(frozen=True)
class Case:
    """Inputs of one example by role; ``plans`` by kind, made from them."""

    name: str
    inputs: dict[str, Any]
    plans: dict[str, dict[str, Any]]
    toml: dict[str, Any] | None


@cache
def cases() -> tuple[Case, ...]:
    """Return all examples that hold inputs, the small test data, and the starter files."""
    found = []
    for folder in sorted(EXAMPLES.iterdir()):
        if (folder / "topology.yaml").exists():
            found += [_case(folder.name, _files(folder), _toml(folder))]
            if (folder / "racks.yaml").exists():
                found += [_case(f"{folder.name}-racks", {**_files(folder), "failure": _read(folder / "racks.yaml")})]
    found.append(_case("small", _files(SMALL), stats=_small_statistics()))
    starter = {
        Path(name).stem: yaml.safe_load(text)
        for name, text in starter_files().files.items()
        if Path(name).name in ("topology.yaml", "cluster.yaml")
    }
    found.append(_case("starter", starter))
    return tuple(found)


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def _toml(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "ftplan.toml").read_text())


def _files(folder: Path) -> dict[str, Any]:
    paths = {role: folder / f"{role}.yaml" for role in ("topology", "cluster", "failure")}
    return {role: _read(path) for role, path in paths.items() if path.exists()}


def _case(
    name: str, inputs: dict[str, Any], toml: dict[str, Any] | None = None, stats: dict[str, Any] | None = None
) -> Case:
    complete = {**inputs}
    complete.setdefault("failure", _failure(inputs["cluster"]))
    keyed = any(operator.get("key_groups") for operator in inputs["topology"]["operators"])
    if keyed:
        complete["stats"] = stats or _statistics(inputs["topology"])
    problem = ftplan.load(**complete, spread=True)
    plans = {}
    for command, options in COMMANDS.items():
        quick = "best-density" if command == "recovery-schedule" else None
        with suppress(ftplan.FtplanError):  # scenarios alone are no failure to recover from
            plan = ftplan.plan(command, problem, algorithm=quick, **options)
            plans[plan.kind] = json.loads(plan.to_json())
    return Case(name, complete, plans, toml)


#: Options of each command; work is bounded by count, so that the answers depend on no clock.
COMMANDS: dict[str, dict[str, Any]] = {
    "allocate-checkpoints": {"iterations": 1},
    "replicate-tasks": {"iterations": 1, "budget": "30%"},
    "recovery-schedule": {"iterations": 1, "samples": 3},
    "drain-schedule": {"iterations": 1, "min_fidelity": 0.2, "partial": True},
    "rebalance": {"iterations": 1},
    "scale-out": {"iterations": 1},
    "peer-ring": {"iterations": 1},
}


def _failure(cluster: dict[str, Any]) -> dict[str, Any]:
    """Return the failure of the first node, with a replacement, a later failure and scenarios."""
    first, second = cluster["nodes"][0]["id"], cluster["nodes"][1]["id"]
    early, late = {"id": "r1", "cpu": 4.0}, {"id": "r2", "cpu": 4, "zone": "spare"}
    return {
        "format": "ftplan/failure",
        "format_version": "1.0",
        "fail": [f"node:{first}", {"at_s": 30, "select": f"node:{second}"}],
        "arrivals": [
            {"at_s": 60, "node": early},
            {"at_s": [90, 120], "node": late},
        ],
        "scenarios": [
            {"id": "a", "probability": 0.5, "fail": [f"node:{first}"]},
            {"id": "b", "probability": 0.25, "fail": [f"node:{second}"]},
        ],
    }


def _small_statistics() -> dict[str, Any]:
    import pyarrow.parquet as pq

    rows = pq.read_table(SMALL / "stats" / "key_groups.parquet").to_pylist()
    for row in rows:
        row["window_start"] = row["window_start"].isoformat()
    manifest = json.loads((SMALL / "stats" / "manifest.json").read_text())
    del manifest["tables"]
    return {"manifest": manifest, "key_groups": rows}


def _statistics(topology: dict[str, Any]) -> dict[str, Any]:
    """Return statistics of all operators: six hours, loads in step and against it, every measure, all tables."""
    keyed = [o for o in topology["operators"] if o.get("key_groups")]
    key_groups, tasks = [], []
    for number, operator in enumerate(keyed):
        for group in range(operator["key_groups"]):
            for window in range(WINDOWS):
                load = round(100 * (1.2 + math.sin(window + number + math.pi * (group % 3))))
                key_groups.append(
                    {
                        "operator": operator["id"],
                        "key_group": group,
                        "window_start": f"2026-03-02T{window:02}:00:00Z",
                        "records": load,
                        "bytes": 10.0 * load,
                        "cpu_ms": 2.0 * load,
                        "state_bytes": 1e6 + group,
                        "resolution": "key_group",
                        "estimated": group % 7 == 6,
                    }
                )
    for operator in topology["operators"]:
        for index in range(operator.get("parallelism", 1)):
            row = {"operator": operator["id"], "task": index, "window_start": "2026-03-02T00:00:00Z"}
            tasks.append({**row, "records_in": 100.0 + index, "records_out": 50.0, "cpu_ms": 3e6, "busy_ms": 1e6})
    edge = topology["edges"][0]
    substream = {"from_operator": edge["from"], "from_task": 0, "to_operator": edge["to"], "to_task": 0, "records": 5.0}
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": 3600,
        "start": "2026-03-02T00:00:00Z",
        "end": f"2026-03-02T{WINDOWS:02}:00:00Z",
        "windows": WINDOWS,
        "measures": ["records", "bytes", "cpu_ms"],
        "operators": {o["id"]: {"key_groups": o.get("key_groups")} for o in topology["operators"]},
        "rows_read": 1000,
        "coverage": 1.0,
    }
    return {
        "manifest": manifest,
        "key_groups": key_groups,
        "tasks": tasks,
        "substreams": [{**substream, "window_start": "2026-03-02T00:00:00Z"}],
        "placement": {"tasks": {topology["operators"][0]["id"]: ["n1"]}},
    }

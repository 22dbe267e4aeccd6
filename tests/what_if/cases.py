"""A small project in a folder, what-if files for it, and the single command on files that were edited by hand."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

import ftplan
from ftplan.io.stats_store import load_stats
from ftplan.what_if.case_file import load_cases
from ftplan.what_if.cases import WhatIfCases
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
ENVELOPE = {"format": "ftplan/what-if", "format_version": "1.0"}

TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 2, "cpu": 0.5, "rate_out": [100, 50]},
        {"id": "other", "parallelism": 2, "cpu": 0.25},
        {"id": "join", "parallelism": 4, "cpu": [1.0, 0.5, 1.0, 0.75], "key_groups": 8, "state_bytes": 8388608},
        {"id": "sink", "parallelism": 4, "cpu": 0.25, "priority": [1, 2, 3, 4]},
        {"id": "audit", "parallelism": 1, "cpu": 0.5, "priority": 2},
    ],
    "edges": [
        {"from": "source", "to": "join", "partitioning": "split"},
        {"from": "other", "to": "join", "substreams": [[0, 0, 3.0], [0, 1, 2.5], [1, 2, 1.0], [1, 3, 4.0]]},
        {"from": "join", "to": "sink", "partitioning": "one-to-one"},
        {"from": "join", "to": "audit", "partitioning": "merge"},
    ],
}
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n10", "cpu": 4, "zone": "b"},
        {"id": "n1", "cpu": 4, "zone": "a", "failure_probability": 0.1},
        {"id": "n2", "cpu": 3, "zone": "a", "accepts": ["tasks"]},
        {"id": "n3", "cpu": 4, "zone": "b", "used_cpu": 1.0},
        {"id": "n4", "cpu": 2, "accepts": ["checkpoints"]},
    ],
    "zones": [{"id": "a", "failure_probability": 0.2}],
    "network": {"bandwidth_mb_s": 1},
    "placement": {
        "tasks": {
            "source": ["n1", "n2"],
            "other": ["n10", "n3"],
            "join": ["n1", "n1", "n2", "n10"],
            "sink": ["n3", "n3", "n3", "n3"],
            "audit": ["n10"],
        },
        "checkpoints": {"join": [["n3"], ["n3"], ["n4", "n3"], ["n10"], ["n1"], ["n4"], ["n4"], ["n3"]]},
        "replicas": {"join": ["n3", None, "n10", None]},
    },
}
FAILURE: Mapping[str, Any] = {
    "format": "ftplan/failure",
    "format_version": "1.0",
    "fail": ["node:n2"],
    "arrivals": [{"at_s": [10, 40], "node": {"id": "new-1", "cpu": 2, "zone": "a"}}],
    "scenarios": [],
}
#: Options with which every planner ends by itself.
QUICK = {"time-limit": 1e6, "iterations": 5}


def save(folder: Path, topology: Any = TOPOLOGY, cluster: Any = CLUSTER, failure: Any = None) -> Path:
    """Write a project into a new folder."""
    folder.mkdir(parents=True)
    given = {"topology": topology, "cluster": cluster, "failure": failure}
    for role, document in given.items():
        if document is not None:
            (folder / f"{role}.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False))
    return folder


@contextmanager
def within(folder: Path) -> Iterator[None]:
    """Work in a folder, as a command does."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def what_if(folder: Path, **parts: Any) -> WhatIfCases:
    """Return a sweep over the project in a folder, read from a file there."""
    roles = ("topology", "cluster", "failure")
    inputs = {role: f"{role}.yaml" for role in roles if (folder / f"{role}.yaml").exists()}
    inputs |= {"stats": "stats"} if (folder / "stats").exists() else {}
    run = {"command": "recovery-schedule", "algorithm": "best-density", "options": QUICK, **parts.pop("run", {})}
    document = {**ENVELOPE, "inputs": {**inputs, **parts.pop("inputs", {})}, "run": run, **parts}
    (folder / "what-if.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False))
    with within(folder):
        return load_cases("what-if.yaml")


def answer(folder: Path, sweep: WhatIfCases, number: int) -> str:
    """Return the answer of a case as text, the message of one that is refused."""
    with within(folder):
        try:
            return stripped(sweep.answer(number).to_json())
        except ftplan.FtplanError as error:
            return f"refused: {error}"


def single(
    folder: Path, command: str = "recovery-schedule", algorithm: str | None = "best-density", **more: Any
) -> str:
    """Return what one command says of the project in a folder."""
    with within(folder):
        sources = {role: f"{role}.yaml" for role in ("topology", "cluster", "failure")}
        files = {role: path for role, path in sources.items() if Path(path).exists()}
        files |= {"stats": "stats"} if Path("stats").exists() else {}
        try:
            problem = ftplan.load(**files, spread=more.pop("spread", False))
            options = {"time_limit_s": 1e6, "iterations": 5, **more}
            return stripped(ftplan.plan(command, problem, algorithm=algorithm, **options).to_json())
        except ftplan.FtplanError as error:
            return f"refused: {error}"


def stripped(text: str) -> str:
    """Return a document without the paths and hashes of its inputs."""
    document = json.loads(text)
    document["inputs"] = [item["role"] for item in document["inputs"]]
    return json.dumps(document, sort_keys=True, indent=1)


def changed(document: Mapping[str, Any], *edits: Callable[[Any], None]) -> Any:
    """Return a copy of a document with edits carried out on it."""
    value = copy.deepcopy(dict(document))
    for edit in edits:
        edit(value)
    return value


def entry(document: Any, kind: str, name: str) -> Any:
    """Return the operator or node of a name."""
    return next(item for item in document[kind] if item["id"] == name)


def scale_stats(source: Path, target: Path, factor: float) -> None:
    """Write statistics again with every count of what flows or works times a factor."""
    stats = load_stats(source).value
    target.mkdir(parents=True)
    manifest = json.loads((source / "manifest.json").read_text())
    for kind, table in stats.tables.items():
        frame = table.to_pandas()
        for column in ("records", "bytes", "cpu_ms", "records_in", "records_out", "busy_ms"):
            if column in frame:
                frame[column] = frame[column] * factor
        import pyarrow as pa

        pq.write_table(
            pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False), target / f"{kind}.parquet"
        )
    manifest["tables"] = {}
    (target / "manifest.json").write_text(json.dumps(manifest))

"""What `init` writes is valid, as it stands and with the statistics that it was made from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ftplan.io.checking import check_files
from ftplan.io.cluster_file import load_cluster
from ftplan.io.starter import starter_files
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.model.cluster import primaries
from tests.io.examples import key_group_row, manifest

OPERATORS = {"join": {"key_groups": 3}, "no": {"key_groups": 8}, "007": {}}


def stats(folder: Path, placement: str | None = None, substreams: list[Any] | None = None) -> Path:
    document = manifest(operators=OPERATORS)
    given = {"manifest": document, "key_groups": [key_group_row()], "substreams": substreams}
    tables = load_stats(given).value.tables
    path = folder / "stats"
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps(document))
    for name, table in tables.items():
        pq.write_table(table, path / f"{name}.parquet")
    if placement is not None:
        (path / "placement.yaml").write_text(placement)
    return path


def written(folder: Path, source: Path | None) -> Path:
    for name, text in starter_files(None if source is None else str(source), folder).files.items():
        (folder / name).write_text(text)
    return folder


def names_of_everything(folder: Path, *more: Path) -> list[str]:
    checked, errors = check_files([folder / "topology.yaml", folder / "cluster.yaml", folder / "ftplan.toml", *more])
    assert errors == []
    assert [warning for item in checked for warning in item.warnings] == []
    return [item.kind for item in checked]


def test_from_nothing(tmp_path: Path) -> None:
    written(tmp_path, None)
    assert names_of_everything(tmp_path) == ["topology", "cluster", "configuration"]
    lines = (tmp_path / "orders.csv").read_text().splitlines()
    assert lines[0] == "time,customer,product"
    assert len(lines) == 769
    toml = tomllib.loads((tmp_path / "ftplan.toml").read_text())
    keyed = {operator.id for operator in load_topology(tmp_path / "topology.yaml").value.keyed_operators}
    assert {entry.partition("=")[0] for entry in toml["compute-stats"]["key"]} == keyed
    assert starter_files() == starter_files()


@pytest.mark.parametrize(
    ("placement", "nodes"),
    [
        (None, ["n1", "n2", "n3", "n4"]),
        ("tasks: {join: [w1, w2, w10], 'no': [w1, w2]}", ["w1", "w2", "w10"]),
        ("key_groups: {join: [w1, w2, w3], 'no': [w1]}", ["w1", "w2", "w3"]),
    ],
)
def test_from_statistics(tmp_path: Path, placement: str | None, nodes: list[str]) -> None:
    """Ids that YAML might misread are quoted; every keyed operator is placed."""
    source = stats(tmp_path, placement)
    written(tmp_path, source)
    assert names_of_everything(tmp_path, source) == ["topology", "cluster", "configuration", "stats"]
    job = load_topology(tmp_path / "topology.yaml").value
    assert {operator.id: operator.key_groups for operator in job.operators} == {"007": None, "join": 3, "no": 8}
    cluster = load_cluster(tmp_path / "cluster.yaml", job).value
    assert [node.id for node in cluster.nodes] == nodes
    assert cluster.placement is not None
    for operator in job.keyed_operators:
        owners = primaries(operator.id, job, cluster.placement)
        assert owners is not None
        assert len(owners) == operator.key_groups
    assert tomllib.loads((tmp_path / "ftplan.toml").read_text())["inputs"]["stats"] == "stats"


def test_streams_without_cycles(tmp_path: Path) -> None:
    def stream(source: str, target: str, task: int) -> dict[str, Any]:
        at = "2024-01-01T00:00:00Z"
        return {"from_operator": source, "from_task": task, "to_operator": target, "to_task": 1, "window_start": at,
                "records": 1}  # fmt: skip

    source = stats(tmp_path, None, [stream("007", "join", 5), stream("join", "no", 0), stream("no", "007", 0)])
    written(tmp_path, source)
    names_of_everything(tmp_path, source)
    job = load_topology(tmp_path / "topology.yaml").value
    names = [(job.operators[edge.source].id, job.operators[edge.target].id) for edge in job.edges]
    assert names == [("007", "join"), ("join", "no")]
    assert job.operator("007").parallelism == 6

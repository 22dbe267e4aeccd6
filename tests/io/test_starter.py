"""What `init` writes is valid, as it stands and with the statistics that it was made from."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from ftplan.api.checking import check_files
from ftplan.io.cluster_file import load_cluster
from ftplan.io.starter import starter_files
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.model.cluster import primaries
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.task_costs import task_costs
from ftplan.model.measures.task_state import task_state
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from tests.io.examples import key_group_row, manifest
from tests.model.measures.measured_cases import folder, measured

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
    names_of_everything(tmp_path)
    checked, errors = check_files([tmp_path / "topology.yaml", source])
    assert errors == []
    assert [warning.code for warning in checked[1].warnings] == ["STREAM_NOT_IN_TOPOLOGY"]
    job = load_topology(tmp_path / "topology.yaml").value
    names = [(job.operators[edge.source].id, job.operators[edge.target].id) for edge in job.edges]
    assert names == [("007", "join"), ("join", "no")]
    assert job.operator("007").parallelism == 6


def measured_log(seed: int) -> dict[str, Any]:
    """Statistics of a (4 tasks) -> b (6) -> c (3), with what each of them took; some tasks stay idle."""
    draw = np.random.default_rng(seed)
    by_task = [
        (o, i, w, int(draw.integers(1, 500)), None, 1000 * float(draw.random()), 2**20 * int(draw.integers(1, 9)))
        for o, tasks in (("a", 4), ("b", 6), ("c", 3))
        for i in range(tasks)
        for w in range(3)
    ]
    pairs = [
        (source, i, target, j, w, float(draw.integers(1, 90)) / 7)
        for source, senders, target, receivers in (("a", 4, "b", 6), ("b", 6, "c", 3))
        for i in range(senders)
        for j in range(receivers)
        for w in range(3)
        if draw.random() < 0.3
    ]
    return measured("abc", tasks=by_task, substreams=[("a", 3, "b", 5, 0, 1), *pairs], windows=3)


def plain(topology: Topology) -> Topology:
    """Return what is left of a topology without anything measured."""
    zero = {o.id: np.zeros(o.parallelism) for o in topology.operators}
    operators = [
        replace(o, cpu=zero[o.id] + 1.0, state_bytes=zero[o.id], rate_out=None, input_share=None)
        for o in topology.operators
    ]
    return Topology(tuple(operators), tuple(Edge(e.source, e.target, "full") for e in topology.edges))


@pytest.mark.parametrize("seed", range(5))
def test_measured_rates_stand_in_the_topology(seed: int, tmp_path: Path) -> None:
    """What is written, and the same job without any rates weighed by the statistics, are the same to planners."""
    source = folder(tmp_path / "stats", measured_log(seed))
    written(tmp_path, source)
    assert names_of_everything(tmp_path, source) == ["topology", "cluster", "configuration", "stats"]
    job, stats = load_topology(tmp_path / "topology.yaml").value, load_stats(source).value
    weighed, said = measured_topology(plain(job), stats)
    assert said == ()
    first, second = TaskGraph(job), TaskGraph(weighed)
    assert all(edge.substreams is not None for edge in job.edges)
    assert rates(first).out.tolist() == rates(second).out.tolist()
    assert rates(first).into.tolist() == rates(second).into.tolist()
    assert task_costs(first, None).cost == pytest.approx(task_costs(second, stats).cost, rel=1e-11)
    assert task_state(first, None).total.tolist() == task_state(second, stats).total.tolist()
    again, said = measured_topology(job, stats)
    assert said == ()
    assert rates(TaskGraph(again)).into.tolist() == rates(first).into.tolist()


def test_streams_that_part_ways_raise_no_warning(tmp_path: Path) -> None:
    """Where a task sends one record here and the next one there, its streams imply what it emits."""
    pairs = [("a", 0, "b", 0, 0, 600), ("a", 0, "c", 0, 0, 300), ("a", 0, "c", 1, 0, 60)]
    source = folder(tmp_path / "stats", measured("abc", tasks=[("a", 0, 0, 960, 960)], substreams=pairs))
    written(tmp_path, source)
    names_of_everything(tmp_path, source)
    job = load_topology(tmp_path / "topology.yaml").value
    assert job.operator("a").rate_out is None
    weighed, said = measured_topology(plain(job), load_stats(source).value)
    assert said == ()
    assert rates(TaskGraph(job)).out == pytest.approx(rates(TaskGraph(weighed)).out, rel=1e-11)


def test_long_lists_of_substreams_are_left_out(tmp_path: Path) -> None:
    """Then what is emitted and how it is shared says the same of each task, and no more of pairs."""
    pairs = [("a", i, "b", j, 0, 1 + i * j) for i in range(4) for j in range(6)] + [("b", 5, "c", 0, 0, 3)]
    source = folder(tmp_path / "stats", measured("abc", substreams=pairs))
    whole, said = starter_files(str(source), tmp_path, 24)
    assert said == ()
    files, said = starter_files(str(source), tmp_path, 23)
    (tmp_path / "topology.yaml").write_text(files["topology.yaml"])
    (tmp_path / "whole.yaml").write_text(whole["topology.yaml"])
    assert [warning.code for warning in said] == ["SUBSTREAMS_NOT_LISTED"]
    assert said[0].message.startswith("a -> b: 24 measured substreams are more than --max-substreams 23")
    short, long = (load_topology(tmp_path / name).value for name in ("topology.yaml", "whole.yaml"))
    assert [edge.partitioning for edge in short.edges] == ["full", None]
    assert rates(TaskGraph(short)).out.tolist() == rates(TaskGraph(long)).out.tolist()
    assert rates(TaskGraph(short)).into == pytest.approx(rates(TaskGraph(long)).into, rel=1e-11)


def test_streams_that_close_a_cycle_are_named(tmp_path: Path) -> None:
    pairs = [("a", 0, "b", 0, 0, 1), ("b", 0, "a", 0, 0, 6), ("b", 0, "b", 0, 0, 12)]
    source = folder(tmp_path / "stats", measured("ab", substreams=pairs))
    files, said = starter_files(str(source), tmp_path)
    assert "  - {from: a, to: b, substreams: [[0, 0, 0.00833333333333]]}" in files["topology.yaml"].splitlines()
    assert [warning.code for warning in said] == ["STREAM_NOT_IN_TOPOLOGY"]
    assert "0.1 records/s from b to b" in said[0].message

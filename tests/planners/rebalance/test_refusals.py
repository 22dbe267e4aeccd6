"""What is wrong with the question of a rebalance is said in one line, with exit code 2 and without a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import Run

PLAN = ("rebalance", "-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")


def refused(ftplan: Run, *args: str) -> str:
    """Return the line with which a command refuses."""
    done = ftplan(*args)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("ftplan: algorithm: ")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("ftplan: ")
    return lines[0]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--add", "n99"), "--add: unknown node 'n99'"),
        (("--remove", "zone:nowhere"), "--remove: zone:nowhere: unknown zone 'nowhere'"),
        (("--remove", "n1", "--add", "node:n1"), "--add and --remove both name n1"),
        (("--within", "2m"), "--within is the notice of nodes that are removed: give --remove too"),
        (("--within", "soon", "--remove", "n1"), "'soon' is no duration"),
        (("--demand", "last:1000000"), "--demand: last:1000000: the statistics have"),
        (("--demand", "median"), "--demand: 'median' is not mean, a percentile such as p95, or last:N"),
        (("--tolerance", "little"), "--tolerance: 'little' is not auto, none or a number"),
        (("--band", "0.9-0.1"), "--band: '0.9-0.1' is not two shares such as 0.5-0.75"),
        (("--objective", "pause"), "'pause' is not one of"),
        (("--protocol", "lazy"), "--protocol lazy: no operator with key groups makes full checkpoints"),
        (("--load", "cpu_ms"), "the statistics have no 'cpu_ms'"),
        (("--max-bytes", "much"), "'much' is no size"),
        (("--max-moves", "-1"), "--max-moves"),
        (("--bandwidth", "0"), "--bandwidth"),
        (("--checkpoints", "topology.yaml"), "topology.yaml: format: this is a topology file"),
        (("--checkpoints", "nowhere.json"), "nowhere.json: no such file"),
        (("--costs", "cluster.yaml"), "cluster.yaml: format: this is a cluster file"),
    ],
)
def test_options(ftplan: Run, args: tuple[str, ...], said: str) -> None:
    assert said in refused(ftplan, *PLAN, *args)


def test_missing_inputs(ftplan: Run) -> None:
    assert "--stats is missing" in refused(ftplan, *PLAN[:-2])
    assert "--cluster is missing" in refused(ftplan, *PLAN[:3], *PLAN[5:])


def test_a_cluster_without_placement(ftplan: Run, project: Path) -> None:
    cluster: dict[str, Any] = {"format": "ftplan/cluster", "format_version": "1.0"}
    cluster["nodes"] = [{"id": "n1", "cpu": 4}, {"id": "n2", "cpu": 4}]
    (project / "bare.json").write_text(json.dumps(cluster))
    said = refused(ftplan, *PLAN[:3], "-c", "bare.json", *PLAN[5:])
    assert "placement.tasks." in said
    assert "--spread" in said


def test_a_plan_of_another_kind(ftplan: Run, project: Path) -> None:
    done = ftplan(
        "replicate-tasks", "-t", "topology.yaml", "-c", "cluster.yaml", "--budget", "1", "-o", "replicas.json"
    )
    assert done.returncode == 0, done.stderr
    said = refused(ftplan, *PLAN, "--checkpoints", "replicas.json")
    assert "replicas.json: --checkpoints needs a plan of kind allocate-checkpoints, not replicate-tasks" in said

"""A real Flink cluster whose task managers are killed: from the REST endpoint to plans and predictions.

Left out of the default tests: ``make test-flink`` makes the environment and runs it.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ftplan.io.cluster_file import load_cluster
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.io.topology_file import load_topology
from tests.cli.in_process import environment
from tests.live.flink.drill_commands import plans
from tests.places import ROOT

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def drilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a drill with six kills."""
    python = os.environ.get("FLINK_PYTHON")
    if python is None:
        pytest.skip("needs an environment with apache-flink: make test-flink")
    folder = tmp_path_factory.mktemp("drill")
    script = ROOT / "examples" / "flink" / "drill.py"
    options = ["--python", python, "--output", str(folder), "--kills", "1"]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    subprocess.run([sys.executable, script, *options], check=True, cwd=ROOT, env=environment(PYTHONPATH=paths))
    return folder


def test_the_job_is_imported_as_it_ran(drilled: Path) -> None:
    topology = load_topology(drilled / "topology.yaml").value
    assert topology.task_count == 9
    keyed = [operator for operator in topology.operators if operator.key_groups]
    assert [operator.key_groups for operator in keyed] == [128]
    cluster = load_cluster(drilled / "cluster.yaml", topology).value
    assert {node.id for node in cluster.nodes} == {"127.0.0.11", "127.0.0.12", "127.0.0.13"}
    assert cluster.placement is not None


def test_every_kill_was_recovered_from(drilled: Path) -> None:
    with (drilled / "recoveries.csv").open() as file:
        kills = list(csv.DictReader(file))
    assert len(kills) == 6
    for kill in kills:
        assert 0 < float(kill["down_s"]) <= float(kill["recovery_s"])
    initialised = [
        line for line in (drilled / "jobmanager.log").read_text().splitlines() if "name=JobInitialization" in line
    ]
    assert len(initialised) >= 8, "two starts and six restarts"


def test_plans_are_made_of_it(drilled: Path) -> None:
    assert load_recovery_costs(drilled / "recovery.yaml").value.estimates
    for name in plans():
        assert json.loads((drilled / name).read_text())["status"] in ("optimal", "feasible"), name


def test_nothing_is_left_behind(drilled: Path) -> None:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "flink-drill-" not in listed

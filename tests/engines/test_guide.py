"""An engine that is made by the guide, docs/contributing/importers.md, has all that other engines have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ftplan
from ftplan.api.collecting import collect, source_at
from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.collecting.polling import Pace
from tests.cli.in_process import environment
from tests.engines import toy
from tests.engines.collecting.server import FakeTime, served

SCHEDULE = {
    "format": "ftplan/plan",
    "format_version": "1.0",
    "kind": "recovery-schedule",
    "plan": {"steps": [{"at_s": 0, "recover": [{"operator": "count", "index": 1}, {"operator": "read", "index": 0}]}]},
}
#: ftplan with the row of the guide, as it begins in a process of its own.
SCRIPT = f"""
import sys
import ftplan.engines
ftplan.engines.__path__.append(sys.argv.pop(1))
{toy.row_text()}
from ftplan.engines import registry
registry.ENGINES = (*registry.ENGINES, row)
from ftplan.cli.main import main
sys.exit(main())
"""


@pytest.mark.usefixtures("toy_engine")
def test_a_saved_answer_becomes_a_topology_and_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps(toy.PAGE))
    made = ftplan.import_topology(tmp_path / "job.json", "toy")
    assert [(o["id"], o["parallelism"]) for o in made.topology["operators"]] == [("read", 2), ("count", 3)]
    assert [(e["from"], e["to"]) for e in made.topology["edges"]] == [("read", "count")]
    assert made.cluster is not None
    assert [node["id"] for node in made.cluster["nodes"]] == ["h1", "h2", "h3"]
    assert "RATES_UNKNOWN" in {warning.code for warning in made.assumptions}
    ftplan.load(topology=made.topology, cluster=made.cluster)


@pytest.mark.usefixtures("toy_engine")
def test_what_it_lacks_is_said_as_of_every_engine(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text('{"job": "orders", "steps": 3}')
    with pytest.raises(ftplan.FtplanError, match=r"job\.json: steps: expected a list"):
        ftplan.import_topology(tmp_path / "job.json", "toy")
    with pytest.raises(ftplan.FtplanError, match="--job: goes with flink and storm and kafka-streams, not with toy"):
        ftplan.import_topology(tmp_path / "job.json", "toy", job="orders")
    with pytest.raises(ftplan.FtplanError, match="--to toy takes a recovery-schedule, not a rebalance"):
        ftplan.export_plan({**SCHEDULE, "kind": "rebalance", "plan": {"moves": []}}, "toy")


@pytest.mark.usefixtures("toy_engine")
def test_its_endpoint_is_recognised_collected_and_imported(tmp_path: Path) -> None:
    with served({"/job": toy.PAGE}) as endpoint:
        assert source_at(endpoint.url, tmp_path / "kept", Connection()) == "toy"
        time = FakeTime()
        pace = Pace(60.0, 100.0, seconds=time.seconds, now=time.now, sleep=time.sleep)
        summary = collect(endpoint.url, tmp_path / "kept", "toy", pace)
        live = ftplan.import_topology(endpoint.url, "toy")
    assert summary.answers >= 2
    assert ftplan.import_topology(tmp_path / "kept", "toy").topology == live.topology


@pytest.mark.usefixtures("toy_engine")
def test_a_plan_is_written_for_it() -> None:
    export = ftplan.export_plan(SCHEDULE, "toy")
    assert export.text == "start count 1\nstart read 0\n"
    assert [warning.message for warning in export.warnings] == ["toy cannot be told on which node a task runs"]


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps(toy.PAGE))
    (tmp_path / "plan.json").write_text(json.dumps(SCHEDULE))
    engines = toy.write_folder(tmp_path / "engines")

    def run(*args: str) -> str:
        command = [sys.executable, "-c", SCRIPT, str(engines), *args]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "toy            what /job answers" in run("import-topology", "--help")
    assert '"orders"' in run("import-topology", "job.json", "--from", "toy", "--format", "json")
    assert run("export-plan", "plan.json", "--to", "toy") == "start count 1\nstart read 0\n"
    assert "toy-log" in run("compute-stats", "--help")

"""From the edits of a real day, with the tasks that took them, to a topology with measured streams."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import datetime
from pathlib import Path

import pytest

from ftplan.io.topology_file import load_topology
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.spark_stats.session import Session
from tests.cli.in_process import environment, run_here
from tests.model.measures.measured_cases import substreams_of
from tests.spark_stats.conftest import WIKITICKER, write_csv

pytestmark = pytest.mark.spark

EDITS = 3000


def test_a_log_with_tasks_becomes_a_weighed_topology(session: Session, tmp_path: Path) -> None:
    """Channels are hashed over four tasks, users over three; DuckDB counts who sent what to whom."""
    duckdb = pytest.importorskip("duckdb")
    rows = [["t", "op", "task", "sender", "up"]]
    with gzip.open(WIKITICKER, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number == EDITS:
                break
            edit = json.loads(line)
            channel, user = (zlib.crc32(edit[name].encode()) for name in ("channel", "user"))
            rows.append([edit["time"], "by-channel", channel % 4, "edits", number % 2])
            rows.append([edit["time"], "by-user", user % 3, "by-channel", channel % 4])
    write_csv(tmp_path / "log.csv", rows)

    def ftplan(*args: str) -> str:
        done = run_here(args, cwd=tmp_path, env=environment())
        assert done.returncode == 0, done.stderr
        return done.stderr

    ftplan(
        "compute-stats", "log.csv", "-o", "stats", "--time-column", "t", "--operator-column", "op", "--task-column",
        "task", "--upstream-operator-column", "sender", "--upstream-task-column", "up", "--window", "10m",
    )  # fmt: skip
    ftplan("init", "--stats", "stats", "-o", ".")
    assert "warning" not in ftplan("check", "topology.yaml", "cluster.yaml")
    job = load_topology(tmp_path / "topology.yaml").value
    manifest = json.loads((tmp_path / "stats" / "manifest.json").read_text())
    start, end = (datetime.fromisoformat(manifest[name]) for name in ("start", "end"))
    range_s = (end - start).total_seconds()
    log = f"read_csv('{tmp_path}/log.csv')"
    counted = duckdb.sql(f"select sender, up, op, task, count(*) from {log} group by all").fetchall()
    found = {
        (job.operators[source].id, i, job.operators[target].id, j): rate
        for (source, i, target, j), rate in substreams_of(job).items()
    }
    assert found == pytest.approx({tuple(row[:-1]): row[-1] / range_s for row in counted}, rel=1e-11)
    graph = TaskGraph(job)
    into = rates(graph).into[graph.slice_of(job.position["by-user"])]
    users = duckdb.sql(f"select count(*) from {log} where op = 'by-user' group by task order by task").fetchall()
    assert into / into.sum() == pytest.approx([n / EDITS for (n,) in users])
    plain = tmp_path / "plain.yaml"
    plain.write_text(
        'format: ftplan/topology\nformat_version: "1.0"\noperators:\n'
        "  - {id: edits, parallelism: 2}\n  - {id: by-channel, parallelism: 4}\n  - {id: by-user, parallelism: 3}\n"
        "edges:\n  - {from: edits, to: by-channel}\n  - {from: by-channel, to: by-user}\n"
    )
    values = []
    for inputs in (("-t", "topology.yaml"), ("-t", "plain.yaml", "-s", "stats")):
        ftplan("replicate-tasks", *inputs, "--budget", "5", "--algorithm", "exact", "-o", "plan.json", "--force")
        values.append(json.loads((tmp_path / "plan.json").read_text())["objective"]["value"])
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[0] > 0.0

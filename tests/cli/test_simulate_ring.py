"""``ftplan simulate ring``: what it shows, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.in_process import Run

PLAN = {
    "format": "ftplan/plan", "format_version": "1.0", "kind": "peer-ring",
    "plan": {"ring": [{"node": f"n{k}", "token": (k - 1) / 4} for k in range(1, 5)]},
}  # fmt: skip
INPUTS = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
SHORT = ("--interval", "2s", "--until", "12s", "--tick", "100ms", "--fail-at", "5s")


def test_a_plan_from_standard_input(ftplan: Run, project: Path) -> None:
    args, plan = ("simulate", "ring", "-", *INPUTS, *SHORT, "--fail", "node:n1", "--runs", "2", "-q"), json.dumps(PLAN)
    done = ftplan(*args, stdin=plan)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["kind"], document["runs"], document["nothing_lost"]) == ("ring", 2, True)
    assert [change["node"] for change in document["changes"]] == ["n2", "n2"]
    assert ftplan(*args, stdin=plan).stdout == done.stdout
    (project / "simulated.json").write_text(done.stdout)
    assert ftplan("check", "simulated.json").returncode == 0


def test_a_plot(ftplan: Run, project: Path) -> None:
    args = (
        "simulate", "ring", "--nodes", "3", "--rate", "60", *SHORT, "--fail", "node:n1", "--plot", "out.svg", "-q",
        "-o", "out.json",
    )  # fmt: skip
    done = ftplan(*args)
    assert (done.returncode, done.stdout) == (0, "")
    assert (project / "out.svg").read_bytes().startswith(b"<?xml")
    assert ftplan(*args).returncode == 2


def test_records_that_should_not_be_lost_end_with_1(ftplan: Run) -> None:
    args = ("simulate", "ring", "--nodes", "3", "--rate", "60", *SHORT, "--fail", "node:n1", "--skew", "1s")
    done = ftplan(*args, "--format", "table")
    assert done.returncode == 1
    assert "RECORDS LOST" in done.stdout
    assert "records are lost though a copy should have been left: reduce/0 and " in done.stderr
    assert "[CLOCKS_DIFFER]" in done.stderr


def test_the_folders_settings_reach_it(ftplan: Run, project: Path) -> None:
    (project / "ftplan.toml").write_text('[simulate]\nnodes = 5\nrate = 50\ninterval = "1s"\nuntil = "4s"\n')
    done = ftplan("simulate", "ring", "-q")
    assert len(json.loads(done.stdout)["nodes"]) == 5

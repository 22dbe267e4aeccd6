"""``ftplan simulate migration``: what it shows, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ftplan.simulation.migration.protocol import MigrationProtocol
from tests.cli.in_process import Run
from tests.planners.rebalance.cases import CLUSTER, TOPOLOGY, statistics
from tests.simulation.migration.plan_cases import MOVES, by_hand

INPUTS = ("-t", "topology.json", "-c", "cluster.json", "-s", "stats")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plan, stats = by_hand(*MOVES, phases=[0, 0, 1, 1]), statistics()
    for name, document in (("topology", TOPOLOGY), ("cluster", CLUSTER), ("plan", plan)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    (tmp_path / "stats").mkdir()
    (tmp_path / "stats" / "manifest.json").write_text(json.dumps(stats["manifest"]))
    stats["key_groups"].to_parquet(tmp_path / "stats" / "key_groups.parquet")
    return tmp_path


def test_moves_stand_beside_what_was_foretold(ftplan: Run, folder: Path) -> None:
    done = ftplan("simulate", "migration", "plan.json", *INPUTS, "--format", "table", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 run; every record counted once and in order" in done.stdout
    rows = {row.split()[1]: row.split() for row in done.stdout.splitlines() if "/" in row}
    assert [rows[name][4] for name in ("agg/0", "agg/1", "agg/2", "join/0")] == ["cpa", "cpal", "direct", "lazy"]
    for row in rows.values():
        assert float(row[6]) == pytest.approx(float(row[5]), rel=0.05, abs=0.05)


def test_a_plan_from_standard_input_over_runs(ftplan: Run, folder: Path) -> None:
    args = ("simulate", "migration", "-", *INPUTS, "--runs", "3", "--seed", "5", "-q")
    plan = (folder / "plan.json").read_text()
    done = ftplan(*args, cwd=folder, stdin=plan)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["messages"]["runs"] == 3
    assert document["seed"] == 5
    assert ftplan(*args, cwd=folder, stdin=plan).stdout == done.stdout
    (folder / "simulated.json").write_text(done.stdout)
    assert ftplan("check", "simulated.json", cwd=folder).returncode == 0
    shown = ftplan(*args, "--format", "table", cwd=folder, stdin=plan).stdout
    assert "3 runs: mean (5 … 95 %)" in shown


def test_what_is_not_exactly_once_ends_with_1(ftplan: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old node is told that no more data comes, and the new one gets none of what upstream instances keep."""
    monkeypatch.setattr(MigrationProtocol, "_send_buffer", lambda self, upstream, fast: upstream.send(
        "toState", self.new, self.setting.waiting(), fast=fast
    ))  # fmt: skip
    done = ftplan("simulate", "migration", "plan.json", *INPUTS, "--format", "table", "-q", cwd=folder)
    assert done.returncode == 1
    assert "NOT exactly once" in done.stdout
    assert "not in the state" in done.stdout or "out of order" in done.stdout
    assert "ftplan: not exactly once: " in done.stderr


def test_a_wrong_input_is_one_line(ftplan: Run, folder: Path) -> None:
    for args, said in (
        (("plan.json", "-t", "topology.json", "-c", "cluster.json"), "a rebalance needs stats"),
        (INPUTS, "PLAN is missing"),
        (("topology.json", *INPUTS), "expected a plan"),
        (("plan.json", *INPUTS, "--level", "records"), "records"),
    ):
        done = ftplan("simulate", "migration", *args, "-q", cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr

"""``ftplan simulate scaling``: what it shows, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ftplan.simulation.scaling.keyed_state import KeyedState
from ftplan.simulation.scaling.splits import StatefulSplit
from tests.cli.in_process import Run

PLAN = {
    "format": "ftplan/plan", "format_version": "1.0", "kind": "scale-out",
    "plan": {"operators": [{
        "operator": "sessions", "state": "prepared", "technique": "checkpoint", "parallelism_from": 4,
        "parallelism_to": 8, "key_ranges": [[k, k] for k in range(8)],
    }]},
}  # fmt: skip
SIMULATE = ("simulate", "scaling", "-", "-t", "topology.yaml", "-s", "stats-tasks", "-q")
SHORT = ("--setup", "5s", "--until", "60s", "--batch", "1s")


def test_a_plan_from_standard_input(ftplan: Run, project: Path) -> None:
    args, plan = (*SIMULATE, *SHORT, "--runs", "2", "--seed", "5"), json.dumps(PLAN)
    done = ftplan(*args, stdin=plan)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [mode["mode"] for mode in document["modes"]] == ["none", "planned"]
    assert (document["runs"], document["seed"]) == (2, 5)
    assert ftplan(*args, stdin=plan).stdout == done.stdout
    (project / "simulated.json").write_text(done.stdout)
    assert ftplan("check", "simulated.json").returncode == 0


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_plot(ftplan: Run, project: Path, ending: str) -> None:
    args = ("simulate", "scaling", "--until", "30s", "--batch", "1s", "--plot", f"out.{ending}", "-q", "-o", "out.json")
    done = ftplan(*args)
    assert (done.returncode, done.stdout) == (0, "")
    assert (project / f"out.{ending}").read_bytes().startswith(b"<?xml" if ending == "svg" else b"\x89PNG")
    assert ftplan(*args).returncode == 2


def test_what_is_not_exactly_once_ends_with_1(ftplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """New tasks get the checkpoint, and nothing of what came since."""
    forgets = lambda self, state: None  # noqa: E731
    monkeypatch.setattr(StatefulSplit, "replay", forgets)
    monkeypatch.setattr(KeyedState, "right", lambda self, expected: True)  # the order alone tells
    done = ftplan(*SIMULATE, *SHORT, "--format", "table", "--split-at", "20.5s", stdin=json.dumps(PLAN))
    assert done.returncode == 1
    assert "NOT exactly once" in done.stdout
    assert "out of order" in done.stdout
    assert "ftplan: not exactly once: planned: sessions: " in done.stderr

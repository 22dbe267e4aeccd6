"""Ctrl-C ends every recovery planner while it works, with exit code 130, long before its time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ftplan.planners.registry import rows

#: Runs ftplan, and interrupts itself some time after the planner has begun.
PROBE = """
import os, signal, sys, threading, time
from ftplan.planners import registry
real = registry.load

def load(row):
    planner = real(row)

    def begun(*given):
        def interrupt():
            print("begun", file=sys.stderr, flush=True)
            began.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(AFTER_S, interrupt).start()
        return planner(*given)

    return begun

began = []
registry.load = load
from ftplan.cli import main
run = main.run

def timed(args):
    code = run(args)
    print("took", time.monotonic() - began[0], file=sys.stderr, flush=True)
    return code

main.run = timed
main.main()
"""


def dense(folder: Path, queries: int, tasks: int, chance: float, seed: int = 1) -> list[str]:
    """Write a topology in which each query needs many tasks, nodes that arrive and a failure; return the options."""
    rng = np.random.default_rng(seed)
    needs = np.argwhere(rng.random((tasks, queries)) < chance).tolist()
    operators = [
        {"id": "s", "parallelism": tasks, "cpu": (rng.integers(100, 500, tasks) / 100.0).tolist(), "output": False},
        {"id": "q", "parallelism": queries, "cpu": 0.001, "priority": rng.integers(100, 500, queries).tolist()},
    ]
    edges = [{"from": "s", "to": "q", "substreams": [[task, query, 1.0] for task, query in needs]}]
    topology = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    (folder / "topology.json").write_text(json.dumps(topology))
    return ["-t", str(folder / "topology.json"), "--fail", "operator:s", "--capacity", f"{2.0 * tasks * 0.5}"]


@pytest.mark.parametrize(
    ("algorithm", "objective"),
    [
        *(
            pytest.param(row.name, "priority", marks=() if row.name == "exact" else pytest.mark.slow)
            for row in rows("recovery-schedule")
            if row.name != "operator-centric"
        ),
        pytest.param("operator-centric", "priority-time", marks=pytest.mark.slow),  # its order takes no time
        ("local-search", "priority-time"),
        pytest.param("exact", "fidelity-time", marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_ends_the_planner(tmp_path: Path, algorithm: str, objective: str) -> None:
    few = algorithm == "dynamic-programming"  # which never runs for long: it is interrupted as it begins
    given = dense(tmp_path, 30 if few else 400, 60 if few else 400, 0.1 if few else 0.2)
    probe = PROBE.replace("AFTER_S", "0.0" if few or algorithm == "operator-centric" else "1.0")
    command = ["recovery-schedule", *given, "--algorithm", algorithm, "--objective", objective]
    done = subprocess.run(
        [sys.executable, "-c", probe, *command, "--time-limit", "600s", "--no-progress"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "begun" in done.stderr, done.stderr
    assert done.returncode == 130, done.stderr
    assert "ftplan: interrupted" in done.stderr
    assert done.stdout == ""

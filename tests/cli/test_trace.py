"""``--trace``: what a search knew over time, as lines that get better only, and drawn in the report."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from ftplan import report
from ftplan.errors import FtplanError
from tests.cli.in_process import Run
from tests.places import ROOT

STORM = ROOT / "examples" / "storm-recovery"
ASKED = ["-t", str(STORM / "topology.yaml"), "-c", str(STORM / "cluster.yaml"), "-f", str(STORM / "failure.yaml")]


@pytest.mark.parametrize("objective", ["priority", "priority-time"])
def test_a_trace_gets_better_and_ends_with_what_the_plan_states(objective: str, tmp_path: Path, ftplan: Run) -> None:
    trace, plan = tmp_path / "trace.jsonl", tmp_path / "plan.json"
    asked = ["--objective", objective, "--iterations", "1", "--trace", str(trace), "-o", str(plan)]
    assert ftplan("recovery-schedule", *ASKED, *asked).returncode == 0
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    stated = json.loads(plan.read_text())["objective"]
    whole = [line for line in lines if line["search"] == stated["name"]]
    sign = 1.0 if stated["sense"] == "max" else -1.0
    for name, better in (("value", sign), ("bound", -sign)):
        known = [line[name] for line in whole if line[name] is not None]
        assert all(better * (after - before) >= -1e-6 * abs(before) for before, after in pairwise(known))
    assert (lines[-1]["value"], lines[-1]["bound"]) == (stated["value"], stated["bound"])
    page = report(str(plan), traces=[trace])
    assert "How the gap closed" in page


def test_a_trace_that_exists_is_not_overwritten(tmp_path: Path, ftplan: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("kept")
    done = ftplan("recovery-schedule", *ASKED, "--iterations", "1", "--trace", str(trace))
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert trace.read_text() == "kept"


@pytest.mark.parametrize("line", ["{}", "no JSON", '{"seconds": -1, "value": 1, "bound": 1, "by": "a", "search": "x"}'])
def test_what_is_no_trace_is_refused_with_its_line(line: str, tmp_path: Path, ftplan: Run) -> None:
    trace, plan = tmp_path / "trace.jsonl", tmp_path / "plan.json"
    assert ftplan("recovery-schedule", *ASKED, "--iterations", "0", "-o", str(plan)).returncode == 0
    trace.write_text(line + "\n")
    with pytest.raises(FtplanError, match=r"trace.jsonl, line 1: expected"):
        report(str(plan), traces=[trace])


def test_more_traces_than_plans_are_refused(tmp_path: Path, ftplan: Run) -> None:
    plan = tmp_path / "plan.json"
    assert ftplan("recovery-schedule", *ASKED, "--iterations", "0", "-o", str(plan)).returncode == 0
    with pytest.raises(FtplanError, match="2 traces for 1 plan"):
        report(str(plan), traces=["a", "b"])

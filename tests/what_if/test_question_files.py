"""The questions of examples/what_if: all can be answered, and two have the answers that are told there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ftplan.api.checking import check_files
from ftplan.what_if.case_file import load_cases
from tests.places import ROOT

CASES_AND_AXES = """
format: ftplan/what-if
format_version: "1.0"
inputs: {topology: topology.yaml, cluster: cluster.yaml}
run: {command: recovery-schedule, fail: zone:rack-a, options: {max-cpu: 0.9, objective: priority}}
measures: [objective, last-back-s, summary.after.priority_time]
cases:
  - {id: faster-network, set: {network: {bandwidth_mb_s: 100}}}
  - {id: no-rack-b, remove: zone:rack-b, fail: node:a1}
grid:
  - fail: [each zone, [node:a1, node:b1]]
  - add: {count: [0, 1, 2], node: {cpu: 4}, zones: all}
"""
EXAMPLES = ROOT / "examples" / "what_if"
FILES = sorted(EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_last_case(path: Path) -> None:
    checked, errors = check_files([path])
    assert not errors
    assert checked[0].warnings == ()
    sweep = load_cases(path)
    row = sweep.row(len(sweep) - 1)
    assert row["status"] in ("optimal", "feasible", "evaluated")
    assert any(row[name] is not None for name in sweep.measures)


def test_spare_nodes() -> None:
    """With three spares, and no fewer, all queries are back within five minutes whichever rack is lost."""
    sweep = load_cases(EXAMPLES / "spare-nodes.yaml")
    late: dict[int, bool] = {}
    for number in range(1, len(sweep)):
        spares = sweep.case(number).values["spares"]
        if spares in (2, 3):
            back_s = sweep.row(number)["last-back-s"]
            late[spares] = late.get(spares, False) or back_s is None or back_s > 300.0
    assert late == {2: True, 3: False}


def test_thousand_failures() -> None:
    sweep = load_cases(EXAMPLES / "thousand-failures.yaml")
    assert len(sweep) == 1001
    assert len({sweep.case(number).values["failed"] for number in range(1, 1001)}) > 500


def test_a_question_of_cases_and_axes(tmp_path: Path) -> None:
    """About a project like storm-recovery; each of its cases has an answer."""
    for name in ("topology.yaml", "cluster.yaml"):
        shutil.copy(EXAMPLES.parent / "storm-recovery" / name, tmp_path)
    (tmp_path / "what-if.yaml").write_text(CASES_AND_AXES)
    sweep = load_cases(tmp_path / "what-if.yaml")
    assert len(sweep) == 1 + 2 + 4 * 3
    for number in (0, 1, 2, len(sweep) - 1):
        assert sweep.row(number)["status"] in ("optimal", "feasible")

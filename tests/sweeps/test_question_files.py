"""The questions of examples/what_if: all can be answered, and two have the answers that are told there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ftplan.io.checking import check_files
from ftplan.sweeps.sweep import load_sweep

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "what_if"
FILES = sorted(EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_last_case(path: Path) -> None:
    checked, errors = check_files([path])
    assert not errors
    assert checked[0].warnings == ()
    sweep = load_sweep(path)
    row = sweep.row(len(sweep) - 1)
    assert row["status"] in ("optimal", "feasible", "evaluated")
    assert any(row[name] is not None for name in sweep.measures)


def test_spare_nodes() -> None:
    """With three spares, and no fewer, all queries are back within five minutes whichever rack is lost."""
    sweep = load_sweep(EXAMPLES / "spare-nodes.yaml")
    late: dict[int, bool] = {}
    for number in range(1, len(sweep)):
        spares = sweep.case(number).values["spares"]
        if spares in (2, 3):
            back_s = sweep.row(number)["last-back-s"]
            late[spares] = late.get(spares, False) or back_s is None or back_s > 300.0
    assert late == {2: True, 3: False}


def test_thousand_failures() -> None:
    sweep = load_sweep(EXAMPLES / "thousand-failures.yaml")
    assert len(sweep) == 1001
    assert len({sweep.case(number).values["failed"] for number in range(1, 1001)}) > 500


def test_the_file_that_the_page_of_the_command_shows(tmp_path: Path) -> None:
    """It is about a project like storm-recovery, and each of its cases has an answer."""
    text = (EXAMPLES.parents[1] / "docs" / "commands" / "what-if.md").read_text("utf-8")
    block = re.search(r"```yaml\n(inputs: .*?)```", text, flags=re.DOTALL)
    assert block is not None
    for name in ("topology.yaml", "cluster.yaml"):
        shutil.copy(EXAMPLES.parent / "storm-recovery" / name, tmp_path)
    envelope = 'format: ftplan/what-if\nformat_version: "1.0"\n'
    (tmp_path / "what-if.yaml").write_text(envelope + block[1])
    sweep = load_sweep(tmp_path / "what-if.yaml")
    assert len(sweep) == 1 + 2 + 4 * 3
    for number in (0, 1, 2, len(sweep) - 1):
        assert sweep.row(number)["status"] in ("optimal", "feasible")

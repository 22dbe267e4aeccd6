"""The script and the notebook of examples/what_if run from start to end."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from tests.cli.in_process import environment
from tests.places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "examples" / "what_if"


def test_the_script_prints_what_the_notebook_shows() -> None:
    done = subprocess.run(
        [sys.executable, "spare_nodes.py"], cwd=FOLDER, env=environment(PYTHONPATH=str(ROOT)), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("30 cases, 0 failed\n")
    shown = outputs(nbformat.read(FOLDER / "spare_nodes.ipynb", as_version=4))
    assert sum(table in done.stdout for table in shown) == 2


def outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what each cell that shows something shows, as text."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    return ["".join(out["data"]["text/plain"] for out in cell.outputs if "data" in out) for cell in cells]


def test_the_notebook_shows_what_it_was_saved_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    saved = nbformat.read(FOLDER / "spare_nodes.ipynb", as_version=4)
    notebook = nbformat.read(FOLDER / "spare_nodes.ipynb", as_version=4)
    NotebookClient(notebook, resources={"metadata": {"path": str(FOLDER)}}).execute()
    assert outputs(notebook) == outputs(saved)

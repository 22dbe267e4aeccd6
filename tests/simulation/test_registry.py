"""The table of simulations: every row's parts are in the files that are named for them."""

from __future__ import annotations

import pytest

from ftplan.cli.simulate import SUBCOMMANDS
from ftplan.simulation.document import SimulationModel
from ftplan.simulation.registry import BY_NAME, ROWS, SimulationRow
from tests.places import ROOT

#: What each folder has.
FILES = {"__init__", "options", "scene", "setting", "run", "simulate", "document", "view"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_simulation_is_its_folder_and_a_row(row: SimulationRow) -> None:
    folder = ROOT / row.folder.replace(".", "/")
    assert {path.stem for path in folder.glob("*.py")} >= FILES
    assert row.part("options:OPTIONS").__name__.endswith("Options")
    assert issubclass(row.part("document:MODEL"), SimulationModel)
    assert callable(row.part("simulate:simulate"))
    assert callable(row.part("view:tables"))
    assert not row.plot or callable(row.part("view:simulation_figure"))
    assert row.part("options:HELP").startswith("Simulate ")
    assert f'kind: Literal["{row.name}"]' in (folder / "document.py").read_text("utf-8")


def test_the_command_line_knows_all() -> None:
    assert list(SUBCOMMANDS) == sorted(BY_NAME)

"""Rows name functions that there are, and the folder of an engine knows no other engine."""

from __future__ import annotations

import ast
from pathlib import Path
from pkgutil import resolve_name

import pytest

from ftplan.engines.registry import ENGINES, Engine, importers, log_formats, targets
from tests.places import ROOT

FOLDER = ROOT / "ftplan" / "engines"


def functions(engine: Engine) -> list[str]:
    """Return what a row names."""
    found = [engine.importer.read] if engine.importer else []
    found += [engine.collector.poll] if engine.collector and engine.collector.poll else []
    found += [name for row in engine.logs for name in (row.read, row.find) if name]
    return found + [row.writer for row in engine.targets]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_row_names_functions_of_its_folder(engine: Engine) -> None:
    folder = engine.name.replace("-", "_")
    assert functions(engine) or engine.collector
    for name in functions(engine):
        assert name.startswith(f"ftplan.engines.{folder}.")
        assert callable(resolve_name(name))


def test_names_are_given_once() -> None:
    assert len(importers()) == sum(engine.importer is not None for engine in ENGINES)
    assert len(log_formats()) == sum(len(engine.logs) for engine in ENGINES)
    assert len(targets()) == sum(len(engine.targets) for engine in ENGINES) + 1  # and the plan as a table


def test_no_engine_imports_another() -> None:
    folders = {engine.name.replace("-", "_") for engine in ENGINES}
    assert folders <= {path.name for path in FOLDER.iterdir()}
    for path in sorted(FOLDER.rglob("*.py")):
        own = path.relative_to(FOLDER).parts[0]
        for module in imported(path):
            other = module.removeprefix("ftplan.engines.").partition(".")[0]
            assert other not in folders - {own}, f"{path.relative_to(ROOT)} imports {module}"


def imported(path: Path) -> list[str]:
    """Return the modules of engines that a file imports."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [name for name in names if name.startswith("ftplan.engines.")]

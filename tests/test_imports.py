"""What several tests use stands in files of its own, so that no file of tests is another's library."""

from __future__ import annotations

import ast

from tests.places import ROOT

HERE = ROOT / "tests"


def imported(source: str) -> list[str]:
    """Return the modules that a source text imports, and the names from them, with dots."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return names


def test_nothing_is_imported_from_a_file_of_tests() -> None:
    modules = {f"tests.{'.'.join(path.relative_to(HERE).with_suffix('').parts)}" for path in HERE.rglob("test_*.py")}
    taken = [
        f"{path.relative_to(HERE)}: {name}"
        for path in sorted(HERE.rglob("*.py"))
        for name in imported(path.read_text("utf-8"))
        if name in modules or name.rpartition(".")[0] in modules
    ]
    assert taken == []

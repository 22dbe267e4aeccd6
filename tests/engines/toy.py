"""The engine that the guide makes: its files and its row, taken from the page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ftplan.engines
from ftplan.engines import registry
from tests.docs.blocks import blocks
from tests.places import ROOT

GUIDE = ROOT / "docs" / "contributing" / "importers.md"
FOLDER = "ftplan/engines/toy/"
PAGE: dict[str, Any] = {
    "job": "orders",
    "steps": [
        {"name": "read", "hosts": ["h1", "h2"], "to": ["count"]},
        {"name": "count", "hosts": ["h2", "h3", "h3"], "to": []},
    ],
}


def write_folder(place: Path) -> Path:
    """Write the engine's folder as the guide has it, and return the folder that is to be on the path of engines."""
    (place / "toy").mkdir(parents=True)
    (place / "toy" / "__init__.py").write_text('"""Toy: one page, a log, a shell."""\n', "utf-8")
    for block in blocks(GUIDE.read_text("utf-8")):
        if block.title is not None:
            assert block.title.startswith(FOLDER)
            (place / "toy" / block.title.removeprefix(FOLDER)).write_text(block.text, "utf-8")
    return place


def row_text() -> str:
    """Return the code of the guide that makes the row, and calls it ``row``."""
    (text,) = (
        block.text for block in blocks(GUIDE.read_text("utf-8")) if block.language == "python" and not block.title
    )
    return text


def row() -> Any:
    """Return the row."""
    names: dict[str, Any] = {}
    exec(row_text(), names)
    return names["row"]


@contextmanager
def added(place: Path) -> Iterator[None]:
    """Have the engine in ftplan while the block runs."""
    path = [*ftplan.engines.__path__, str(write_folder(place))]
    with patch.object(ftplan.engines, "__path__", path), patch.object(registry, "ENGINES", (*registry.ENGINES, row())):
        yield
    for name in [name for name in sys.modules if name.startswith("ftplan.engines.toy")]:
        del sys.modules[name]
    vars(ftplan.engines).pop("toy", None)

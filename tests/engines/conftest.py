"""Fixtures of the tests of engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import toy


@pytest.fixture
def toy_engine(tmp_path: Path) -> Iterator[None]:
    """ftplan with the engine of the guide: its folder and its row, nothing else."""
    with toy.added(tmp_path / "engines"):
        yield

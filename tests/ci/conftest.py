"""Repositories in which plans are made, and a place for what runners keep beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.in_process import DATA
from tests.places import ROOT


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a job, its cluster and what may fail."""
    return Path(shutil.copytree(ROOT / "examples" / "storm-recovery", tmp_path / "repository"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with statistics, whose checkpoints are planned."""
    return Path(shutil.copytree(DATA, tmp_path / "project"))


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"

"""Wheel and sdist, built once, and one clean environment an interpreter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.install.places import OWN, Installed, install, interpreter, uv
from tests.places import ROOT


@pytest.fixture(scope="session", autouse=True)
def _tools(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["TOOLS_OF_TESTS"] = str(tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory, _tools: None) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--quiet", "--python", interpreter(OWN) or OWN, "--out-dir", folder, ROOT)
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installed]:
    """Return the environment of a Python such as 3.12, in which ftplan alone is installed; skip where there is none."""
    made: dict[str, Installed] = {}

    def of(version: str) -> Installed:
        python = interpreter(version)
        if python is None:
            pytest.skip(f"no Python {version} here")
        if version not in made:
            made[version] = install(tmp_path_factory.mktemp("environments") / version, python, str(wheel))
        return made[version]

    return of


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder that is not the project, with topology.yaml, cluster.yaml, stats/ and log.csv."""
    folder = tmp_path / "job"
    shutil.copytree(ROOT / "tests" / "data" / "small", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    rows = [f"2024-01-01T00:{i // 4:02d}:{15 * (i % 4):02d}Z,user-{i * i % 7}" for i in range(80)]
    (folder / "log.csv").write_text("\n".join(["time,user", *rows, ""]), "utf-8")
    return folder

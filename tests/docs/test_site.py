"""The site builds, strictly: no broken link, and every public name with what it does."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ftplan
from tests.docs.blocks import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_every_public_name_is_on_the_site(site: Path) -> None:
    page = (site / "python" / "index.html").read_text("utf-8")
    for name in ftplan.__all__:
        if not name.startswith("__"):
            assert inspect.getdoc(getattr(ftplan, name)), name
            assert f'id="ftplan.{name}"' in page, name

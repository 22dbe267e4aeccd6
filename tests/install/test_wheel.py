"""Wheel and sdist, installed for each Python of this machine, away from the project."""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from docs.generate.manual import installed_files
from ftplan import __version__
from tests.install.places import OWN, PYTHONS, Installed, interpreter, uv
from tests.places import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", PYTHONS)
def test_ftplan_plans_and_verifies(version: str, installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(version)
    assert here.run("ftplan", "--version", cwd=job).stdout == f"ftplan {__version__}\n"
    shown = here.run("python", "-P", "-m", "ftplan", "--help", cwd=job).stdout
    assert shown.startswith("Usage: ftplan")
    assert "recovery-schedule" in shown
    planned = here.run(
        "ftplan", "allocate-checkpoints", "-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats",
        "--algorithm", "even", "-o", "plan.json", cwd=job,
    )  # fmt: skip
    assert planned.returncode == 0, planned.stderr
    verified = here.run("ftplan", "verify", "plan.json", cwd=job)
    assert (verified.returncode, json.loads(verified.stdout)["valid"]) == (0, True), verified.stderr


def test_ftplan_runs_from_where_it_is_installed(installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(OWN)
    code = "import ftplan, ftplan.cli.main as m; print(ftplan.__file__); print(m.__file__)"
    for line in here.run("python", "-c", code, cwd=job).stdout.splitlines():
        assert line.startswith(str(here.folder))


def test_ftplan_alone_recovers_evaluates_and_explains(installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(OWN)
    files = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
    plan = ("--fail", "node:n1", "--algorithm", "exact", "--iterations", "20", "-o", "order.json")
    for words in (
        ("recovery-schedule", *files, *plan),
        ("evaluate", "order.json"),
        ("verify", "order.json"),
        ("export-plan", "order.json", "--to", "csv"),
        ("import-topology", str(ROOT / "examples" / "storm-recovery" / "TopologyName00034.json"), "--from", "storm"),
        ("algorithms",),
        ("schema", "plan"),
    ):
        done = here.run("ftplan", *words, cwd=job)
        assert done.returncode == 0, (words, done.stderr)


def test_the_python_face_works(installed: Callable[[str], Installed], job: Path) -> None:
    code = (
        "import ftplan; problem = ftplan.load(topology='topology.yaml', cluster='cluster.yaml', stats='stats'); "
        "print(ftplan.plan('allocate-checkpoints', problem, algorithm='even').kind)"
    )
    done = installed(OWN).run("python", "-c", code, cwd=job)
    assert (done.returncode, done.stdout) == (0, "allocate-checkpoints\n"), done.stderr


def test_nothing_is_compiled_to_install_it(wheel: Path) -> None:
    """Everything that ftplan alone needs has wheels (``--only-binary :all:``), and its own is for any machine."""
    assert wheel.name == f"ftplan-{__version__}-py3-none-any.whl"


def test_wheel_holds_what_the_package_needs(wheel: Path) -> None:
    held = zipfile.ZipFile(wheel)
    names = set(held.namelist())
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "ftplan").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    data = f"ftplan-{__version__}.data/data/share/"
    share = {name.removeprefix(data): held.read(name).decode() for name in names if name.startswith(data)}
    assert {name for name in names if name.startswith("ftplan/")} == package
    assert share == installed_files()
    assert not [name for name in names if not name.startswith(("ftplan/", f"ftplan-{__version__}."))]


def test_sdist_holds_the_project_and_nothing_else(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "mkdocs.yml", "Makefile"} <= inside
    assert {
        "ftplan/__init__.py",
        "tests/conftest.py",
        "docs/index.md",
        "docs/generate/manual.py",
        "hatch_build.py",
    } <= inside
    assert not [name for name in inside if "__pycache__" in name or name.startswith((".venv", "site/"))]


def test_sdist_and_project_build_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    uv("build", "--quiet", "--wheel", "--python", interpreter(OWN) or OWN, "--out-dir", tmp_path, ROOT)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()

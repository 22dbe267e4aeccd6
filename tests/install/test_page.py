"""Every line of the documentation that installs ftplan, with the wheel of this project in the place of its name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from ftplan import __version__
from tests.docs.blocks import blocks, pages, steps
from tests.install.places import OWN, Installed, install, interpreter, uv
from tests.places import ROOT

pytestmark = pytest.mark.slow

LINES = sorted(
    {
        step.command
        for page in pages()
        for block in blocks(page.read_text("utf-8"))
        if block.language == "console"
        for step in steps(block.text)
        if re.match(r"(pip|pipx|uv|uvx|git clone) ", step.command)
    }
)
PYTHON = interpreter(OWN) or OWN


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with all that ``ftplan[all]`` needs, and pip, which lines of the page install into."""
    here = install(tmp_path_factory.mktemp("page") / "environment", PYTHON, str(wheel))
    for what in (f"{wheel}[all]", "pip", "hatchling"):
        uv("pip", "install", "--quiet", "--python", here.python, what)
    return here


def with_wheel(word: str, wheel: Path) -> str:
    """Return a word of a line with the wheel where it names ftplan, or the project where it names the clone."""
    found = re.fullmatch(r"(ftplan|\.)(\[[a-z,]+\])?", word)
    return word if found is None else f"{wheel if found[1] == 'ftplan' else ROOT}{found[2] or ''}"


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("pip ")])
def test_pip_installs_it(line: str, clean: Installed, wheel: Path, tmp_path: Path) -> None:
    """What it needs is there already, so that pip asks no index; that all of it is to be had, other tests show."""
    _, verb, *words = [with_wheel(word, wheel) for word in shlex.split(line)]
    (tmp_path / "wheels").mkdir()
    shutil.copy(wheel, tmp_path / "wheels")
    words = ["--no-deps", *words] if verb == "wheel" else ["--no-build-isolation", *words]
    done = clean.run("python", "-m", "pip", verb, "--no-index", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert clean.run("ftplan", "--version", cwd=tmp_path).stdout == f"ftplan {__version__}\n"
    if verb == "wheel":
        assert [path.name for path in (tmp_path / "wheels").iterdir()] == [wheel.name]


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith(("pipx ", "uv "))])
def test_tools_install_it(line: str, wheel: Path, tmp_path: Path) -> None:
    places = {
        "UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
        "PIPX_DEFAULT_BACKEND": "uv", "PIPX_DEFAULT_PYTHON": PYTHON, "UV_PYTHON": PYTHON,
    }  # fmt: skip
    tool, *words = shlex.split(line)
    start = ("tool", "run", "pipx") if tool == "pipx" else ()
    if "upgrade" in words:
        uv(*start, *words[: words.index("upgrade")], "install", str(wheel), **places)
        uv(*start, *words, **places)
    else:
        uv(*start, *(with_wheel(word, wheel) for word in words), **places)
    shown = subprocess.run(
        [tmp_path / "bin" / "ftplan", "--version"], capture_output=True, text=True, env={}, check=True
    )
    assert shown.stdout == f"ftplan {__version__}\n"


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("uvx ")])
def test_uvx_runs_it(line: str, wheel: Path) -> None:
    words = shlex.split(line)[1:]
    if words[0] == "--from":
        words[1] = with_wheel(words[1], wheel)
    else:
        words = ["--from", str(wheel), *words]
    done = uv("tool", "run", "--python", PYTHON, *words)
    assert "ftplan" in done.stdout


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("git clone ")])
def test_a_clone_has_what_builds_the_wheel(line: str, wheel: Path) -> None:
    """Files that git does not know would be missing in a clone."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    clone, then, folder = line.partition(" && cd ")
    assert clone == "git clone https://github.com/ftplan/ftplan"
    assert not then or folder == "ftplan"
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    built = zipfile.ZipFile(wheel).namelist()
    assert {name for name in built if name.startswith("ftplan/")} == {
        name for name in known if name.startswith("ftplan/")
    }
    assert {"hatch_build.py", "docs/generate/manual.py"} <= set(known), "what makes the man pages"

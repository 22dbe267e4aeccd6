"""The other ways to install it, and what an installation brings beside the program: man pages and completions."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ftplan import __version__
from tests.install.places import OWN, Installed, interpreter, tools, uv
from tests.install.terminal import SHOW, shown, typed

pytestmark = pytest.mark.slow

needs = {
    name: pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not here")
    for name in ("bash", "zsh", "fish", "man")
}


def version_of(program: Path) -> str:
    """Return what a program that was installed says of itself, without any path."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=True).stdout


def test_uv_tool_installs_it(wheel: Path, tmp_path: Path) -> None:
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv("tool", "install", "--python", interpreter(OWN) or OWN, str(wheel), **places)
    assert version_of(tmp_path / "bin" / "ftplan") == f"ftplan {__version__}\n"
    assert (tmp_path / "tools" / "ftplan" / "share" / "man" / "man1" / "ftplan.1").is_file()


def test_uvx_runs_it_without_installing(wheel: Path) -> None:
    done = uv("tool", "run", "--python", interpreter(OWN) or OWN, "--from", str(wheel), "ftplan", "--version")
    assert done.stdout == f"ftplan {__version__}\n"


def test_pipx_installs_it_with_its_man_pages(wheel: Path, tmp_path: Path) -> None:
    places = {
        "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"), "PIPX_COMPLETION_DIR": str(tmp_path / "completions"),
    }  # fmt: skip
    python = interpreter(OWN) or OWN
    uv(
        "tool",
        "run",
        "--python",
        python,
        "pipx",
        "install",
        "--backend",
        "uv",
        "--python",
        python,
        str(wheel),
        **places,
    )
    assert version_of(tmp_path / "bin" / "ftplan") == f"ftplan {__version__}\n"
    assert (tmp_path / "man" / "man1" / "ftplan-recovery-schedule.1").is_file()


@needs["man"]
@pytest.mark.parametrize("way", ["beside the path", "MANPATH"])
def test_man_finds_the_pages(way: str, installed: Callable[[str], Installed]) -> None:
    """``man`` looks beside each ``bin`` of the path, and with the line of the page in the folder of ``uv tool``."""
    share = installed(OWN).folder / "share" / "man"
    first = f"{installed(OWN).folder / 'bin'}:" if way == "beside the path" else ""
    more = {} if first else {"MANPATH": f"{share}:"}
    done = subprocess.run(
        ["man", "ftplan-recovery-schedule"],
        env={"PATH": f"{first}/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100", **more},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Plan which failed tasks come back first, where and when" in done.stdout, done.stderr


LINES = (f"ftplan rec\t{SHOW}", f"ftplan recovery-schedule --alg\t{SHOW}", f"ftplan check topo\t{SHOW}")
BECOME = ("ftplan recovery-schedule", "ftplan recovery-schedule --algorithm", "ftplan check topology.yaml")


def assert_completes(shell: list[str], setting: str, here: Installed, job: Path) -> None:
    """Hold a shell to completing a command, an option and the name of a file; *setting* is typed before."""
    path = os.pathsep.join((str(here.folder / "bin"), str(tools()), "/usr/bin", "/bin"))
    env = {"PATH": path, "HOME": str(job), "LC_ALL": "C.UTF-8", "PS1": "$ ", "COLUMNS": "200"}
    screen = typed(shell, [f"{setting}\r", *LINES], env, job)
    assert shown(screen) == list(BECOME), screen


#: By the file that is installed, and by the line of the page, which does however it was installed.
WAYS = ("file", "line")


@needs["bash"]
@pytest.mark.parametrize("way", WAYS)
def test_bash_completes(way: str, installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(OWN)
    script = here.folder / "share" / "bash-completion" / "completions" / "ftplan"
    setting = f"source {script}" if way == "file" else 'eval "$(_FTPLAN_COMPLETE=bash_source ftplan)"'
    assert_completes(["bash", "--norc", "--noprofile", "-i"], setting, here, job)


@needs["zsh"]
@pytest.mark.parametrize("way", WAYS)
def test_zsh_completes(way: str, installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(OWN)
    functions = here.folder / "share" / "zsh" / "site-functions"
    first = f"fpath=({functions} $fpath); " if way == "file" else ""
    last = "" if way == "file" else '; eval "$(_FTPLAN_COMPLETE=zsh_source ftplan)"'
    assert_completes(["zsh", "-f", "-i"], f"bindkey -e; {first}autoload -Uz compinit; compinit -u -D{last}", here, job)


@needs["fish"]
@pytest.mark.parametrize("way", WAYS)
def test_fish_completes(way: str, installed: Callable[[str], Installed], job: Path) -> None:
    here = installed(OWN)
    script = here.folder / "share" / "fish" / "vendor_completions.d" / "ftplan.fish"
    setting = f"source {script}" if way == "file" else "_FTPLAN_COMPLETE=fish_source ftplan | source"
    path = os.pathsep.join((str(here.folder / "bin"), str(tools()), "/usr/bin", "/bin"))
    for begun, whole in (("ftplan rec", "recovery-schedule"), ("ftplan check topo", "topology.yaml")):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"{setting}; complete -C '{begun}'"],
            env={"PATH": path, "HOME": str(job)}, cwd=job, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert whole in done.stdout.split(), done.stdout + done.stderr

"""Interpreters of this machine, and clean environments in which the wheel is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PYTHONS = ("3.11", "3.12", "3.13")
#: The interpreter that gets all cases: the one of the tests.
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
UV = Path(sys.executable).with_name("uv")

Done = subprocess.CompletedProcess[str]


#: What uv says where the index does not answer.
SILENT = re.compile(r"dns error|timed out|error sending request|client error \(Connect\)")
_silent: list[str] = []


def uv(*words: str | Path, online: bool = True, **more: str) -> Done:
    """Run uv from its cache alone, and with the package index where that does not do; fail in a line of its own.

    No interpreter is downloaded, no compiler is on the path, and nothing is built but what *words* allow. An index
    that was silent once is not asked again.
    """
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("FTPLAN_", "PYTHON", "VIRTUAL_ENV"))},
        "PATH": str(tools()), "UV_PYTHON_DOWNLOADS": "never", "UV_HTTP_TIMEOUT": "20", "UV_HTTP_RETRIES": "2",
        "NO_COLOR": "1", **more,
    }  # fmt: skip
    for offline in ("1", "0") if online and not _silent else ("1",):
        done = subprocess.run(
            [UV, *words], env={**env, "UV_OFFLINE": offline}, cwd=tools(), capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done
    said = " ".join(done.stderr.split())[-400:]
    if SILENT.search(said):
        _silent.append(said)
    why = "the package index cannot be reached" if _silent else "the package index says no"
    pytest.fail(f"uv {words[0]} {words[1]}: {why}: {_silent[0] if _silent else said}", pytrace=False)


def tools() -> Path:
    """Return a folder with what an installation may call: no compiler and no Java is among it."""
    folder = Path(os.environ["TOOLS_OF_TESTS"])
    for name in ("sh", "bash", "env", "uname", "cat", "ls", "mkdir", "dirname", "realpath"):
        found = shutil.which(name)
        if found and not (folder / name).exists():
            (folder / name).symlink_to(found)
    if not (folder / "uv").exists():  # for pipx
        (folder / "uv").symlink_to(UV)
    return folder


def interpreter(version: str) -> str | None:
    """Return a Python of a version such as 3.12 that really runs, None where there is none."""
    for candidate in _candidates(version):
        code = "import sys; print('%d.%d' % sys.version_info[:2], end='')"
        try:
            done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.stdout == version:
            return candidate
    return None


def _candidates(version: str) -> Iterator[str]:
    if version == OWN:
        yield sys.executable
    found = shutil.which(f"python{version}")
    if found:
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from (str(path / "bin" / "python") for path in sorted(pyenv.glob(f"{version}.*")))
    managed = subprocess.run(
        [UV, "python", "find", "--no-python-downloads", "--managed-python", version],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    yield from managed.stdout.split()


@dataclass(frozen=True)
class Installed:
    """A clean environment with ftplan in it."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, *words: str, cwd: Path, path: Sequence[Path] = (), **more: str) -> Done:
        """Run a program of the environment in *cwd*; it sees no project, no settings, no Java, no compiler."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return subprocess.run(
            [self.folder / "bin" / words[0], *words[1:]], cwd=cwd, stdin=subprocess.DEVNULL,
            env={"PATH": os.pathsep.join(map(str, (self.folder / "bin", *path))), "HOME": str(home), **more},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def packages(self) -> dict[str, str]:
        """Return the names of what is installed, each with its version."""
        listed = uv("pip", "freeze", "--python", self.python, online=False).stdout
        return dict(re.findall(r"^([\w.-]+)(?: @ |==)(.+)$", listed, flags=re.MULTILINE))


def install(folder: Path, python: str, what: str, *options: str) -> Installed:
    """Make a clean environment in *folder* and install *what* in it."""
    uv("venv", "--quiet", "--python", python, folder, online=False)
    uv("pip", "install", "--quiet", "--only-binary", ":all:", "--python", folder / "bin" / "python", *options, what)
    return Installed(folder)

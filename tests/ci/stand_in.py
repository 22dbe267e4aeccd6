"""What stands in for a runner's Python: it makes no environment, installs nothing, and notes what it was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.in_process import environment

_PYTHON = """#!/bin/bash
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip") printf '%s\\n' "${@:3}" >> "$PIP_CALLS" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
"""


def commands_in(temporary: Path) -> Path:
    """Return a folder of commands with that Python in it."""
    folder = temporary / "commands"
    folder.mkdir(exist_ok=True)
    (folder / "python").write_text(_PYTHON, "utf-8")
    (folder / "python").chmod(0o755)
    return folder


def variables(temporary: Path, **more: str) -> dict[str, str]:
    """Return the environment of a script."""
    return environment(PIP_CALLS=str(temporary / "pip"), REAL_PYTHON=sys.executable, **more)


def installed(temporary: Path) -> str:
    """Return what was installed last."""
    return (temporary / "pip").read_text("utf-8").splitlines()[-1]

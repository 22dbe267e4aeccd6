"""What the programs that read files of this repository have against one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def held_to(schema: str, file: Path) -> str:
    """Return what is wrong with a file."""
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode else ""

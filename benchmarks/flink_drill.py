"""Predicted beside measured recoveries of a real Flink job whose task managers are killed, as a table.

Run: ``python benchmarks/flink_drill.py [--kills N] [--intervals S,S] [--shares X,X]``, with FLINK_PYTHON naming the
Python of an environment that has apache-flink; `make test-flink` makes one, which is taken otherwise. Takes a quarter
of an hour.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    python = Path(os.environ.get("FLINK_PYTHON", ROOT / ".venv-flink" / "bin" / "python"))
    if not python.exists():
        sys.exit(f"{python}: no environment with apache-flink: make test-flink makes one, or set FLINK_PYTHON")
    drill = ROOT / "examples" / "flink" / "drill.py"
    with tempfile.TemporaryDirectory(prefix="flink-drill-files-") as folder:
        command = [sys.executable, str(drill), "--python", str(python), "-o", folder, *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()

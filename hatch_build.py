"""What the build of a wheel adds to the package: man pages and completions, which the command line describes itself.

hatchling calls this; ``python -m docs.generate.manual FOLDER`` writes the same files for whoever wants to see them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualHook(BuildHookInterface):
    """Man pages and completions below ``share/`` of the prefix of an installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write them where the wheel takes them from, in a process that leaves nothing in this one or the project."""
        self._folder = tempfile.TemporaryDirectory()
        subprocess.run(
            [sys.executable, "-B", "-m", "docs.generate.manual", self._folder.name], cwd=self.root, check=True
        )
        build_data["shared_data"][self._folder.name] = "share"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        self._folder.cleanup()

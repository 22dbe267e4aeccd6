"""The answer of simulated migrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ftplan
from ftplan.api.migrating.options import MigrationSimulationOptions
from ftplan.model.plan import FORMAT_VERSION, InputFile, Warn, canonical_json

FORMAT, KIND = "ftplan/simulation", "migration"


@dataclass(frozen=True, eq=False)
class MigrationSimulation:
    """What came out of simulated migrations.

    Attributes
    ----------
    body
        What the document holds under the name of the level.
    unmet
        Why the command ends with exit code 1; None where it does not.
    """

    options: MigrationSimulationOptions
    body: Mapping[str, Any]
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]
    unmet: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the document, format ``ftplan/simulation``."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": KIND,
            "tool_version": ftplan.__version__,
            "inputs": [item.to_dict() for item in self.inputs],
            "options": self.options.recorded(),
            "seed": self.options.seed,
            "level": self.options.level,
            self.options.level: self.body,
            "warnings": [item.to_dict() for item in self.warnings],
        }

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())

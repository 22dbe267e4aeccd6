"""The answer of simulated migrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.model.plan import InputFile, Warn, canonical_json
from ftplan.simulation.answer import Document, simulation_document
from ftplan.simulation.migration.options import MigrationSimulationOptions


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

    def to_dict(self) -> Document:
        """Return the document, format ``ftplan/simulation``."""
        contents = {"level": self.options.level, self.options.level: self.body}
        return simulation_document(self, "migration", contents)

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())

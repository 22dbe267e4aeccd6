"""What the documents of all simulations say beside what came out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from ftplan.model.plan import FORMAT_VERSION, InputFile, Warn
from ftplan.version import __version__

FORMAT = "ftplan/simulation"

Document = dict[str, Any]


class AskedOptions(Protocol):
    """Options of a simulation."""

    @property
    def seed(self) -> int:
        """Seed of all random choices."""

    def recorded(self) -> Document:
        """Return the other options, as an answer keeps them."""


class SimulationAnswer(Protocol):
    """What came out of a simulation."""

    @property
    def options(self) -> AskedOptions:
        """What was asked for."""

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """What it was simulated from."""

    @property
    def warnings(self) -> tuple[Warn, ...]:
        """What deserves a second look."""


def simulation_document(
    answer: SimulationAnswer, kind: str, contents: Mapping[str, Any], files: Mapping[str, Any] = MappingProxyType({})
) -> Document:
    """Return a document of format ``ftplan/simulation``.

    Parameters
    ----------
    kind
        What was simulated.
    contents
        What came out, as documents of the kind have it.
    files
        Options that take a file, where they are recorded in another way than they were given.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "tool_version": __version__,
        "inputs": [item.to_dict() for item in answer.inputs],
        "options": {**answer.options.recorded(), **files},
        "seed": answer.options.seed,
        **contents,
        "warnings": [item.to_dict() for item in answer.warnings],
    }

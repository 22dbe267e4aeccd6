"""What all documents of format ``ftplan/simulation`` have in common, and how one of any kind is read."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Literal

from pydantic import Field

from ftplan.errors import FtplanError
from ftplan.io.documents import Source, read_document, refuse_not_finite
from ftplan.io.fields import FileModel, Rows, Version
from ftplan.io.plan_file import InputFileModel, WarnModel
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, unknown, validate
from ftplan.model.plan import InputFile
from ftplan.simulation.registry import KINDS

FORMAT = "ftplan/simulation"


class SimulationModel(FileModel):
    """What was simulated, and what came out."""

    format: Literal["ftplan/simulation"]
    format_version: Version
    kind: str = Field(description="What was simulated", json_schema_extra={"enum": [*sorted(KINDS)]})
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    inputs: list[InputFileModel] | None = Field(None, description="What it was simulated from")
    options: dict[str, Any] | None = Field(None, description="Options of the simulation")
    seed: Rows | None = Field(None, description="Seed of all random choices")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")


def load_simulation(source: Source) -> Loaded[Mapping[str, Any]]:
    """Read and check a simulation from a path, standard input (``-``) or a mapping; the value is the document.

    Raises
    ------
    FtplanError
        If it cannot be read or is not one.
    """
    document = read_document(source, "simulation")
    value = check_envelope(document, FORMAT)
    refuse_not_finite(value, document.name)
    kind = validate(SimulationModel, value, document.name).kind
    if kind not in KINDS:
        raise FtplanError(f"{document.name}: kind: {unknown('kind of simulation', kind, KINDS)()}")
    model = resolve_name(KINDS[kind])
    validate(model, value, document.name)
    warnings, ignored = ignored_keys(model, value, document.name)
    return Loaded(value, InputFile("simulation", document.path, document.sha256), warnings, ignored)

"""What all documents of format ``ftplan/simulation`` share: their frame, figures over runs, and how one is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ftplan.errors import FtplanError
from ftplan.io.documents import Source, read_document, refuse_not_finite
from ftplan.io.fields import FileModel, Finite, Rows, Version
from ftplan.io.plan_file import InputFileModel, WarnModel
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, unknown, validate
from ftplan.model.plan import InputFile
from ftplan.simulation.registry import BY_NAME, FORMAT


class SimulationModel(FileModel):
    """What was simulated, and what came out."""

    format: Literal["ftplan/simulation"]
    format_version: Version
    kind: str = Field(description="What was simulated", json_schema_extra={"enum": [*sorted(BY_NAME)]})
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    inputs: list[InputFileModel] | None = Field(None, description="What it was simulated from")
    options: dict[str, Any] | None = Field(None, description="Options of the simulation")
    seed: Rows | None = Field(None, description="Seed of all random choices")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")


class SimulatedFigureModel(FileModel):
    """A figure over the runs in which it is known."""

    mean: Finite = Field(description="Mean")
    low: Finite | None = Field(description="Lower confidence limit of the mean, 95 %; null in one run")
    high: Finite | None = Field(description="Upper confidence limit of the mean, 95 %; null in one run")
    p5: Finite = Field(description="Quantile 0.05")
    p50: Finite = Field(description="Median")
    p95: Finite = Field(description="Quantile 0.95")
    runs: Rows = Field(description="Runs in which it is known")


def load_simulation(source: Source) -> Loaded[Mapping[str, Any]]:
    """Read and check a simulation from a path, standard input (``-``) or a mapping; the value is the document.

    Raises FtplanError if it cannot be read or is not one.
    """
    document = read_document(source, "simulation")
    value = check_envelope(document, FORMAT)
    refuse_not_finite(value, document.name)
    kind = validate(SimulationModel, value, document.name).kind
    if kind not in BY_NAME:
        raise FtplanError(f"{document.name}: kind: {unknown('kind of simulation', kind, BY_NAME)()}")
    model = BY_NAME[kind].part("document:MODEL")
    validate(model, value, document.name)
    warnings, ignored = ignored_keys(model, value, document.name)
    return Loaded(value, InputFile("simulation", document.path, document.sha256), warnings, ignored)

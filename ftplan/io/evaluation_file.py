"""Evaluation documents: what a plan scores under failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ftplan.io.documents import Source, read_document, refuse_not_finite
from ftplan.io.failure_file import SelectorText
from ftplan.io.fields import FileModel, Finite, Sense, Version
from ftplan.io.plan_file import InputFileModel, WarnModel
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile, Kind

FORMAT = "ftplan/evaluation"


class MetricModel(FileModel):
    """The value of one metric."""

    name: str = Field(description="As in `ftplan algorithms --metrics`")
    value: Finite | None = Field(description="null where the metric is undefined")
    sense: Sense = Field(description="Whether less or more is better")
    unit: str | None = Field(None, description="Unit of the value")


class EvaluationModel(FileModel):
    """Scores of a plan under failures."""

    format: Literal["ftplan/evaluation"]
    format_version: Version
    kind: Kind = Field(description="Kind of the plan")
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    inputs: list[InputFileModel] | None = Field(None, description="The plan and what it was scored on")
    failures: list[SelectorText] | None = Field(None, description="What failed, as selectors")
    metrics: list[MetricModel] = Field(description="The scores")
    unmet: list[str] | None = Field(None, description="Limits of --fail-under that are not met")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")


def load_evaluation(source: Source, name: str | None = None) -> Loaded[Mapping[str, Any]]:
    """Read and check an evaluation from a path, standard input (``-``) or a mapping; the value is the document.

    Raises
    ------
    FtplanError
        One sentence with file, place, what is wrong and what would be right.
    """
    document = read_document(source, "evaluation", name)
    value = check_envelope(document, FORMAT)
    refuse_not_finite(value, document.name)
    validate(EvaluationModel, value, document.name)
    warnings, ignored = ignored_keys(EvaluationModel, value, document.name)
    return Loaded(value, InputFile("evaluation", document.path, document.sha256), warnings, ignored)

"""Results of what-if files: a row a case, and what the rows say together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ftplan.io.documents import Source
from ftplan.io.fields import FileModel, Finite, Rows, Sense, Version
from ftplan.io.plan_file import AssumptionModel, Kind, WarnModel
from ftplan.io.validation import Loaded, load_document

FORMAT = "ftplan/what-if-result"

Cell = Finite | int | bool | str | None


class ColumnModel(FileModel):
    """A column of the rows."""

    name: str = Field(description="The key in each row")
    type: Literal["text", "number", "whole", "flag"] = Field(description="What its values are, where they are not null")
    sense: Sense | None = Field(None, description="Whether less or more is better; null where neither is")
    unit: str | None = Field(None, description="Unit of the values")


class ExtremeModel(FileModel):
    """A case and its value."""

    case: str = Field(description="Id of the case")
    value: Finite = Field(description="Value of the first measure")


class QuantilesModel(FileModel):
    """How the values of a measure are spread over the cases."""

    measure: str = Field(description="Its column")
    values: Rows = Field(description="How many cases have a value; the figures are null where none has")
    min: Finite | None = Field(description="Least value")
    p10: Finite | None = Field(description="10th percentile, linear between values like all of these")
    p25: Finite | None = Field(description="25th percentile")
    median: Finite | None = Field(description="Half of the values are less")
    p75: Finite | None = Field(description="75th percentile")
    p90: Finite | None = Field(description="90th percentile")
    max: Finite | None = Field(description="Greatest value")
    mean: Finite | None = Field(description="Mean value")


class FrontCaseModel(FileModel):
    """A case that none beats in one measure without losing in the other."""

    case: str = Field(description="Id of the case")
    values: list[Finite] = Field(description="Its values of the two measures", min_length=2, max_length=2)


class ParetoModel(FileModel):
    """The Pareto front of two measures."""

    measures: list[str] = Field(description="Their columns", min_length=2, max_length=2)
    cases: list[FrontCaseModel] = Field(description="The best in the first measure first")


class SummaryModel(FileModel):
    """What the rows say together, without the base where there are others."""

    cases: Rows = Field(description="Number of cases, with the base")
    statuses: dict[str, Rows] = Field(description="How many rows have each status")
    failed: Rows = Field(description="How many cases failed")
    measure: str | None = Field(description="The measure of best and worst: the first one")
    best: ExtremeModel | None = Field(description="The first of the best cases; null where neither way is better")
    worst: ExtremeModel | None = Field(description="The first of the worst cases; null where neither way is better")
    quantiles: list[QuantilesModel] = Field(description="One entry for each measure that is a number")
    pareto: ParetoModel | None = Field(description="As --pareto asks")


class CaseWarnModel(WarnModel):
    """A warning of the what-if file, or one that answers of cases have."""

    cases: Rows | None = Field(None, description="How many rows have it; null for the what-if file")


class CaseAssumptionModel(AssumptionModel):
    """An assumption of cases, with what the first of them says."""

    cases: int = Field(description="How many cases have it")


class WhatIfResultModel(FileModel):
    """The result of a what-if file."""

    format: Literal["ftplan/what-if-result"]
    format_version: Version
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    name: str = Field(description="Name of the what-if file")
    command: str = Field(description="What was run on each case: the command of a kind of plan, or evaluate")
    kind: Kind = Field(description="Kind of plan that was made or evaluated")
    fingerprint: str | None = Field(None, description="Hash over the what-if file and its inputs")
    base: str = Field(description="Id of the case that changes nothing")
    measures: list[str] = Field(description="Columns of what was measured; delta_NAME is the difference from the base")
    swept: list[str] = Field(description="Columns of what was changed")
    columns: list[ColumnModel] = Field(description="The columns of the rows, in order")
    rows: list[dict[str, Cell]] = Field(description="One entry for each case that was done, the base first")
    missing: list[str] | None = Field(None, description="Ids of the cases that the time limit left out")
    summary: SummaryModel = Field(description="What the rows say together")
    unmet: list[str] | None = Field(None, description="Limits of --fail-under that a case misses")
    warnings: list[CaseWarnModel] | None = Field(None, description="What deserves a second look, each code once")
    row_warnings: list[list[WarnModel]] | None = Field(None, description="The warnings of the answer of each row")
    assumptions: list[CaseAssumptionModel] | None = Field(None, description="What was assumed, each code once")
    row_assumptions: list[list[AssumptionModel]] | None = Field(None, description="What the answer of each row assumed")


def load_what_if_result(source: Source) -> Loaded[Mapping[str, Any]]:
    """Read and check the result of a what-if from a path, standard input (``-``) or a mapping, as a document."""
    return load_document(source, "what-if result", FORMAT, WhatIfResultModel)

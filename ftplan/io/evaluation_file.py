"""Evaluation documents: what a plan scores under failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ftplan.io.documents import Source
from ftplan.io.failure_file import SELECTOR_PATTERN, selector_of
from ftplan.io.fields import FileModel, Finite, Id, Probability, Sense, Version
from ftplan.io.plan_file import InputFileModel, Kind, WarnModel
from ftplan.io.validation import Loaded, load_document
from ftplan.model.names import Selector

FORMAT = "ftplan/evaluation"


#: What a replication plan is scored under where nothing in particular fails: all tasks.
WORST = "worst-case"


def _what_failed(value: Any) -> Any:
    """Parse a selector, or leave the word for everything."""
    return value if value == WORST else selector_of(value)


class MetricModel(FileModel):
    """The value of one metric."""

    name: str = Field(description="As in `ftplan algorithms --metrics`")
    value: Finite | None = Field(description="null where the metric is undefined")
    sense: Sense = Field(description="Whether less or more is better")
    unit: str | None = Field(None, description="Unit of the value")


WhatFailed = Annotated[
    Selector | Literal["worst-case"],
    BeforeValidator(_what_failed),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": SELECTOR_PATTERN, "examples": ["zone:rack-a", "task:join/3"]},
                {"const": WORST, "description": "All tasks fail"},
            ]
        }
    ),
]


class ScenarioScoresModel(FileModel):
    """Scores of the plan in one of several weighted alternatives."""

    id: Id = Field(description="As in the failure file")
    probability: Probability = Field(description="Its weight in the means")
    failures: list[WhatFailed] = Field(description="All that failed in it")
    metrics: list[MetricModel] = Field(description="The scores in it")


class EvaluationModel(FileModel):
    """Scores of a plan under failures."""

    format: Literal["ftplan/evaluation"]
    format_version: Version
    kind: Kind = Field(description="Kind of the plan")
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    inputs: list[InputFileModel] | None = Field(None, description="The plan and what it was scored on")
    failures: list[WhatFailed] | None = Field(None, description="What failed, in every scenario where there are some")
    scenarios: list[ScenarioScoresModel] | None = Field(
        None, description="One entry for each of the failure's scenarios"
    )
    metrics: list[MetricModel] = Field(
        description="The scores; with scenarios their means, weighted by probability over the sum of all probabilities"
    )
    unmet: list[str] | None = Field(None, description="Limits of --fail-under that are not met")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")


def load_evaluation(source: Source) -> Loaded[Mapping[str, Any]]:
    """Read and check an evaluation from a path, standard input (``-``) or a mapping; the value is the document."""
    return load_document(source, "evaluation", FORMAT, EvaluationModel)

"""What a file of format ``ftplan/simulation`` and kind ``tentative-output`` holds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Positive, Probability
from ftplan.simulation.document import SimulationModel

Measure = Literal["output_fidelity", "key_aligned_fidelity", "internal_completeness"]


class ReplicatedTaskModel(FileModel):
    """A task that has a replica."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")


class QueryRunModel(FileModel):
    """The query without failure."""

    windows: Index = Field(description="Windows that lie in the streams as a whole")
    outputs: Index = Field(description="Entries of the output in all of them")
    seconds: Positive = Field(description="Length of the streams")


class ReplicaSetModel(FileModel):
    """A set of replicas, what was foretold of it, and what came."""

    ratio: Probability = Field(description="Share of the tasks that may be replicated; of a given plan, that are")
    budget: Index | None = Field(None, description="Replicas that were allowed; null for a given plan")
    algorithm: str | None = Field(None, description="Who chose them; null for a given plan")
    metric: str | None = Field(None, description="What was maximised; null for a given plan")
    bound: Probability | None = Field(None, description="Proven: no set within the budget has more of the metric")
    replicas: list[ReplicatedTaskModel] = Field(description="The tasks that live")
    output_fidelity: Probability = Field(description="How much of the output rests on all of its input")
    key_aligned_fidelity: Probability = Field(description="The same where joined streams lack the same keys")
    internal_completeness: Probability = Field(description="Records still processed, wherever they go")
    accuracy: Probability = Field(description="Entries of all windows that are still there, of those without failure")


class MeasurePredictionModel(FileModel):
    """How well a measure foretells accuracies."""

    measure: Measure = Field(description="The measure")
    spearman: float | None = Field(None, description="Rank correlation; null where one side is constant")
    kendall: float | None = Field(None, description="Rank correlation tau-b; null where one side is constant")
    error: NonNegative = Field(description="Mean absolute difference")
    bias: float = Field(description="Mean difference; above 0 the measure promises too much")


class BestMeasuresModel(FileModel):
    """The measures that foretell best; several where they tie, none where nothing can be ranked."""

    spearman: list[Measure] = Field(description="By Spearman's rank correlation")
    kendall: list[Measure] = Field(description="By Kendall's")
    error: list[Measure] = Field(description="By mean absolute difference")


class TentativeOutputModel(SimulationModel):
    """How much of a query's output sets of replicas keep, and how well measures foretell it."""

    kind: Literal["tentative-output"] = Field(description="What was simulated")
    query: Literal["top-k", "incidents"] = Field(description="What ran")
    topology: dict[str, Any] = Field(description="The query as a topology file, with its measured rates")
    run: QueryRunModel = Field(description="The query without failure")
    sets: list[ReplicaSetModel] = Field(description="Sets of replicas, as asked for")
    different_sets: Index = Field(description="Different ones among them; predictions rest on each once")
    predictions: list[MeasurePredictionModel] = Field(description="How well each measure foretells accuracies")
    best: BestMeasuresModel = Field(description="The measures that foretell best")


MODEL = TentativeOutputModel

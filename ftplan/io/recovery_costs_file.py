"""Recovery costs: what the parts of a recovery take, as fitted on measured ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ftplan.io.documents import Source, read_document
from ftplan.io.fields import Bandwidth, Bytes, FileModel, Interval, NonNegative, Rate, Rows, Seconds, Share, Version
from ftplan.io.plan_file import InputFileModel, WarnModel
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.model.recovery_costs import Estimate, FittedRange, RecoveryCosts

FORMAT = "ftplan/recovery-costs"


def _ascending(value: list[float]) -> list[float]:
    if value[0] > value[1]:
        raise ValueError(f"the range [{value[0]:g}, {value[1]:g}] ends before it begins")
    return value


RateRange = Annotated[list[Rate], Field(min_length=2, max_length=2), AfterValidator(_ascending)]
BytesRange = Annotated[list[Bytes], Field(min_length=2, max_length=2), AfterValidator(_ascending)]
IntervalRange = Annotated[list[Interval], Field(min_length=2, max_length=2), AfterValidator(_ascending)]


class SecondsModel(FileModel):
    """An estimate in seconds."""

    value: Seconds = Field(description="The fitted value")
    low: Seconds | None = Field(None, description="Lower confidence limit")
    high: Seconds | None = Field(None, description="Upper confidence limit")
    basis: str | None = Field(None, description="What it rests on, in words")


class BandwidthModel(FileModel):
    """An estimate in units of 2^20 bytes per second."""

    value: Bandwidth = Field(description="The fitted value")
    low: Bandwidth | None = Field(None, description="Lower confidence limit")
    high: Bandwidth | None = Field(None, description="Upper confidence limit")
    basis: str | None = Field(None, description="What it rests on, in words")


class ShareModel(FileModel):
    """An estimate of a share."""

    value: Share = Field(description="The fitted value")
    low: Share | None = Field(None, description="Lower confidence limit")
    high: Share | None = Field(None, description="Upper confidence limit")
    basis: str | None = Field(None, description="What it rests on, in words")


class RateModel(FileModel):
    """An estimate in records per second."""

    value: Rate = Field(description="The fitted value")
    low: Rate | None = Field(None, description="Lower confidence limit")
    high: Rate | None = Field(None, description="Upper confidence limit")
    basis: str | None = Field(None, description="What it rests on, in words")


EstimateModel = SecondsModel | BandwidthModel | ShareModel | RateModel


class ParametersModel(FileModel):
    """The parts of a recovery; one that is left out counts as taking no time."""

    detection_s: SecondsModel | None = Field(None, description="Until a failure is noticed")
    restart_s: SecondsModel | None = Field(None, description="That tasks take to start, without restoring state")
    bandwidth_mb_s: BandwidthModel | None = Field(None, description="What a restore gets")
    replay_share: ShareModel | None = Field(None, description="Part of a checkpoint interval that is processed again")
    capacity_records_s: RateModel | None = Field(None, description="What the whole job can process")


class FittedOnModel(FileModel):
    """The recoveries that the parameters were fitted on."""

    recoveries: Rows | None = Field(None, description="How many, from the failure until the job had caught up")
    restores: Rows | None = Field(None, description="Restarts and restores that were measured by themselves")
    rates: RateRange | None = Field(None, description="[low, high] records per second into the job")
    intervals_s: IntervalRange | None = Field(None, description="[low, high] checkpoint interval")
    state_bytes: BytesRange | None = Field(None, description="[low, high] of what the largest restore fetched")


class ErrorModel(FileModel):
    """How far predictions lie from measured recoveries."""

    median: NonNegative | None = Field(None, description="Median relative error")
    p90: NonNegative | None = Field(None, description="90th percentile of the relative error")
    held_out: NonNegative | None = Field(None, description="Median on recoveries that were held out")
    held_out_p90: NonNegative | None = Field(None, description="90th percentile on recoveries that were held out")
    held_out_by: Literal["rate", "interval", "recovery"] | None = Field(None, description="What was held out at a time")


class PredictionModel(FileModel):
    """What a recovery would take."""

    rate: Rate | None = Field(None, description="Records per second into the job")
    interval_s: Interval | None = Field(None, description="Seconds between checkpoints")
    state_bytes: Bytes | None = Field(None, description="What the largest restore fetches")
    recovery_s: NonNegative = Field(description="Seconds from the failure until the job has caught up")
    low: NonNegative | None = Field(None, description="Of ten held-out recoveries nine took at least so long")
    high: NonNegative | None = Field(None, description="And at most so long")
    parts: dict[str, NonNegative] = Field(description="Seconds of each part")
    warnings: list[WarnModel] = Field(description="Where it lies outside what was measured")


class RecoveryCostsModel(FileModel):
    """What the parts of a recovery take."""

    format: Literal["ftplan/recovery-costs"]
    format_version: Version
    state: Literal["local", "remote"] = Field(description="Where state is when a task starts again")
    parameters: ParametersModel = Field(description="What each part takes")
    fitted_on: FittedOnModel | None = Field(None, description="Where the parameters hold")
    error: ErrorModel | None = Field(None, description="How well they predict")
    model: str | None = Field(None, description="How a recovery follows from the parameters, in words")
    tool_version: str | None = Field(None, description="Version of ftplan that fitted them")
    inputs: list[InputFileModel] | None = Field(None, description="What they were fitted on")
    warnings: list[WarnModel] | None = Field(None, description="What the recoveries could not tell")
    predictions: list[PredictionModel] | None = Field(None, description="What was asked beside")


def load_recovery_costs(source: Source) -> Loaded[RecoveryCosts]:
    """Read and check recovery costs from a path, standard input (``-``) or a mapping."""
    document = read_document(source, "recovery costs")
    value = check_envelope(document, FORMAT)
    model = validate(RecoveryCostsModel, value, document.name)
    complaints = Complaints(document.name)
    estimates = {name: item for name, item in model.parameters if item is not None}
    for name, item in estimates.items():
        _check_limits(f"parameters.{name}", item, complaints)
    complaints.finish()
    warnings, ignored = ignored_keys(RecoveryCostsModel, value, document.name)
    ends = [getattr(model.fitted_on, name, None) for name in ("rates", "intervals_s", "state_bytes")]
    rates, intervals, sizes = (None if pair is None else FittedRange(*pair) for pair in ends)
    costs = RecoveryCosts(
        state=model.state,
        rates=rates,
        intervals_s=intervals,
        state_bytes=sizes,
        **{name: Estimate(item.value, item.low, item.high) for name, item in estimates.items()},
    )
    return Loaded(costs, InputFile("costs", document.path, document.sha256), warnings, ignored)


def _check_limits(place: str, item: EstimateModel, complaints: Complaints) -> None:
    """Note an estimate outside its own confidence limits."""
    if item.low is not None and item.value < item.low:
        complaints.add(f"{place}.low", f"{item.low:g} is above the value {item.value:g}")
    if item.high is not None and item.value > item.high:
        complaints.add(f"{place}.high", f"{item.high:g} is below the value {item.value:g}")

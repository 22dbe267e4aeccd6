"""Recovery costs: what the parts of a recovery take, as fitted on measured ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ftplan.io.documents import Source, read_document
from ftplan.io.fields import Bandwidth, FileModel, Interval, NonNegative, Rate, Rows, Seconds, Share, Version
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.model.recovery_costs import Estimate, FittedRange, RecoveryCosts

FORMAT = "ftplan/recovery-costs"


def _ascending(value: list[float]) -> list[float]:
    if value[0] > value[1]:
        raise ValueError(f"the range [{value[0]:g}, {value[1]:g}] ends before it begins")
    return value


RateRange = Annotated[list[Rate], Field(min_length=2, max_length=2), AfterValidator(_ascending)]
IntervalRange = Annotated[list[Interval], Field(min_length=2, max_length=2), AfterValidator(_ascending)]


class SecondsModel(FileModel):
    """An estimate in seconds."""

    value: Seconds = Field(description="The fitted value")
    low: Seconds | None = Field(None, description="Lower confidence limit")
    high: Seconds | None = Field(None, description="Upper confidence limit")


class BandwidthModel(FileModel):
    """An estimate in units of 2^20 bytes per second."""

    value: Bandwidth = Field(description="The fitted value")
    low: Bandwidth | None = Field(None, description="Lower confidence limit")
    high: Bandwidth | None = Field(None, description="Upper confidence limit")


class ShareModel(FileModel):
    """An estimate of a share."""

    value: Share = Field(description="The fitted value")
    low: Share | None = Field(None, description="Lower confidence limit")
    high: Share | None = Field(None, description="Upper confidence limit")


class RateModel(FileModel):
    """An estimate in records per second."""

    value: Rate = Field(description="The fitted value")
    low: Rate | None = Field(None, description="Lower confidence limit")
    high: Rate | None = Field(None, description="Upper confidence limit")


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

    recoveries: Rows | None = Field(None, description="How many")
    rates: RateRange | None = Field(None, description="[low, high] records per second into the job")
    intervals_s: IntervalRange | None = Field(None, description="[low, high] checkpoint interval")


class ErrorModel(FileModel):
    """How far predictions lie from measured recoveries."""

    median: NonNegative | None = Field(None, description="Median relative error")
    p90: NonNegative | None = Field(None, description="90th percentile of the relative error")
    held_out: NonNegative | None = Field(None, description="The same on recoveries that were held out")


class RecoveryCostsModel(FileModel):
    """What the parts of a recovery take."""

    format: Literal["ftplan/recovery-costs"]
    format_version: Version
    state: Literal["local", "remote"] = Field(description="Where state is when a task starts again")
    parameters: ParametersModel = Field(description="What each part takes")
    fitted_on: FittedOnModel | None = Field(None, description="Where the parameters hold")
    error: ErrorModel | None = Field(None, description="How well they predict")


def load_recovery_costs(source: Source, role: str = "costs") -> Loaded[RecoveryCosts]:
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
    rates, intervals = (getattr(model.fitted_on, name, None) for name in ("rates", "intervals_s"))
    costs = RecoveryCosts(
        state=model.state,
        rates=None if rates is None else FittedRange(*rates),
        intervals_s=None if intervals is None else FittedRange(*intervals),
        **{name: Estimate(item.value, item.low, item.high) for name, item in estimates.items()},
    )
    return Loaded(costs, InputFile(role, document.path, document.sha256), warnings, ignored)


def _check_limits(place: str, item: EstimateModel, complaints: Complaints) -> None:
    """Note an estimate outside its own confidence limits."""
    if item.low is not None and item.value < item.low:
        complaints.add(f"{place}.low", f"{item.low:g} is above the value {item.value:g}")
    if item.high is not None and item.value > item.high:
        complaints.add(f"{place}.high", f"{item.high:g} is below the value {item.value:g}")

"""Failure files: what fails, which nodes arrive, and weighted alternatives.

Failure logs: which node failed when, one failure a row.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

from ftplan.errors import FtplanError, suggestion
from ftplan.io.cluster_file import NodeModel, check_duplicates
from ftplan.io.documents import Source, display_name, read_document, sha256_of_file
from ftplan.io.fields import FileModel, Id, Moment, Probability, Time, Version
from ftplan.io.selector_checks import check_selector
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Arrival, Fail, Failure, Scenario
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import InputFile, Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, Topology


@dataclass(frozen=True, eq=False)
class FailureLog:
    """Failures in the order of the log: seconds since the epoch (or since whatever the log counts from), and names.

    ``zone`` is what nodes share that fail together; the empty text where the log does not say.
    """

    time_s: FloatArray
    node: Sequence[str]
    zone: Sequence[str]
    sha256: str


def read_failure_log(path: str | os.PathLike[str], *, time: str, node: str, zone: str | None = None) -> FailureLog:
    """Read a failure log, Parquet where its name ends so, else CSV (also compressed, as its name says).

    Raises FtplanError if the file cannot be read, a column is missing, a value is empty or no time, or there are no
    rows.

    Parameters
    ----------
    time, node, zone
        What the columns are called. Times are ISO 8601 (UTC where they do not say) or seconds.
    """
    import pandas as pd

    name = display_name(path)
    if not os.path.isfile(path):
        known = [entry.name for entry in Path(path).parent.iterdir()] if os.path.isdir(Path(path).parent) else []
        raise FtplanError(f"{name}: no such failure log{suggestion(Path(path).name, known)}")
    wanted = [column for column in (time, node, zone) if column is not None]
    texts = {column: str for column in wanted if column != time}
    try:
        if Path(path).suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:
            frame = pd.read_csv(path, dtype=texts, skipinitialspace=True)
    except (OSError, ValueError, ImportError) as error:  # those of the parsers are among them
        raise FtplanError(f"{name}: cannot be read as a failure log: {(str(error).splitlines() or [''])[0]}") from None
    for column in wanted:
        if column not in frame.columns:
            known = [str(item) for item in frame.columns]
            near = suggestion(column, known)
            raise FtplanError(f"{name}: there is no column {column!r}{near}; there are {', '.join(known)}")
        if frame[column].isna().any():
            raise FtplanError(f"{name}: column {column!r}: row {int(frame[column].isna().argmax())}: is empty")
    if frame.empty:
        raise FtplanError(f"{name}: holds no failure")
    return FailureLog(
        _seconds(frame[time], name),
        [str(value) for value in frame[node]],
        [""] * len(frame) if zone is None else [str(value) for value in frame[zone]],
        sha256_of_file(Path(path)),
    )


def _seconds(values: Any, name: str) -> FloatArray:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values):
        seconds = np.asarray(values, dtype=np.float64)
    else:
        times = pd.to_datetime(values, utc=True, errors="coerce", format="ISO8601")
        if times.isna().any():
            row = int(times.isna().argmax())
            raise FtplanError(f"{name}: column {values.name!r}: row {row}: {values.iloc[row]!r} is no time")
        seconds = np.asarray((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1), dtype=np.float64)
    if not np.isfinite(seconds).all():
        raise FtplanError(f"{name}: column {values.name!r}: holds a time that is not finite")
    return seconds


FORMAT = "ftplan/failure"

SELECTOR_PATTERN = r"^((node|zone|operator):[A-Za-z0-9._-]+|(task|query|key-group):[A-Za-z0-9._-]+/[0-9]+)$"


def selector_of(value: Any) -> Any:
    """Parse a selector; pydantic reports what the parser says of it."""
    if not isinstance(value, str):
        return value
    try:
        return parse_selector(value)
    except FtplanError as error:
        raise ValueError(str(error)) from None


SelectorText = Annotated[
    Selector,
    BeforeValidator(selector_of),
    WithJsonSchema({"type": "string", "pattern": SELECTOR_PATTERN, "examples": ["zone:rack-a", "task:join/3"]}),
]


class TimedFailModel(FileModel):
    """Something fails at a time."""

    at_s: Moment = Field(0.0, description="Seconds after the failure that starts the clock")
    select: SelectorText = Field(description="What fails")


def _fail_branch(value: Any) -> str:
    return "<selector>" if isinstance(value, str) else "<timed>"


#: A bare selector fails at time 0.
FailEntry = Annotated[
    Annotated[SelectorText, Tag("<selector>")] | Annotated[TimedFailModel, Tag("<timed>")], Discriminator(_fail_branch)
]


class ArrivalModel(FileModel):
    """A replacement node."""

    at_s: Time = Field(description="Seconds until it can host tasks; a range [a, b] is uniform")
    node: NodeModel = Field(description="The node; it may reuse the id of one that failed and comes empty")


class ScenarioModel(FileModel):
    """One of several weighted alternatives."""

    id: Id = Field(description="Unique name")
    probability: Probability = Field(description="Probability of this alternative")
    fail: list[FailEntry] = Field(description="What fails in it")


class FailureModel(FileModel):
    """What fails and what arrives."""

    format: Literal["ftplan/failure"]
    format_version: Version
    fail: list[FailEntry] = Field(default=[], description="Selectors, or selectors with a time")
    arrivals: list[ArrivalModel] = Field(
        default=[], description="Replacement nodes; an empty list: none, left out: not known"
    )
    scenarios: list[ScenarioModel] = Field(default=[], description="Weighted alternatives")


def load_failure(source: Source, topology: Topology | None = None, cluster: Cluster | None = None) -> Loaded[Failure]:
    """Read and check a failure file from a path, standard input (``-``) or a mapping.

    Selectors must point at something in the *topology* and *cluster*, where these are given.
    """
    document = read_document(source, "failure")
    value = check_envelope(document, FORMAT)
    model = validate(FailureModel, value, document.name)
    complaints = Complaints(document.name)
    check_duplicates([scenario.id for scenario in model.scenarios], "scenarios", complaints)
    _check_arrivals(model, complaints)
    arriving = [arrival.node.build() for arrival in model.arrivals]
    fails = [("fail", model.fail)]
    fails += [(f"scenarios[{i}].fail", scenario.fail) for i, scenario in enumerate(model.scenarios)]
    for place, entries in fails:
        for i, entry in enumerate(entries):
            try:
                check_selector(_fail(entry).select, topology, cluster, arriving)
            except FtplanError as error:
                complaints.add(f"{place}[{i}]", str(error))
    complaints.finish()
    warnings, ignored = ignored_keys(FailureModel, value, document.name)
    total = sum(scenario.probability for scenario in model.scenarios)
    if total > 1 + ROUNDING:
        text = f"{document.name}: scenarios: the probabilities sum to {total:g}, more than 1; they are used as weights"
        warnings += (Warn("PROBABILITIES_ABOVE_ONE", text),)
    return Loaded(_built(model), InputFile("failure", document.path, document.sha256), warnings, ignored)


def _check_arrivals(model: FailureModel, complaints: Complaints) -> None:
    first: dict[str, int] = {}
    for i, arrival in enumerate(model.arrivals):
        if isinstance(arrival.at_s, list) and arrival.at_s[0] > arrival.at_s[1]:
            low, high = arrival.at_s
            complaints.add(f"arrivals[{i}].at_s", f"the range [{low:g}, {high:g}] ends before it begins")
        if first.setdefault(arrival.node.id, i) != i:
            also = first[arrival.node.id]
            complaints.add(f"arrivals[{i}].node.id", f"duplicate id {arrival.node.id!r} (also arrivals[{also}])")


def _fail(entry: Selector | TimedFailModel) -> Fail:
    return Fail(entry) if isinstance(entry, Selector) else Fail(entry.select, entry.at_s)


def _fails(entries: Sequence[Selector | TimedFailModel]) -> tuple[Fail, ...]:
    return tuple(_fail(entry) for entry in entries)


def _built(model: FailureModel) -> Failure:
    arrivals = []
    for arrival in model.arrivals:
        low, high = arrival.at_s if isinstance(arrival.at_s, list) else (arrival.at_s, arrival.at_s)
        arrivals.append(Arrival((low, high), arrival.node.build()))
    scenarios = tuple(Scenario(item.id, item.probability, _fails(item.fail)) for item in model.scenarios)
    nobody = "arrivals" in model.model_fields_set and not arrivals
    return Failure(_fails(model.fail), tuple(arrivals), scenarios, nobody)

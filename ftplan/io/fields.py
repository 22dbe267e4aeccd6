"""The kinds of values that occur in files, as pydantic types, with what the JSON Schemas say of them.

At the end the objective of a plan, or of one of its steps.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    Tag,
)
from pydantic_core import CoreSchema, core_schema

from ftplan.io.options.quantities import seconds_of
from ftplan.model import ranges
from ftplan.model.names import ID_PATTERN

#: Tags of union branches; places in error messages leave them out.
NUMBER_TAG, LIST_TAG = "<number>", "<list>"

#: More tasks or key groups than this are a slip of the keyboard.
MAX_COUNT = 10_000_000


class FileModel(BaseModel):
    """Strict types; unknown keys are ignored; NaN and infinity are refused."""

    model_config = ConfigDict(
        strict=True, extra="ignore", allow_inf_nan=False, frozen=True, populate_by_name=False, protected_namespaces=()
    )


def _whole(value: Any) -> Any:
    """JSON's 4.0 is a whole number too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_PERIOD = r"^(\d+(?:\.\d+)?)(s|m|h|d|w)$"


def _period(value: str) -> str:
    if period_s(value) is None:
        raise ValueError("must be a time such as 1d, 12h or 30m, of a second at least")
    return value


def period_s(text: str) -> float | None:
    """Return the seconds of a time with its unit, None where it is none, or less than one second."""
    seconds = seconds_of(text) if re.match(_PERIOD, text) else 0.0
    return seconds if 1.0 <= seconds <= ranges.INTERVAL_S.high else None


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _branch(value: Any) -> str:
    return LIST_TAG if isinstance(value, list) else NUMBER_TAG


def _time_branch(value: Any) -> str:
    return "<range>" if isinstance(value, list) else "<time>"


class Within:
    """Holds a number to a range, in the reader and in the JSON Schema."""

    def __init__(self, allowed: ranges.Range) -> None:
        self.allowed = allowed

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.allowed.checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), **self.allowed.schema()}


Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Count = Annotated[int, Field(ge=1, le=MAX_COUNT), BeforeValidator(_whole)]
Index = Annotated[int, Field(ge=0, le=MAX_COUNT), BeforeValidator(_whole)]
Rows = Annotated[int, Field(ge=0, le=2**63 - 1), BeforeValidator(_whole)]

#: Numbers of a plan: what follows from inputs within their ranges stays far below the largest.
NonNegative = Annotated[float, Field(ge=0, le=ranges.LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=ranges.LARGEST, allow_inf_nan=False)]
Finite = Annotated[float, Field(ge=-ranges.LARGEST, le=ranges.LARGEST, allow_inf_nan=False)]

#: Numbers of an input.
Cores = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.CORES)]
NodeCores = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.NODE_CORES)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.RATE)]
Selectivity = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.SELECTIVITY)]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.SHARE)]
Bytes = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.BYTES)]
MemoryMb = Annotated[float, Field(gt=0, allow_inf_nan=False), Within(ranges.MEMORY_MB)]
Priority = Annotated[float, Field(gt=0, allow_inf_nan=False), Within(ranges.PRIORITY)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.SECONDS)]
Interval = Annotated[float, Field(gt=0, allow_inf_nan=False), Within(ranges.INTERVAL_S)]
Bandwidth = Annotated[float, Field(gt=0, allow_inf_nan=False), Within(ranges.BANDWIDTH_MB_S)]
Period = Annotated[str, AfterValidator(_period), Field(json_schema_extra={"pattern": _PERIOD})]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), Within(ranges.PROBABILITY)]

Number = TypeVar("Number")

#: A number, or a list with one number per task.
PerTask = Annotated[Annotated[Number, Tag(NUMBER_TAG)] | Annotated[list[Number], Tag(LIST_TAG)], Discriminator(_branch)]

#: Seconds, or a range of seconds.
Moment = Annotated[float, Field(ge=0, allow_inf_nan=False), Within(ranges.TIME_S)]
Time = Annotated[
    Annotated[Moment, Tag("<time>")] | Annotated[list[Moment], Field(min_length=2, max_length=2), Tag("<range>")],
    Discriminator(_time_branch),
]

#: [from index, to index, records/s]
Substream = Annotated[
    tuple[Annotated[int, Field(ge=0, le=MAX_COUNT)], Annotated[int, Field(ge=0, le=MAX_COUNT)], Rate],
    BeforeValidator(_as_tuple),
]


def _ascending(value: tuple[int, int]) -> tuple[int, int]:
    if value[0] > value[1]:
        raise ValueError(f"the first key group {value[0]} lies behind the last {value[1]}")
    return value


#: [first, last] of key groups one after another
KeyGroups = Annotated[tuple[Index, Index], BeforeValidator(_as_tuple), AfterValidator(_ascending)]

_OnRing = Annotated[float, Field(ge=0.0, le=1.0)]
#: [from, to] on a ring of positions from 0 to 1
RingRange = Annotated[tuple[_OnRing, _OnRing], BeforeValidator(_as_tuple)]

Sense = Literal["min", "max"]

_VERSION_SCHEMA: dict[str, Any] = {
    "type": ["string", "number"],
    "pattern": r"^1(\.[0-9]+)*$",
    "minimum": 1,
    "exclusiveMaximum": 2,
    "examples": ["1.0"],
}

#: Checked with the envelope, before the rest; ``1.0`` without quotes is understood.
Version = Annotated[
    Any, Field(description="Version of the format; 1.x is understood", json_schema_extra=_VERSION_SCHEMA)
]


class ObjectiveModel(FileModel):
    """Value and proven bound of the optimised quantity."""

    name: str = Field(description="What was optimised")
    sense: Sense = Field(description="Whether less or more is better")
    value: Finite | None = Field(None, description="Recomputed from the plan")
    bound: Finite | None = Field(None, description="Proven: no plan is better")
    scale: Finite | None = Field(None, description="What the gap is relative to")
    gap: Finite | None = Field(None, description="|bound - value| / scale")

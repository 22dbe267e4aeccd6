"""The kinds of values that occur in files, as pydantic types, with what the JSON Schemas say of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag

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


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _branch(value: Any) -> str:
    return LIST_TAG if isinstance(value, list) else NUMBER_TAG


def _time_branch(value: Any) -> str:
    return "<range>" if isinstance(value, list) else "<time>"


Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Count = Annotated[int, Field(ge=1, le=MAX_COUNT), BeforeValidator(_whole)]
Index = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

#: A number, or a list with one number per task.
PerTask = Annotated[
    Annotated[NonNegative, Tag(NUMBER_TAG)] | Annotated[list[NonNegative], Tag(LIST_TAG)], Discriminator(_branch)
]
PositivePerTask = Annotated[
    Annotated[Positive, Tag(NUMBER_TAG)] | Annotated[list[Positive], Tag(LIST_TAG)], Discriminator(_branch)
]

#: Seconds, or a range of seconds.
Time = Annotated[
    Annotated[NonNegative, Tag("<time>")]
    | Annotated[list[NonNegative], Field(min_length=2, max_length=2), Tag("<range>")],
    Discriminator(_time_branch),
]

#: [from index, to index, records/s]
Substream = Annotated[
    tuple[Annotated[int, Field(ge=0, le=MAX_COUNT)], Annotated[int, Field(ge=0, le=MAX_COUNT)], NonNegative],
    BeforeValidator(_as_tuple),
]

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

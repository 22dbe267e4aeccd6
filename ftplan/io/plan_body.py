"""What ``kind`` and ``plan`` say in a plan file: one of the kinds there are, and what ``body.py`` of its folder has."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

from ftplan.io.fields import FileModel
from ftplan.model import kinds


def _known(value: Any) -> str:
    """Return the name of a kind; looked up when a file is read, as a field of type Literal could not."""
    if isinstance(value, str) and value in kinds.names():
        return value
    *quoted, last = map(repr, kinds.in_files())
    raise PydanticKnownError("literal_error", {"expected": f"{', '.join(quoted)} or {last}"})


#: A kind of plan, as files name it.
Kind = Annotated[str, PlainValidator(_known), WithJsonSchema({"enum": list(kinds.in_files()), "type": "string"})]


def body_of(kind: str) -> type[FileModel] | None:
    """Import and return the model of a kind's body, None for a kind that is not checked beyond the envelope."""
    name = f"{kinds.row(kind).folder}.body"
    if find_spec(name) is None:
        return None
    model: type[FileModel] = importlib.import_module(name).BODY
    return model

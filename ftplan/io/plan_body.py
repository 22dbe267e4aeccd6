"""What ``plan`` holds in a plan file: ``body.py`` of each question, whose ``BODY`` is a model."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

from ftplan.io.fields import FileModel
from ftplan.model.kinds import row


def body_of(kind: str) -> type[FileModel] | None:
    """Import and return the model of a kind's body, None for a kind that is not checked beyond the envelope."""
    name = f"{row(kind).folder}.body"
    if find_spec(name) is None:
        return None
    model: type[FileModel] = importlib.import_module(name).BODY
    return model

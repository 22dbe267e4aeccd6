"""A Flink that answers as it did when examples/flink was collected."""

from __future__ import annotations

from typing import Any

from ftplan.engines.collecting.collection import answers
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "flink" / "collected"


def first_answers() -> dict[str, Any]:
    """Return the first answer to each path."""
    said: dict[str, Any] = {}
    for answer in answers(EXAMPLE):
        said.setdefault(answer.path, answer.value)
    return said

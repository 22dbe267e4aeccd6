"""A Flink that answers as it did when examples/flink was collected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ftplan.engines.collecting.collection import answers

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "flink" / "collected"


def first_answers() -> dict[str, Any]:
    """Return the first answer to each path."""
    said: dict[str, Any] = {}
    for answer in answers(EXAMPLE):
        said.setdefault(answer.path, answer.value)
    return said

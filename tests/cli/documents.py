"""Whatever a command writes that has a format is what the schema of that format says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from ftplan.io.schemas import KINDS, schema


def texts(folder: Path) -> dict[Path, str]:
    """Return the JSON and YAML files in a folder."""
    return {p: p.read_text() for kind in ("json", "yaml") for p in sorted(folder.rglob(f"*.{kind}"))}


def check_written(before: dict[Path, str], after: dict[Path, str], stdout: str) -> int:
    """Hold what a command wrote to the schema of its format; return how many documents that were."""
    written = [
        json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
        for path, text in after.items()
        if before.get(path) != text
    ]
    return sum(map(check, written)) + check_output(stdout)


def check_output(stdout: str) -> int:
    """Hold standard output to the schema of its format, where it is a document with one."""
    return check(json.loads(stdout)) if stdout.lstrip().startswith("{") else 0


def check(document: Any) -> int:
    """Hold one document to the schema of its format, where it has one; there is a schema for every format."""
    if not isinstance(document, dict) or "format" not in document:
        return 0
    kind = document["format"].removeprefix("ftplan/")
    assert kind in KINDS, f"no schema for {document['format']}"
    _validator(kind).validate(document)
    return 1


@cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(kind))

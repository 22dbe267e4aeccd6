"""Pages of files say every field of the schema that ftplan ships, with its range and default."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from docs.generate.schemas import columns, example, fields
from docs.generate.shapes import shape
from ftplan.io.schemas import KINDS, schema
from tests.places import ROOT


def properties(document: dict[str, Any]) -> Iterator[str]:
    """Yield the name of each property of each object; what all simulations have is yielded once."""
    yield from document["properties"]
    for name, inner in document.get("$defs", {}).items():
        shared = document["properties"] if document["title"] == "ftplan/simulation" and name.islower() else ()
        yield from (key for key in inner["properties"] if key not in shared)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_on_the_page(kind: str) -> None:
    shown = Counter(re.findall(r"^\| `([^`]+)`", fields(kind), flags=re.MULTILINE))
    assert shown == Counter(properties(schema(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_them_and_an_example(kind: str) -> None:
    text = (ROOT / "docs" / "files" / f"{kind}.md").read_text("utf-8")
    assert f"<!-- generate fields: {kind} -->" in text
    assert "$ ftplan check " in text
    assert re.search(rf"^\S+ +{kind} +\d", text, flags=re.MULTILINE), "no example that was checked"


def test_types_units_ranges_and_defaults() -> None:
    text = fields("topology") + fields("cluster")
    for row in (
        "| `parallelism` | integer, 1 to 10,000,000; default 1 | Number of tasks |",
        "| `interval_s` | number (seconds), 1e-6 to 1e9 | Seconds between two checkpoints |",
        "| `id` **required** | id | Unique name |",
        "| `edges` | list of [objects](#edges) | The streams between them; the graph is acyclic |",
        "| `checkpoints` | by id: list of lists of ids | Nodes of the copies of each key group |",
    ):
        assert row in text, row


def test_what_no_words_are_known_for_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing is said of multipleOf"):
        shape({"type": "number", "multipleOf": 3}, "x", lambda reference, several: reference)
    with pytest.raises(LookupError, match="no table"):
        columns("nobody")


def test_an_example_is_the_file() -> None:
    assert example("examples/figure-2/topology.yaml", "3-4") == (
        '```yaml\nformat: ftplan/topology\nformat_version: "1.0"\n```'
    )

"""What is public in Python says what it is, on the page that tells of it, with an example that runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

import ftplan
from docs.generate.public_names import faults, missing, public
from tests.docs.blocks import blocks
from tests.places import ROOT


@pytest.mark.parametrize("name", public(ftplan))
def test_public_names_say_what_they_are(name: str) -> None:
    assert list(faults(name, getattr(ftplan, name))) == []


@pytest.mark.parametrize("name", public(ftplan))
def test_each_is_used_in_a_block_that_runs(name: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    code = "\n".join(block.text for block in blocks(page) if block.language == "python")
    made_by_others = {"Plan": "ftplan.plan(", "Problem": "ftplan.load("}
    assert made_by_others.get(name, f"ftplan.{name}") in code
    reference = (ROOT / "docs" / "python-reference.md").read_text("utf-8")
    assert re.search(rf"^::: ftplan\.{name}$", reference, flags=re.MULTILINE)


def silent(given: int) -> int:
    return given


def half_said(given: int, other: int) -> int:
    """Add.

    Parameters
    ----------
    given
        One.
    """
    return given + other


@dataclass
class Shape:
    """A shape.

    Attributes
    ----------
    width
        In cm.
    """

    width: float
    height: float

    def area(self) -> float:
        return self.width * self.height


def test_what_is_not_said_is_found() -> None:
    assert list(faults("silent", silent)) == ["silent: has no docstring"]
    assert list(faults("half_said", half_said)) == [
        "half_said: parameter other is not documented",
        "half_said: does not say what it returns",
    ]
    assert list(faults("Shape", Shape)) == [
        "Shape: attribute height is not documented",
        "Shape.area: has no docstring",
    ]


def test_what_is_missing_on_the_page_is_found() -> None:
    html = '<h3 id="ftplan.load"></h3><h3 id="ftplan.api._hidden"></h3>'
    assert list(missing(html, ["ftplan.load", "ftplan.plan"])) == [
        "ftplan.plan: is public, and not on the page python-reference",
        "ftplan.api._hidden: is private, and on the page python-reference",
    ]

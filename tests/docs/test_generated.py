"""What generators write into pages is what they would write now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate.pages import GENERATORS, ROOT, generated_pages, written
from docs.generate.results import figure, table


@pytest.mark.parametrize("page", generated_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_up_to_date(page: Path) -> None:
    """``python -m docs.generate`` writes them anew."""
    text = page.read_text("utf-8")
    assert written(text, page.name) == text


@pytest.mark.parametrize("page", generated_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_a_paragraph_begins_with_a_marker(page: Path) -> None:
    """Markdown would end the paragraph there."""
    assert re.findall(r"^ *<!-- generate .*<!-- end -->.*", page.read_text("utf-8"), flags=re.MULTILINE) == []


def test_a_figure_that_was_changed_by_hand_is_found() -> None:
    marker = "<!-- generate figure: Exact checkpoint allocation :: 0.35 & exact :: gap -->"
    assert written(f"{marker}7 %<!-- end -->", "page") == f"{marker}0.00%<!-- end -->"


@pytest.mark.parametrize("text", ["<!-- generate rooms -->", "<!-- generates rooms --> <!-- end -->", "<!-- end -->"])
def test_a_marker_that_nothing_is_written_for_is_an_error(text: str) -> None:
    for page in (text, f"{text} <!-- generate arrows --><!-- end -->"):
        with pytest.raises(ValueError, match="page: a marker without its end"):
            written(page, "page")


def test_every_generator_writes_something() -> None:
    markers = {name for page in generated_pages() for name in re.findall(r"<!-- generate ([a-z-]+)", page.read_text())}
    assert markers == set(GENERATORS)


def test_what_nobody_generates_is_an_error() -> None:
    for marker in ("<!-- generate nothing -->", "<!-- generate rooms: too :: many -->"):
        with pytest.raises(ValueError, match=f"page: {marker}"):
            written(f"{marker}<!-- end -->", "page")


def test_what_is_not_measured_is_an_error() -> None:
    with pytest.raises(LookupError, match="no section"):
        figure("Nothing of this title", "a", "b")
    with pytest.raises(LookupError, match="0 figures"):
        figure("Exact checkpoint allocation", "0.35 & exact", "no such column")
    with pytest.raises(LookupError, match="not every row"):
        table("Exact checkpoint allocation", rows="nobody")

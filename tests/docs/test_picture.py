"""The pictures of README and the first page show the plan that ftplan makes now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from docs.generate.picture import ASSETS, figures, pictures
from tests.docs.blocks import pages
from tests.places import ROOT

#: What a place may differ by, in pixels of a drawing of 940: solvers differ in the last digits of a bound.
_NEAR = 1.0
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return pictures(figures()[1])


def shapes(text: str) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    """Yield each shape of a picture in words, and the numbers that say where it is."""
    for element in ElementTree.fromstring(text).iter():
        where = " ".join(element.get(name, "") for name in ("x", "y", "width", "height", "d", "viewBox"))
        words = (element.tag, element.get("class", ""), (element.text or "").strip(), _NUMBER.sub("", where))
        yield words, [float(number) for number in _NUMBER.findall(where)]


def test_pictures_show_the_plan(drawn: dict[str, str]) -> None:
    """``python -m docs.generate.picture`` draws them anew."""
    assert {path.name for path in ASSETS.glob("recovery-*.svg")} == set(drawn)
    for name, text in drawn.items():
        before, now = list(shapes((ASSETS / name).read_text("utf-8"))), list(shapes(text))
        assert [words for words, _ in before] == [words for words, _ in now], name
        for (words, old), (_, new) in zip(before, now, strict=True):
            assert new == pytest.approx(old, abs=_NEAR), (name, words)


def test_a_picture_of_another_plan_is_found(drawn: dict[str, str]) -> None:
    """The comparison sees a line that runs elsewhere, and another word."""
    text = drawn["recovery-over-time.svg"]
    path = next(where for words, where in shapes(text) if "value-line" in words[1])
    for other in (text.replace(f"{path[3]:.1f}L", f"{path[3] + 40:.1f}L", 1), text.replace("this plan", "that plan")):
        assert other != text
        both = zip(shapes(text), shapes(other), strict=True)
        assert not all(a == b and old == pytest.approx(new, abs=_NEAR) for (a, old), (b, new) in both)


def test_every_picture_that_a_page_shows_is_there() -> None:
    """Images in HTML, too, which no builder of the site looks at."""
    for page in pages():
        for source in re.findall(r'(?:src|srcset)="([^":]+)"', page.read_text("utf-8")):
            assert (page.parent / source).is_file(), f"{page.relative_to(ROOT)}: {source}"

"""Links that the builder of the site does not look at: between files on GitHub, and from the site to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.blocks import pages
from tests.places import ROOT

PAGES = [*pages(), ROOT / "examples" / "README.md"]
PROJECT = "https://github.com/ftplan/ftplan/"
_LINK = re.compile(r"\]\(([^)\s]+)|^\[[^\]]+\]: (\S+)|(?:href|src|srcset)=\"([^\"]+)\"", re.MULTILINE)


def without_code(text: str) -> str:
    """Return a page without its blocks and what is set as code."""
    return re.sub(r"^ *```.*?^ *```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(path: Path) -> frozenset[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = [re.sub(r"[^\w\- ]", "", head.lower()) for head in re.findall(r"^#+ (.*?) *$", text, flags=re.MULTILINE)]
    return frozenset(head.replace(" ", "-") for head in heads)


def broken(page: Path) -> Iterator[str]:
    """Yield the links of a page to files of the project, or places in them, that are not there."""
    for link in ("".join(found) for found in _LINK.findall(without_code(page.read_text("utf-8")))):
        place, _, anchor = re.sub(rf"^{PROJECT}(blob|tree)/main/", "/", link).partition("#")
        if ":" in place:
            continue
        target = (ROOT / place[1:] if place.startswith("/") else page.parent / place) if place else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert list(broken(page)) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# My page\n\n[a](#my-page) [b](#my-pages) [c](nobody.md) `[d](nobody.md)` <img src="no.svg">\n'
        f"[e]({PROJECT}blob/main/README.md) [f]({PROJECT}blob/main/README.md#no) [g]({PROJECT}tree/main/no)\n\n"
        "[key]: no.md\n",
        "utf-8",
    )
    gone = [f"{PROJECT}blob/main/README.md#no", f"{PROJECT}tree/main/no"]
    assert list(broken(page)) == ["#my-pages", "nobody.md", "no.svg", *gone, "no.md"]

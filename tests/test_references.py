"""What is cited stands in REFERENCES.md, and nothing stands there that nobody uses."""

from __future__ import annotations

import ast
import re

from tests.places import ROOT

KEY = re.compile(r"\[([A-Z][A-Za-z]*(?:(?:19|20)[0-9]{2}|TR))\]")
ENTRIES = re.findall(r"^- \*\*\[(\w+)\]\*\* (.+)", (ROOT / "REFERENCES.md").read_text(), flags=re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGE = {path: path.read_text() for path in sorted((ROOT / "ftplan").rglob("*.py"))}


def test_every_citation_is_listed() -> None:
    listed = {key for key, _ in ENTRIES}
    texts = PACKAGE | {page: page.read_text() for page in PAGES}
    unknown = {(str(path.relative_to(ROOT)), key) for path, text in texts.items() for key in KEY.findall(text)}
    assert [place for place in sorted(unknown) if place[1] not in listed] == []


def test_entries_are_unique_and_used() -> None:
    """Each is cited in the package, or a page says where it is used."""
    keys = [key for key, _ in ENTRIES]
    assert len(keys) == len(set(keys)) > 0
    texts = (*PACKAGE.values(), *(page.read_text() for page in PAGES))
    cited = {key for text in texts for key in KEY.findall(text)}
    assert sorted(set(keys) - cited) == []


def test_citations_name_one_work() -> None:
    """Su and Zhou wrote both of the papers that are cited most: their names alone do not say which is meant."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    vague = [
        str(path.relative_to(ROOT))
        for path, text in PACKAGE.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and re.search("Su & Zhou|Madsen & Zhou", ast.get_docstring(node) or "")
    ]
    assert vague == []

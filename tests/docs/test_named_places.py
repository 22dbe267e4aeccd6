"""Pages for contributors name files, folders and tables that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from docs.generate.rooms import layers, only_in
from tests.places import ROOT

PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "contributing").glob("*.md"))]
#: Beside files of the project: what somebody makes, and words that only look like a place or a table.
OTHERS = {
    ".venv/bin/pre-commit",
    "ftplan.toml",
    "ftplan/engines/toy/__init__.py",
    "cluster.yaml",
    "topology.yaml",
    "stats/",
    "CI",
    "KIND",
    "BODY",
    "my_planner",
    "my_planner_step",
}


def spans(page: Path) -> set[str]:
    """Return what a page sets as code, without its blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text)) - OTHERS


@cache
def source() -> str:
    """Return all code, in which names are looked for."""
    return "\n".join(
        path.read_text("utf-8") for room in ("ftplan", "tests", "docs") for path in (ROOT / room).rglob("*.py")
    )


@cache
def names_of_files() -> frozenset[str]:
    found = [
        path for room in ("ftplan", "tests") for path in (ROOT / room).rglob("*") if "__pycache__" not in path.parts
    ]
    return frozenset(name for path in found for name in (path.name, path.stem))


def exists(place: str) -> bool:
    """Return whether a path is one, from the root or below ``ftplan``; QUESTION and ENGINE stand for any."""
    pattern = re.sub(r"\b(QUESTION|ENGINE)\b", "*", place.rstrip("/"))
    return any(any(folder.glob(pattern)) for folder in (ROOT, ROOT / "ftplan"))


def wrong(page: Path) -> list[str]:
    """Return what a page names and nobody has."""
    found = []
    for span in spans(page):
        if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)+", span):
            right = exists(span) or (span.count("/") == 1 and span.endswith("/") and span[:-1] in names_of_files())
        elif re.fullmatch(r"[\w*-]+\.(py|md|yaml|toml|yml)", span):
            right = exists(span) or span in names_of_files() or "*" in span
        elif re.fullmatch(r"[A-Z][A-Z_]+", span):
            right = re.search(rf"^{span}\b[^=\n]*=", source(), flags=re.MULTILINE) is not None
        elif re.fullmatch(r"[a-z]+(_[a-z]+)+", span):
            right = span in names_of_files() or re.search(rf"\b{span}\b", source()) is not None
        else:
            continue
        if not right:
            found.append(span)
    return sorted(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path) -> None:
    assert wrong(page) == []


@pytest.mark.parametrize("file", sorted((ROOT / "ftplan").rglob("__init__.py")), ids=lambda file: file.parent.name)
def test_the_files_that_a_folder_tells_of_exist(file: Path) -> None:
    """Beside its first file, or from a folder above it."""
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    around = [folder for folder in file.parents if folder.is_relative_to(ROOT)]
    named = re.findall(r"``([\w/]+(?:\.py|/))``", text)
    assert [name for name in named if not any((folder / name).exists() for folder in around)] == []


def test_what_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    question = "`ftplan/planners/QUESTION/nothing.py`"
    page.write_text(f"`ftplan/nobody.py`, `NO_SUCH_TABLE`, `planners/nobody/`, {question}, `nobody.md`, `ROWS`")
    assert wrong(page) == [
        "NO_SUCH_TABLE", "ftplan/nobody.py", "ftplan/planners/QUESTION/nothing.py", "nobody.md", "planners/nobody/",
    ]  # fmt: skip


def test_the_picture_has_every_room_and_who_alone_imports_what() -> None:
    rooms = {path.stem for path in (ROOT / "ftplan").iterdir() if path.suffix in ("", ".py") and path.name[0] != "_"}
    assert {room for layer in layers() for room in layer} == rooms - {"py"}
    assert only_in()["planners"] == ["ortools", "statsmodels"]
    assert only_in()["simulation"] == ["simpy"]

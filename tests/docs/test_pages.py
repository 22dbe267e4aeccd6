"""Every code block of every page: commands run and print what the page shows, Python runs, files are read.

``FTPLAN_DOCS=write`` puts what is printed now below each command whose output a page shows and that differs.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from ftplan.cli.main import cli
from tests.docs.blocks import LANGUAGES, agrees, blocks, pages, steps
from tests.docs.elsewhere import ELSEWHERE, runs_elsewhere
from tests.docs.places import Places
from tests.docs.reader import Reader, pristine
from tests.places import ROOT

PAGES = [page for page in pages() if "```" in page.read_text("utf-8")]
#: How alike a line that is printed and one that a page shows are, of 1, to be the same line with other figures.
ALIKE = 0.7
#: Pages whose commands need all of the log of the flights.
WHOLE_LOG: tuple[str, ...] = ("examples/flights/README.md",)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_all_that_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    whole = named(page) in WHOLE_LOG
    root = Path(shutil.copytree(pristine(whole), tmp_path / "project")).resolve()
    here = root / page.parent.relative_to(ROOT) if page.parent.parent.name == "examples" else root
    with Places() as places:
        play(page, Reader(here, places, root, begun=None if whole else ()))


def play(page: Path, reader: Reader) -> None:
    """Follow a page from top to bottom, and compare or write what it shows."""
    text, begun = page.read_text("utf-8"), 0
    for block in blocks(text):
        shown = [step.printed for step in steps(block.text)] if block.language == "console" else []
        for page_shows, printed in zip(shown, reader.follow(block), strict=True):
            if page_shows is None:
                continue
            there = text.find(f"\n{page_shows}\n", begun) + 1  # 0 within tabs, whose lines are indented
            begun = there or begun
            if agrees(page_shows, printed):
                continue
            if there and os.environ.get("FTPLAN_DOCS") == "write":
                text = text[:begun] + cut_alike(page_shows, printed) + text[begun + len(page_shows) :]
                page.write_text(text, "utf-8")
            else:
                raise AssertionError(f"{named(page)}:{block.line}: shown\n{page_shows}\nprinted\n{printed}")


def cut_alike(shown: str, printed: str) -> str:
    """Return what is printed now, cut where the page cuts it: lines like those shown, and new ones of the verdict."""
    lines, kept, cut = printed.strip("\n").split("\n"), [], 0
    if "…" not in shown:
        return "\n".join(lines)
    for old in shown.split("\n"):
        if old == "…":
            kept.append(old)
            continue
        stem = old.partition("…")[0]
        like = [n for n in range(cut, len(lines)) if difflib.SequenceMatcher(None, lines[n], old).ratio() > ALIKE]
        found = next((n for n in range(cut, len(lines)) if stem and lines[n].startswith(stem)), None)
        found = like[0] if found is None and like else found
        if found is None:
            continue
        if found > cut and kept and kept[-1] != "…":
            kept.append("…")
        kept.append(old if found is not None and agrees(old, lines[found]) else lines[found])
        cut = found + 1
    if cut < len(lines) and kept and kept[-1] != "…":
        kept.append("…")
    return "\n".join(kept)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_blocks_are_what_they_say(page: Path) -> None:
    """Every block has a language that is known, and is readable in it."""
    readers = {"json": json.loads, "toml": tomllib.loads, "yaml": lambda text: list(yaml.safe_load_all(text))}
    for block in blocks(page.read_text("utf-8")):
        assert block.language in LANGUAGES, f"{named(page)}:{block.line}: {block.language!r}"
        if block.language == "console":
            assert block.text.startswith("$ "), f"{named(page)}:{block.line}: a console block begins with a command"
        if block.language in readers:
            readers[block.language](block.text)


def test_files_and_python_of_a_page_are_not_passed_over(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '```yaml title="a.yaml"\nx: 1\n```\n\n```python\nassert open("a.yaml").read() == "x: 2"\n```\n', "utf-8"
    )
    with Places() as places, pytest.raises(AssertionError):
        play(page, Reader(tmp_path, places, tmp_path))
    assert (tmp_path / "a.yaml").read_text("utf-8") == "x: 1\n"


def test_a_command_that_prints_something_else_is_found() -> None:
    for shown, printed in (("a  …\nc", "a  b\nc\n"), ("a\n…\nd", "a\nb\nc\nd\n"), ("a\n…", "a\n")):
        assert agrees(shown, printed)
    for shown, printed in (("a\nc", "a\nb\nc\n"), ("a", "b"), ("a 1.5", "a 115")):
        assert not agrees(shown, printed)


def test_lines_that_run_elsewhere_name_their_tests() -> None:
    for pattern, test in ELSEWHERE.items():
        file, _, function = test.partition("::")
        assert re.search(rf"def {function}\b", (ROOT / file).read_text("utf-8")), (pattern, test)


def commands_of(page: Path) -> list[str]:
    """Return the lines of a page that are typed into a shell."""
    consoles = [block for block in blocks(page.read_text("utf-8")) if block.language == "console"]
    return [step.command for block in consoles for step in steps(block.text)]


def test_lines_that_run_elsewhere_are_typed_and_have_options_that_there_are() -> None:
    """The tests that run them have other files and options."""
    lines = {line for page in PAGES for line in commands_of(page) if runs_elsewhere(line)}
    assert [pattern for pattern in ELSEWHERE if not any(re.fullmatch(pattern, line) for line in lines)] == []
    command = cli.get_command(click.Context(cli), "compute-stats")
    assert command is not None
    of_command = {name for option in command.params for name in option.opts}
    of_drill = set(re.findall(r'"(--?[\w-]+)"', (ROOT / "examples" / "flink" / "drill.py").read_text("utf-8")))
    for line in lines:
        words = [word for word in line.partition("compute-stats")[2].split() if word[0] == "-"]
        assert set(words) <= of_command, line
        words = [word for word in line.partition("drill.py")[2].split() if word[0] == "-"]
        assert set(words) <= of_drill, line


def test_targets_of_make_exist() -> None:
    """Pages name targets that the Makefile has, README the two that set everything up."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    for page in pages():
        named_here = set(
            re.findall(r"^\$ make ([a-z-]+)|`make ([a-z-]+)`", page.read_text("utf-8"), flags=re.MULTILINE)
        )
        assert {a or b for a, b in named_here} <= targets, page
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(target in readme for target in ("make demo", "make test"))

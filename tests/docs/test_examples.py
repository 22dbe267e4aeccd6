"""Examples that a stranger trusts: each folder says what it is, whose data it holds, and what one command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import blocks, steps
from tests.places import ROOT

FOLDERS = sorted(
    path for path in (ROOT / "examples").iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
)
#: One screen, and the width of its code.
LINES, WIDTH = 60, 105


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_has_a_readme_of_one_screen(folder: Path) -> None:
    """What it shows is played by ``test_pages``."""
    text = (folder / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= LINES
    assert re.search(r"^\*\*Source and licence:\*\* ", text, flags=re.MULTILINE)
    assert re.search(r"Apache-2\.0|CC0", text)
    assert "](../../docs/" in text, "no link to the documentation"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_begins_with_a_command_and_what_it_prints(folder: Path) -> None:
    """In its first block, and in lines that a screen holds."""
    consoles = [block for block in blocks((folder / "README.md").read_text("utf-8")) if block.language == "console"]
    printed = [step.printed for step in steps(consoles[0].text) if step.printed]
    assert printed
    assert re.search(r"\w", printed[0])
    assert max(len(line) for block in consoles for line in block.text.splitlines()) <= WIDTH


def test_the_table_of_examples_names_every_folder() -> None:
    text = (ROOT / "examples" / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| \[[^\]]+\]\(([\w-]+)\)", text, flags=re.MULTILINE)) == [f.name for f in FOLDERS]

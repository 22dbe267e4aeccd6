"""Who looks for a command finds it on the first page, and in README those that answer questions."""

from __future__ import annotations

import re

from tests.places import ROOT

COMMANDS = {path.stem for path in (ROOT / "docs" / "commands").glob("*.md")} - {"index"}
#: What README leaves to the first page.
_NOT_IN_README = {
    "algorithms", "calibrate", "check", "doctor", "generate", "init", "schema", "simulate-migration", "simulate-ring",
    "simulate-scaling", "stats-summary",
}  # fmt: skip


def linked(page: str) -> set[str]:
    return set(re.findall(r"\]\((?:docs/)?commands/([\w-]+)\.md\)", (ROOT / page).read_text("utf-8")))


def test_every_command_is_on_the_first_page() -> None:
    assert linked("docs/index.md") == COMMANDS


def test_readme_has_a_question_for_every_command_that_answers_one() -> None:
    assert linked("README.md") == COMMANDS - _NOT_IN_README


def test_readme_is_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 105

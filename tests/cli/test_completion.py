"""What a shell is told to complete."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from ftplan.cli.main import cli


def completed(*words: str) -> list[tuple[str, str]]:
    """Return kind and text of what the last word may become."""
    found = ShellComplete(cli, {}, "ftplan", "_FTPLAN_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [(item.type, item.value) for item in found]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["check", ""], "file"),
        (["check", "topology.yaml", "cl"], "file"),
        (["recovery-schedule", "--topology", "topo"], "file"),
        (["recovery-schedule", "--replicas", ""], "file"),
        (["recovery-schedule", "--stats", ""], "dir"),
        (["import-topology", ""], "file"),
        (["compute-stats", ""], "file"),
        (["report", ""], "file"),
        (["calibrate", ""], "file"),
        (["simulate", "recovery", ""], "file"),
        (["generate", "stats", "--output", ""], "dir"),
        (["allocate-checkpoints", "--copies", ""], None),
    ],
)
def test_names_of_files_are_left_to_the_shell(words: list[str], kind: str | None) -> None:
    assert [found for found, _ in completed(*words)] == ([kind] if kind else [])


def test_commands_options_and_their_words_are_completed() -> None:
    assert completed("rec") == [("plain", "recovery-schedule")]
    assert completed("simulate", "rec") == [("plain", "recovery")]
    assert ("plain", "--algorithm") in completed("recovery-schedule", "--al")
    assert ("plain", "local-search") in completed("recovery-schedule", "--algorithm", "l")

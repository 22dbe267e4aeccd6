"""What the drill reads can be run: no cluster is needed to see that."""

from __future__ import annotations

import click

from ftplan.cli.main import cli
from tests.live.flink.drill_commands import commands, plans


def test_every_command_is_one_that_there_is() -> None:
    """With options that it has: each is parsed as the command line would, and not run."""
    found = commands()
    assert [words[0] for words in found] == ["ftplan"] * len(found)
    names = set()
    for _, name, *args in found:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, name
        command.make_context(name, args)
        names.add(name)
    assert {"import-topology", "compute-stats", "calibrate", "allocate-checkpoints", "recovery-schedule"} <= names


def test_the_drill_makes_plans() -> None:
    assert len(plans()) >= 2

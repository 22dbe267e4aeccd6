"""What pages of commands generate: every command has its place, every option its row."""

from __future__ import annotations

import re

import click
import pytest

from docs.generate.commands import GROUPS, SHARED, algorithms, command_of, commands, options, shared_options, usage
from docs.generate.metrics import metrics
from docs.generate.option_rows import row
from ftplan.cli.main import COMMANDS, cli
from ftplan.cli.simulate import SUBCOMMANDS
from ftplan.planners.registry import rows
from tests.docs.blocks import pages
from tests.places import ROOT

#: Options on pages that are those of other programs.
OTHERS = {
    "--bootstrap-server", "--describe", "--execute", "--group", "--members", "--reassignment-json-file", "--throttle",
    "--verify",  # Kafka's tools
    "--find-links", "--no-cache-dir", "--no-index", "--upgrade", "--wheel-dir",  # pip
    "--documents", "--first", "--one",  # tests/fuzz
    "--conf", "--python", "--upmap",  # spark-submit, drill.py, osdmaptool
}  # fmt: skip
NAMES = [name for name in COMMANDS if name != "simulate"] + [f"simulate {name}" for name in SUBCOMMANDS]


def test_every_command_is_in_one_group() -> None:
    listed = "".join(commands(group) for group in GROUPS)
    for name in NAMES:
        assert listed.count(f"[`{name}`]({name.replace(' ', '-')}.md)") == 1, name


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_page(name: str) -> None:
    """With an example that runs, and its options."""
    page = f"commands/{name.replace(' ', '-')}.md"
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert text.startswith(f"# {name}\n")
    assert "```console\n$ " in text
    assert f"<!-- generate options: {name}" in text
    assert f"{name}: {page}" in (ROOT / "mkdocs.yml").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_told(name: str) -> None:
    _, command = command_of(name)
    told = usage(name) + options(name)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert f"`{max(parameter.opts, key=len)}`" in told, parameter.name
    for line in options(name).splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3, line


def options_of(command: click.Command, context: click.Context) -> set[str]:
    """Return the options of a command and of those below it."""
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return own.union(*(options_of(found, context) for name in below if (found := command.get_command(context, name))))


def test_pages_name_no_option_that_there_is_not() -> None:
    known = options_of(cli, click.Context(cli)) | {"--help"}
    named = {name for page in pages() for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*\b", page.read_text("utf-8"))}
    assert named - known <= OTHERS


def test_shared_options_are_told_once() -> None:
    told = "".join(shared_options(group) for group in SHARED)
    for flag in ("--cluster", "--seed", "--output", "--format", "--debug"):
        assert told.count(f"`{flag}`") == 1
    assert "| `--cluster`" not in options("recovery-schedule")
    assert "| `-o`, `--output` DIR | The folder" in options("collect")  # not what others say of it


def test_what_an_option_takes_is_told_in_words() -> None:
    context = click.Context(cli, show_default=True)
    choice = click.Option(
        ["--by"], type=click.Choice(["a", "b"]), default="a", help="How: a = at once; b = later, with --late."
    )
    said = row(choice, context)
    assert said is not None
    assert said.meaning == "How:<br>`a`: at once.<br>`b`: later, with `--late`.<br>Default: `a`."
    number = row(click.Option(["--n"], type=click.IntRange(1), default=2, help="How many | *."), context)
    assert number is not None
    assert number.meaning == r"How many \| \*. Default: `2`. At least 1."
    assert row(click.Argument(["file"]), context) is None


def test_planners_and_metrics_are_told() -> None:
    for planner in rows():
        assert f"| `{planner.name}`" in algorithms(planner.kind)
        assert metrics(planner.kind)


def test_what_there_is_not_is_an_error() -> None:
    for generator in (usage, options, algorithms, metrics):
        with pytest.raises(LookupError):
            generator("nothing")

"""Commands: their usage, their options, their planners, as ``--help`` and the registry have them."""

from __future__ import annotations

import inspect
import textwrap

import click

from docs.generate import option_rows
from docs.generate.option_rows import Row
from ftplan.cli.main import COMMANDS, cli
from ftplan.cli.options import SETTINGS
from ftplan.cli.simulate import SUBCOMMANDS
from ftplan.planners import registry

#: The groups of the list of commands; what stands in none is an error, so that a new command finds its place.
GROUPS: dict[str, tuple[str, ...]] = {
    "What you have": (
        "init", "check", "collect", "compute-stats", "stats-summary", "import-topology", "generate",
    ),
    "Plan": (
        "allocate-checkpoints", "replicate-tasks", "recovery-schedule", "rebalance", "scale-out", "drain-schedule",
        "peer-ring", "checkpoint-interval", "calibrate",
    ),
    "Try it": (
        "what-if", "simulate recovery", "simulate migration", "simulate scaling", "simulate ring",
    ),
    "Judge it": ("evaluate", "verify", "explain", "diff"),
    "Use it": ("export-plan", "report"),
    "About ftplan": ("algorithms", "schema", "doctor"),
}  # fmt: skip
#: Shared options, listed once: by the names that click has for them, in their groups.
SHARED: dict[str, tuple[str, ...]] = {
    "Inputs": (
        "topology", "cluster", "stats", "spread", "max_stats_age", "min_coverage", "failure", "fail",
    ),
    "Search": ("seed", "time_limit", "iterations"),
    "Answer": ("output", "force", "format"),
    "Messages": ("no_progress", "quiet", "verbose", "debug"),
}  # fmt: skip
#: Whose words for shared options are the usual ones; where a command has others, its page shows them.
USUAL = "recovery-schedule"


def command_of(name: str) -> tuple[click.Context, click.Command]:
    """Return a command, or a command of a group, with the context in which it speaks of itself."""
    context = click.Context(cli, info_name="ftplan", **SETTINGS)
    command: click.Command = cli
    for part in name.split():
        if not isinstance(command, click.Group) or (inner := command.get_command(context, part)) is None:
            raise LookupError(f"no command {name!r}")
        command = inner
        context = click.Context(command, info_name=part, parent=context)
    return context, command


def _paragraphs(text: str) -> str:
    """Return the help of a command as Markdown; blocks that click keeps as they are, but not those of examples."""
    blocks = []
    for block in inspect.cleandoc(text).split("\n\n"):
        kept = block.strip().removeprefix("\b").strip()
        if kept == block.strip():
            blocks.append(option_rows.escaped(kept))
        elif not kept.startswith("$ "):
            blocks.append(f"```text\n{textwrap.dedent(block.strip().removeprefix(chr(8))).strip()}\n```")
    return "\n\n".join(blocks)


def usage(name: str) -> str:
    """Return the line of usage and the description of a command."""
    context, command = command_of(name)
    words = " ".join(command.collect_usage_pieces(context))
    return f"```text\n{context.command_path} {words}\n```\n\n{_paragraphs(command.help or '')}".rstrip()


def _rows(name: str) -> list[Row]:
    context, command = command_of(name)
    found = [option_rows.row(parameter, context) for parameter in command.get_params(context)]
    return [row for row in found if row is not None and "--help" not in row.flags]


def options(name: str) -> str:
    """Return the options that a command has for itself as a table, and below it those that it shares with others."""
    usual = {row.name: row.meaning for row in _rows(USUAL)}
    known = [shared for group in SHARED.values() for shared in group]
    rows = _rows(name)
    common = [row for row in rows if row.name in known and row.meaning == usual[row.name]]
    own = [row for row in rows if row not in common]
    parts = [option_rows.table(own)] if own else []
    if common:
        listed = ", ".join(f"`{row.flags[-1]}`" for row in common)
        link = "[options that commands share](index.md#options-that-commands-share)"
        parts.append(f"{'Also the' if own else 'The'} {link}: {listed}.")
    return "\n\n".join(parts)


def shared_options(group: str) -> str:
    """Return the table of a group of options that commands share."""
    rows = {row.name: row for row in _rows(USUAL)}
    return option_rows.table([rows[name] for name in SHARED[group]])


def algorithms(name: str) -> str:
    """Return the planners of a command as a table: what each promises, and where it comes from."""
    lines = ["| algorithm | what it promises |", "|---|---|"]
    for row in registry.rows(name):
        default = " (default)" if row.default else ""
        lines.append(f"| `{row.name}`{default} | {option_rows.sentence(row.guarantee)}<br>From: {row.source} |")
    if len(lines) == 2:
        raise LookupError(f"no planners of {name!r}")
    return "\n".join(lines)


def commands(group: str) -> str:
    """Return the table of a group of commands, with links to their pages."""
    known = {name: text for name, (_, text) in COMMANDS.items() if name != "simulate"}
    known |= {f"simulate {name}": text for name, (_, text) in SUBCOMMANDS.items()}
    if lost := set(known).difference(*GROUPS.values()):
        raise LookupError(f"in no group of docs/generate/commands.py: {', '.join(sorted(lost))}")
    lines = ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`]({name.replace(' ', '-')}.md) | {known[name]} |" for name in GROUPS[group] if name in known]
    return "\n".join(lines)

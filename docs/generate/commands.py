"""Commands as their ``--help`` has them."""

from __future__ import annotations

import click

from ftplan.cli.main import cli


def _command(name: str) -> tuple[click.Context, click.Command]:
    """Return a command, or a command of a group, with the context in which it speaks of itself."""
    context = click.Context(cli, info_name="ftplan")
    command: click.Command = cli
    for part in name.split():
        if not isinstance(command, click.Group) or (inner := command.get_command(context, part)) is None:
            raise LookupError(f"no command {name!r}")
        command = inner
        context = click.Context(command, info_name=part, parent=context)
    return context, command


def usage(name: str) -> str:
    """Return the line of usage and the description of a command."""
    context, command = _command(name)
    words = " ".join(command.collect_usage_pieces(context))
    return f"```text\n{context.command_path} {words}\n```\n\n{command.help or ''}".rstrip()


def options(name: str) -> str:
    """Return the options of a command as a table: how they are written, and what they mean."""
    context, command = _command(name)
    rows = ["| option | meaning |", "|---|---|"]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            words, meaning = (part.replace("|", "\\|").replace("\n", " ") for part in record)
            rows.append(f"| `{words}` | {meaning} |")
    return "\n".join(rows)

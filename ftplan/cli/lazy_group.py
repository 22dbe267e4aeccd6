"""A group of commands that are imported when they are called, so that ``--help`` starts as fast as click allows."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from ftplan.errors import suggestion


class LazyGroup(click.Group):
    """A group that knows its commands by name.

    Parameters
    ----------
    table
        Command, module, what the list of commands says of it, in the order of that list. A module has one command,
        ``command``, or makes several by their names, ``command_of``.
    unknown
        What to say of a name that is none, with ``{name}`` and ``{near}`` for the name and the nearest known one.
    """

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], unknown: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._table, self._unknown = table, unknown

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in their order."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, None where there is none of that name."""
        if cmd_name not in self._table:
            return None
        module = importlib.import_module(self._table[cmd_name][0])
        command: click.Command = module.command if hasattr(module, "command") else module.command_of(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest."""
        if args and args[0] not in self._table and not args[0].startswith("-"):
            ctx.fail(self._unknown.format(name=repr(args[0]), near=suggestion(args[0], self._table)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._table.items()])

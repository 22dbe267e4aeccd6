"""``ftplan simulate``: a group whose commands are imported when they are called."""

from __future__ import annotations

import importlib

import click

from ftplan.cli.options import SETTINGS
from ftplan.errors import suggestion

#: Command, module, what the list of commands says of it.
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "recovery": ("ftplan.cli.simulate.recovery", "A failure and the recovery from it, batch by batch."),
    "tentative-output": (
        "ftplan.cli.simulate.tentative_output",
        "Two real queries without the tasks that have no replica: how much of the answer is left.",
    ),
}


class Simulations(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of :data:`SUBCOMMANDS`."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, None where there is none of that name."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = importlib.import_module(SUBCOMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest."""
        if args and args[0] not in SUBCOMMANDS and not args[0].startswith("-"):
            ctx.fail(f"nothing to simulate is called {args[0]!r}{suggestion(args[0], SUBCOMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in SUBCOMMANDS.items()])


@click.group("simulate", cls=Simulations, context_settings=SETTINGS)
def command() -> None:
    """See what happens, before it does: recoveries batch by batch, and the output that a failure leaves."""

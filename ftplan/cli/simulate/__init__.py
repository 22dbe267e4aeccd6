"""``ftplan simulate``: a group whose commands are imported when they are called."""

from __future__ import annotations

import click

from ftplan.cli.lazy_group import LazyGroup
from ftplan.cli.options import SETTINGS

#: Command, module, what the list of commands says of it.
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "migration": (
        "ftplan.cli.simulate.migration",
        "Key groups that move: a plan's moves message by message, or adaptation over time.",
    ),
    "recovery": ("ftplan.cli.simulate.recovery", "A failure and the recovery from it, batch by batch."),
    "ring": (
        "ftplan.cli.simulate.ring",
        "A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.",
    ),
    "scaling": (
        "ftplan.cli.simulate.scaling",
        "Operators that are split while they run: queues, latency and tasks over time.",
    ),
    "tentative-output": (
        "ftplan.cli.simulate.tentative_output",
        "Two real queries without the tasks that have no replica: how much of the answer is left.",
    ),
}


@click.group(
    "simulate",
    cls=LazyGroup,
    table=SUBCOMMANDS,
    unknown="nothing to simulate is called {name}{near}",
    context_settings=SETTINGS,
)
def command() -> None:
    """See what happens, before it does: recoveries, migrations, rings, scaling, the output after a failure."""

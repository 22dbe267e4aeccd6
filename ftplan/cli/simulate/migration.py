"""``ftplan simulate migration``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.simulate.simulated import simulated
from ftplan.simulation.migration.options import MigrationSimulationOptions


@options.command("simulate-migration")
@click.argument("plan", metavar="[PLAN]", required=False)
@options.inputs
@kind_options.of_options(MigrationSimulationOptions)
@options.output
@options.verbosity
def command(plan: str | None, **given: Any) -> int:
    """Simulate the migration of key groups.

    By default the moves of PLAN, a plan of kind rebalance, also one made by hand; - is standard input. Records, the
    protocols' messages, queues, upstream buffers, checkpoints and transfers are simulated at the rates of the
    statistics, phase by phase. Each move's pause and completion stand beside what formulas foretell of them, and every
    record is followed: exit code 1 where one is lost, counts twice or comes out of order.

    With --level trace no plan, but an adaptation over the load of the statistics: period by period it moves key groups
    away from overloaded nodes. Checkpoints are allocated on the first part of the windows, in several ways; the others
    tell how many moves they assist, how many copies are usable, and how long key groups are paused in all.

    \b
    $ ftplan simulate migration rebalance.json
    $ ftplan simulate migration rebalance.json --runs 20 --seed 7
    $ ftplan simulate migration --level trace --stats stats --runs 10
    """
    from ftplan.simulation.migration.simulate import simulate_migration
    from ftplan.simulation.migration.view import tables

    return simulated(plan, given, MigrationSimulationOptions, simulate_migration, tables)

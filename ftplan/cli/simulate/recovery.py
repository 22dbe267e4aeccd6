"""``ftplan simulate recovery``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.simulate.simulated import simulated
from ftplan.simulation.recovery.options import RecoverySimulationOptions


@options.command("simulate-recovery")
@click.argument("plan", metavar="[PLAN]", required=False)
@options.inputs
@options.failure
@kind_options.of_options(RecoverySimulationOptions)
@click.option("--plot", metavar="FILE", help="Draw what is back, latency, lag and buffers over time, as .svg or .png.")
@options.output
@options.verbosity
def command(plan: str | None, **given: Any) -> int:
    """Simulate a failure and the recovery from it, batch by batch.

    PLAN is a recovery schedule, also one made by hand; - is standard input. Without it one is made at each failure and
    arrival, with what is there by then. Needs a topology, a cluster with a placement, and what fails; a plan names its
    own.

    Sources' logs, queues, buffers, checkpoints, failures, their detection, restores and replay are simulated at the
    topology's rates. A query is available while its latency is below --threshold times its usual one.

    \b
    $ ftplan simulate recovery schedule.json --mode incremental --mode blocking --runs 100
    $ ftplan simulate recovery a.json --against b.json --runs 100 --costs recovery.yaml --plot recovery.svg
    """
    from ftplan.simulation.recovery.figure import recovery_simulation_figure
    from ftplan.simulation.recovery.simulate import simulate_recovery
    from ftplan.simulation.recovery.view import tables

    return simulated(plan, given, RecoverySimulationOptions, simulate_recovery, tables, recovery_simulation_figure)

"""``ftplan simulate scaling``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.simulate.simulated import simulated
from ftplan.simulation.scaling.options import ScalingSimulationOptions


@options.command("simulate-scaling")
@click.argument("plan", metavar="[PLAN]", required=False)
@options.inputs
@kind_options.of_options(ScalingSimulationOptions)
@click.option("--plot", metavar="FILE", help="Draw latency, queue, throughput and tasks over time, as .svg or .png.")
@options.output
@options.verbosity
def command(plan: str | None, **given: Any) -> int:
    """Simulate operators that are split while they run.

    PLAN is a scale-out, also one made by hand; - is standard input. Queues, latency, throughput and tasks over time
    show what carrying it out does, beside doing nothing and what else --mode asks for; each pause stands beside what
    formulas foretell.

    Without PLAN operators with keyed state get twice the tasks whenever their score says that they are bottlenecks: at
    the load of the statistics, or one that doubles again and again. Without a topology it is the job of the paper's
    experiment.

    Every batch of records is followed: exit code 1 where one is lost, counts twice or comes out of order.

    \b
    $ ftplan simulate scaling scale-out.json
    $ ftplan simulate scaling scale-out.json --mode none --mode planned --mode storm-restart --runs 20
    $ ftplan simulate scaling --load doubling --restart-at 680 --restart-at 1050 --plot scaling.svg
    """
    from ftplan.simulation.scaling.figure import scaling_simulation_figure
    from ftplan.simulation.scaling.simulate import simulate_scaling
    from ftplan.simulation.scaling.view import tables

    return simulated(plan, given, ScalingSimulationOptions, simulate_scaling, tables, scaling_simulation_figure)

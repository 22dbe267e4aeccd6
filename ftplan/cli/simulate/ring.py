"""``ftplan simulate ring``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.simulate.simulated import simulated
from ftplan.simulation.ring.options import RingSimulationOptions


@options.command("simulate-ring")
@click.argument("plan", metavar="[PLAN]", required=False)
@options.inputs
@options.failure
@kind_options.of_options(RingSimulationOptions)
@click.option("--plot", metavar="FILE", help="Draw queues, kept records, rates and latency over time, .svg or .png.")
@options.output
@options.verbosity
def command(plan: str | None, **given: Any) -> int:
    """Simulate a peer ring at work, batch by batch.

    PLAN is a peer ring, also one made by hand; - is standard input. Without it nodes stand at even or random places;
    what is missing of a cluster and a topology is assumed: nodes and key groups that are alike.

    Mappers with clocks of their own, queues, copies, asynchronous incremental checkpoints, detection, take-over, replay
    and full copies to new backups are simulated; with --balance load moves to neighbours, and spares join.

    Every batch of records is followed through every copy: exit code 1 where one is lost though a copy should have been
    left. Records may count twice; they are counted.

    \b
    $ ftplan simulate ring ring.json --fail zone:rack-a --runs 20
    $ ftplan simulate ring --nodes 12 --fail node:n1 --fail node:n7 --format table
    $ ftplan simulate ring --nodes 3 --hot 3 --balance --until 10m --plot ring.svg
    """
    from ftplan.simulation.ring.figure import ring_simulation_figure
    from ftplan.simulation.ring.simulate import simulate_peer_ring
    from ftplan.simulation.ring.view import tables

    return simulated(plan, given, RingSimulationOptions, simulate_peer_ring, tables, ring_simulation_figure)

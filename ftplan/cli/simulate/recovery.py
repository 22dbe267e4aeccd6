"""``ftplan simulate recovery``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.api.simulating.options import RecoverySimulationOptions
from ftplan.cli import kind_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import Answer, check_output, emit_answer, say, warn


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
    from ftplan.cli.inputs import simulation_inputs
    from ftplan.cli.simulate.recovery_view import tables

    check_output(given["output"], given["force"])
    if given["plot"] is not None:
        from ftplan.api.plot import check_plot

        check_plot(given["plot"], given["force"])
    source, problem = simulation_inputs(plan, given)
    from ftplan.api.simulating.simulate import simulate_recovery

    asked = kind_options.asked(RecoverySimulationOptions, given)
    with progress("simulating", hidden=given["no_progress"] or given["quiet"]) as report:
        answer = simulate_recovery(problem, source, progress=report, **asked)
    warn(answer.warnings, quiet=given["quiet"])
    text, document = answer.to_json(), answer.to_dict()
    if given["plot"] is not None:
        from ftplan.api.plot import write_figure
        from ftplan.reports.recovery_simulation_plot import recovery_simulation_figure

        write_figure(recovery_simulation_figure(document), given["plot"], given["force"])
    emit_answer(Answer(text, tables(document)), given)
    if answer.unmet is not None:
        say(answer.unmet)
        return 1
    return 0

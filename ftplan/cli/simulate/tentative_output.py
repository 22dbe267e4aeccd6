"""``ftplan simulate tentative-output``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import kind_options, log_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_outputs, emit_answer, say, warn
from ftplan.reports.answer import Answer
from ftplan.simulation.registry import BY_NAME
from ftplan.simulation.tentative_output.options import READING, TentativeOutputOptions
from ftplan.spark_stats.log_formats import NAMED_COLUMNS


@options.command("simulate-tentative-output", alternatives=(("replicas", "ratios"),))
@click.argument("logs", nargs=-1, metavar="[LOG...]")
@kind_options.of_options(TentativeOutputOptions)
@click.option(
    "--input-format",
    type=click.Choice(NAMED_COLUMNS),
    default="auto",
    help="What LOG is; auto: by ending.",
)
@log_options.pattern
@log_options.fields
@log_options.moments
@log_options.span
@log_options.engine
@click.option("--topology-output", metavar="FILE", help="Also write the query as a topology, with its measured rates.")
@click.option("--plot", metavar="FILE", help=BY_NAME["tentative-output"].plot)
@options.output
@options.verbosity
def command(logs: tuple[str, ...], **given: Any) -> None:
    """Run a query without the tasks that have no replica, and see how much of its answer is left.

    A query really runs, on PySpark: first as it is, which gives the rates of its tasks, then without what passes a task
    that has no replica, as if all these had failed. Accuracy is the part of the entries in all windows that are still
    there. It is held against what output fidelity, key-aligned fidelity and internal completeness foretold from rates:
    which one ranks sets of replicas as the query does, and which one is nearest.

    Replicas are those of a plan (--replicas), or chosen for each of --ratios by each --algorithm and --metric.

    \b
    $ ftplan simulate tentative-output --rate 2000 --users 10000
    $ ftplan simulate tentative-output edits.json.gz --time-column time --key-column page --partition-column channel
    """
    from ftplan.simulation.tentative_output.simulate import simulate_tentative_output
    from ftplan.simulation.tentative_output.view import notes, tables

    for path in (given["output"], given["topology_output"] or "-"):
        check_outputs({"output": path, "force": given["force"], "plot": given["plot"]})
    reading = {name: given[name] for name in READING}
    reading |= {name: log_options.utc(given[name]) for name in ("time_from", "time_to")}
    with progress("running the query", hidden=given["no_progress"] or given["quiet"]) as report:
        answer = simulate_tentative_output(
            logs,
            engine=given["engine"],
            master=given["master"],
            progress=report,
            **(reading if logs else {}),
            **kind_options.asked(TentativeOutputOptions, given),
        )
    say(f"engine: {answer.engine}", quiet=given["quiet"])
    warn(answer.warnings, quiet=given["quiet"])
    document = answer.to_dict()
    if given["topology_output"] is not None:
        from ftplan.io.model_entries import document_text
        from ftplan.io.output import write_text

        said = f"ftplan simulate tentative-output: the query {answer.query}, with the rates that it had"
        text = document_text(answer.topology, given["topology_output"], said)
        write_text(given["topology_output"], text, given["force"])
    if given["plot"] is not None:
        from ftplan.reports.plot_file import write_figure
        from ftplan.simulation.tentative_output.figure import simulation_figure

        write_figure(simulation_figure(document), given["plot"], given["force"])
    emit_answer(Answer(answer.to_json(), tables(document), notes(document)), given)

"""What all commands of ``ftplan simulate`` that take a plan do: read inputs, simulate, draw, and print the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ftplan.cli import kind_options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_output, emit_answer, say, warn
from ftplan.io.options.fields import Options
from ftplan.reports.answer import Answer, Table


def simulated(
    plan: str | None,
    given: Mapping[str, Any],
    options: type[Options],
    simulate: Callable[..., Any],
    tables: Callable[[Mapping[str, Any]], list[Table]],
    drawn: Callable[[Mapping[str, Any]], Any] | None = None,
) -> int:
    """Simulate and print what came out; return the exit code, 1 where something was asked for that does not hold.

    Parameters
    ----------
    given
        All values from the command line.
    simulate
        Takes the problem, the plan and the options; its answer is that of a simulation.
    tables, drawn
        Make tables, and the figure for ``--plot``, of the answer's document.
    """
    from ftplan.cli.inputs import simulation_inputs

    check_output(given["output"], given["force"])
    path = given.get("plot")
    if path is not None:
        from ftplan.reports.plot_file import check_plot

        check_plot(path, given["force"])
    source, problem = simulation_inputs(plan, given)
    asked = kind_options.asked(options, given)
    with progress("simulating", hidden=given["no_progress"] or given["quiet"]) as report:
        answer = simulate(problem, source, progress=report, **asked)
    warn(answer.warnings, quiet=given["quiet"])
    text, document = answer.to_json(), answer.to_dict()
    if path is not None and drawn is not None:
        from ftplan.reports.plot_file import write_figure

        write_figure(drawn(document), path, given["force"])
    emit_answer(Answer(text, tables(document)), given)
    if answer.unmet is not None:
        say(answer.unmet)
        return 1
    return 0

"""``ftplan simulate``: a group of commands from the rows of the simulations, each made when it is called."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.lazy_group import LazyGroup
from ftplan.simulation.registry import BY_NAME, SimulationRow, simulate

#: Command, module, what the list of commands says of it.
SUBCOMMANDS: dict[str, tuple[str, str]] = {name: (__name__, row.summary) for name, row in sorted(BY_NAME.items())}


class SimulationGroup(LazyGroup):
    """A command for each simulation, made from its row."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, None where there is none of that name."""
        row = BY_NAME.get(cmd_name)
        return super().get_command(ctx, cmd_name) if row is None else _command_of(row)


@click.group(
    "simulate",
    cls=SimulationGroup,
    table=SUBCOMMANDS,
    unknown="nothing to simulate is called {name}{near}",
    context_settings=options.SETTINGS,
)
def command() -> None:
    """See what happens, before it does: recoveries, migrations, rings, scaling."""


def _command_of(row: SimulationRow) -> click.Command:
    """Return the command of a simulation; its options are those of the simulation's dataclass."""
    from ftplan.cli import kind_options

    parts = options.together(
        click.argument("plan", metavar="[PLAN]", required=False),
        options.inputs,
        *((options.failure,) if row.takes_failure else ()),
        kind_options.of_options(row.part("options:OPTIONS")),
        *((click.option("--plot", metavar="FILE", help=row.plot),) if row.plot else ()),
        options.output,
        options.verbosity,
    )

    def simulated(plan: str | None, **given: Any) -> int:
        return _simulated(row, plan, given)

    simulated.__doc__ = textwrap.indent(row.part("options:HELP"), "    ").lstrip()  # as docstrings are
    return options.command(f"simulate-{row.name}")(parts(simulated))


def _simulated(row: SimulationRow, plan: str | None, given: Mapping[str, Any]) -> int:
    """Read inputs, simulate, draw and print what came out, of all values from the command line.

    Returns the exit code: 1 where something was asked for that does not hold.
    """
    from ftplan.cli import kind_options
    from ftplan.cli.inputs import simulation_inputs
    from ftplan.cli.progress import progress
    from ftplan.cli.render import check_outputs, emit_answer, say, warn
    from ftplan.reports.answer import Answer

    check_outputs(given)
    path = given.get("plot")
    source, problem = simulation_inputs(plan, given)
    wanted = kind_options.asked(row.part("options:OPTIONS"), given)
    with progress("simulating", hidden=given["no_progress"] or given["quiet"]) as report:
        answer = simulate(row.name, problem, source, progress=report, **wanted)
    warn(answer.warnings, quiet=given["quiet"])
    text, document = answer.to_json(), answer.to_dict()
    if path is not None:
        from ftplan.reports.plot_file import write_figure

        write_figure(row.part("view:simulation_figure")(document), path, given["force"])
    emit_answer(Answer(text, row.part("view:tables")(document)), given)
    if answer.unmet is not None:
        say(answer.unmet)
        return 1
    return 0

"""``ftplan export-plan``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.api.exporting import ExportOptions
from ftplan.cli import kind_options, options
from ftplan.cli.render import check_outputs, say, warn
from ftplan.engines.registry import targets

_ABOUT = "\n\n".join(
    f"{target.name}: {target.gives}. Takes {', '.join(target.kinds) if target.name != 'csv' else 'every kind'}. "
    f"It can be told: {target.told}. It cannot: {target.untold}."
    for target in targets().values()
)


@options.command("export-plan")
@click.argument("plan", metavar="PLAN")
@click.option("--to", type=click.Choice(list(targets())), required=True, help="What to write; see below.")
@options.topology
@options.cluster
@kind_options.of_options(ExportOptions)
@click.option("-o", "--output", default="-", metavar="FILE", help="Write here; - is standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
@options.verbosity
def command(plan: str, **given: Any) -> None:
    """Write a plan in the words of an engine.

    What the engine cannot be told stands in warnings: on standard error, and in YAML at the head of the file. Topology
    and cluster are read from the paths that the plan names, where they are unchanged, unless -t and -c say otherwise.
    """
    import sys

    import ftplan
    from ftplan.cli.inputs import inputs_asked
    from ftplan.io.output import write_text

    check_outputs(given)
    inputs = {role: source for role, source in inputs_asked(given).items() if role in ("topology", "cluster")}
    made = ftplan.export_plan(plan, given["to"], **inputs, **kind_options.asked(ExportOptions, given))
    warn(made.warnings, quiet=given["quiet"])
    if given["output"] == "-":
        sys.stdout.write(made.text)
        return
    write_text(given["output"], made.text, given["force"])
    say(f"wrote {given['output']}", quiet=given["quiet"])


command.epilog = _ABOUT

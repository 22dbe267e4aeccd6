"""``ftplan generate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.environment import SOURCES
from ftplan.cli.progress import progress
from ftplan.cli.render import check_outputs, emit, say
from ftplan.generators.options import OPTIONS
from ftplan.generators.presets import PRESETS
from ftplan.reports.answer import Answer


class Kinds(click.Group):
    """The kinds in the order in which one needs the other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in this order."""
        return list(OPTIONS)


@click.group("generate", cls=Kinds, context_settings=options.SETTINGS)
def command() -> None:
    """Make topologies, clusters, statistics and failures at random, as the papers' experiments do.

    Equal options and seed give the same bytes. Numbers may be ranges such as 2-8: then they are drawn. --like takes the
    settings of an experiment; options win over them.

    \b
    $ ftplan generate topology --operators 20 --joins 0.2 -o topology.yaml
    $ ftplan generate cluster -t topology.yaml --zones 6 --copies 1 -o cluster.yaml
    $ ftplan generate stats -t topology.yaml --camps 2 -o stats
    $ ftplan generate failure -c cluster.yaml --fail zones -o failure.yaml
    """


def _subcommand(what: str, *inputs: Callable[..., Any]) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes the command of one kind, its options from the kind's dataclass."""
    to_folder = click.option("-o", "--output", metavar="DIR", help="The folder to write.")
    where = "Write here, YAML if it ends in .yaml, else JSON; - is standard output."
    to_file = click.option("-o", "--output", default="-", metavar="FILE", help=where)
    parts = options.together(
        *inputs,
        kind_options.knobs(OPTIONS[what], PRESETS[what]),
        to_folder if what == "stats" else to_file,
        click.option("--force", is_flag=True, help="Overwrite an existing output."),
        options.verbosity,
    )

    def decorate(function: Callable[..., Any]) -> click.Command:
        made = options.command(f"generate-{what}")(parts(function))
        made.epilog = "\b\nExperiments for --like:\n" + "\n".join(
            f"{name}: {preset.source}" for name, preset in PRESETS[what].items()
        )
        command.add_command(made, what)
        return made

    return decorate


def _generate(what: str, given: dict[str, Any]) -> None:
    """Generate, and write or print."""
    check_outputs(given)
    import ftplan
    from ftplan.model.plan import canonical_json

    context = click.get_current_context()
    kind = OPTIONS[what]
    said = {
        name: value
        for name, value in kind_options.asked(kind, given).items()
        if context.get_parameter_source(kind_options.parameter_of(name, kind.options()[name])) in SOURCES
    }
    inputs = {name: given[name] for name in ("topology", "cluster") if given.get(name) is not None}
    to_file = given["output"] != "-"
    said |= {"output": given["output"] if to_file else None, "force": given["force"], "like": given["like"]}
    with progress("generating", hidden=given["no_progress"] or given["quiet"]):
        document = ftplan.generate(what, **inputs, **said)
    if to_file:
        say(f"wrote {given['output']}: {_summary(what, document)}", quiet=given["quiet"])
    else:
        emit(Answer(canonical_json(document)), form="json")


def _summary(what: str, document: dict[str, Any]) -> str:
    """Return what a document holds, in a line."""
    if what == "topology":
        tasks = sum(operator["parallelism"] for operator in document["operators"])
        return f"{len(document['operators']):,} operators, {tasks:,} tasks, {len(document['edges']):,} edges"
    if what == "cluster":
        placed = sum(map(len, document.get("placement", {}).get("tasks", {}).values()))
        cores = sum(node["cpu"] for node in document["nodes"])
        zones = len(document.get("zones", ()))
        return f"{len(document['nodes']):,} nodes in {zones:,} zones, {cores:,.6g} cores, {placed:,} tasks placed"
    if what == "stats":
        rows = {name: table.num_rows for name, table in document.items() if name != "manifest"}
        return f"{document['manifest']['windows']:,} windows, " + ", ".join(
            f"{n:,} rows of {k}" for k, n in rows.items()
        )
    parts = ((name, len(document.get(name, ()))) for name in ("fail", "arrivals", "scenarios"))
    return ", ".join(f"{count:,} {'failures' if name == 'fail' else name}" for name, count in parts)


@_subcommand("topology")
def topology(**given: Any) -> None:
    """Make a topology: operators of a shape, their tasks, and what these emit, cost and hold."""
    _generate("topology", given)


@_subcommand("cluster", options.topology)
def cluster(**given: Any) -> None:
    """Make a cluster, with the tasks of a topology on it where -t names one."""
    _generate("cluster", given)


@_subcommand("stats", options.topology)
def stats(**given: Any) -> None:
    """Make a statistics folder: sizes of key groups, cycles, and who rises and falls with whom."""
    if given["output"] in (None, "-"):
        raise click.UsageError("-o DIR is missing: statistics are a folder")
    _generate("stats", given)


@_subcommand("failure", options.topology, options.cluster)
def failure(**given: Any) -> None:
    """Make a failure of a cluster: what fails, which nodes arrive in its place, and alternatives."""
    _generate("failure", given)

"""``ftplan import-topology``."""

from __future__ import annotations

import sys
from typing import Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.render import emit, say, warn
from ftplan.engines.importing.draft import Imported, ImportOptions
from ftplan.engines.registry import importers
from ftplan.reports.answer import Answer, Table
from ftplan.reports.numbers import count

#: Rows of a table that are shown.
MOST_ROWS = 60


@options.command("import-topology")
@click.argument("source", nargs=-1, required=True, metavar="FILE|FOLDER|URL...")
@click.option("--from", "engine", required=True, type=click.Choice(list(importers())), help="Whose answers these are.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Write the topology here; - is standard output.")
@click.option(
    "--cluster-output", metavar="FILE", help="Write the cluster here: hosts, their zones, what runs where now."
)
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
@options.form
@kind_options.of_options(ImportOptions)
@options.verbosity
def command(source: tuple[str, ...], engine: str, **given: Any) -> None:
    """Turn what an engine says of a job into a topology, and into a cluster.

    Takes saved answers (files, a folder), a folder that ftplan collect wrote, or the URL of the engine's REST endpoint.
    Files are YAML if their name ends in .yaml, else JSON. What the engine does not say is assumed, and each assumption
    is a warning; --strict makes it an error. Beside the topology it writes an ftplan.toml that names both files, unless
    there is one.

    \b
    {engines}

    \b
    $ ftplan import-topology http://localhost:8081 --from flink -o topology.yaml --cluster-output cluster.yaml
    $ ftplan import-topology wordcount.yaml --from storm -o topology.yaml
    $ ftplan import-topology describe.txt log-dirs.txt --from kafka-streams --partitions 12 -o topology.yaml
    """
    import ftplan
    from ftplan.model.plan import canonical_json

    to_file = None if given["output"] == "-" else given["output"]
    imported = ftplan.import_topology(
        source,
        engine,
        output=to_file,
        cluster_output=given["cluster_output"],
        force=given["force"],
        **kind_options.asked(ImportOptions, given),
    )
    if given["cluster_output"] is not None:
        assert imported.cluster is not None
        nodes = imported.cluster["nodes"]
        zones = {node["zone"] for node in nodes if "zone" in node}
        text = f"{count(len(nodes), 'node')} in {count(len(zones), 'zone')}" if zones else count(len(nodes), "node")
        say(f"wrote {given['cluster_output']}: {text}", quiet=given["quiet"])
    operators, edges = imported.topology["operators"], imported.topology["edges"]
    if to_file is not None:
        tasks = sum(operator["parallelism"] for operator in operators)
        text = f"{count(len(operators), 'operator')}, {count(tasks, 'task')}, {count(len(edges), 'edge')}"
        say(f"wrote {to_file}: {text}", quiet=given["quiet"])
        _name_inputs(to_file, given["cluster_output"], given["quiet"])
        warn((*imported.assumptions, *imported.notes), quiet=given["quiet"])
        return
    form = given["format"] or ("table" if sys.stdout.isatty() else "json")
    warn(imported.notes if form != "json" else (*imported.assumptions, *imported.notes), quiet=given["quiet"])
    emit(Answer(canonical_json(imported.topology), _tables(imported)), form=form)


def _name_inputs(topology: str, cluster: str | None, quiet: bool) -> None:
    """Write an ``ftplan.toml`` beside a topology, with which commands find it, unless there is one for that folder."""
    import os
    from pathlib import Path

    from ftplan.io.configuration import FILE_NAME, configuration_of
    from ftplan.io.documents import display_name
    from ftplan.io.output import write_text
    from ftplan.io.starter import configuration_text

    folder = Path(topology).parent
    if not os.path.isfile(topology):
        return
    given = {"topology": topology} if cluster is None else {"topology": topology, "cluster": cluster}
    inputs = {role: Path(os.path.relpath(path, folder)).as_posix() for role, path in given.items()}
    text = configuration_text(inputs)
    if (known := configuration_of(folder)) is not None:
        if known.read_text("utf-8", errors="replace") != text:
            say(f"{display_name(known)} is there already and stays as it is", quiet=quiet)
        return
    write_text(folder / FILE_NAME, text)
    flags = ", ".join(f"-{role[0]}" for role in inputs)
    say(f"wrote {folder / FILE_NAME}: commands in its folder need no {flags}", quiet=quiet)


_WIDTH = max(map(len, importers()))
assert command.help is not None
command.help = command.help.format(
    engines="\n    ".join(f"{name:{_WIDTH}}  {row.takes}" for name, row in importers().items())
)


def _tables(imported: Imported) -> list[Table]:
    operators, edges = imported.topology["operators"], imported.topology["edges"]
    rows = [
        (
            operator["id"],
            operator.get("name"),
            operator["parallelism"],
            operator.get("key_groups"),
            operator.get("inputs", "independent") if any(e["to"] == operator["id"] for e in edges) else "source",
            _mean(operator.get("cpu")),
            _mean(operator.get("state_bytes")),
        )
        for operator in operators[:MOST_ROWS]
    ]
    streams = [(e["from"], e["to"], e.get("partitioning", "measured")) for e in edges[:MOST_ROWS]]
    assumed = [(warning.code, warning.message) for warning in imported.assumptions]
    more = [
        f"{name}, the first {MOST_ROWS} of {len(all_):,}" if len(all_) > MOST_ROWS else name
        for name, all_ in (("Operators", operators), ("Edges", edges))
    ]
    columns = ("operator", "name", "tasks", "key groups", "inputs", "cpu", "state bytes")
    tables = [Table(columns, rows, more[0]), Table(("from", "to", "partitioning"), streams, more[1])]
    return [*tables, Table(("assumption", "what"), assumed, "Assumed")] if assumed else tables


def _mean(value: Any) -> float | None:
    """Return the mean over tasks of a number, or of a list of them."""
    return sum(value) / len(value) if isinstance(value, list) else value

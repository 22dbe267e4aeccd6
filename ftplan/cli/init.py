"""``ftplan init``."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from ftplan.cli import options
from ftplan.cli.render import say, warn
from ftplan.model.defaults import MAX_SUBSTREAMS


@options.command("init")
@click.option("--stats", metavar="DIR", help="Take operators, streams, rates and nodes from a statistics folder.")
@click.option(
    "--max-substreams",
    type=click.IntRange(min=0),
    default=MAX_SUBSTREAMS,
    metavar="N",
    help="Most measured substreams that an edge lists; one with more is written as full, with input_share.",
)
@click.option("-o", "--output", default=".", metavar="DIR", help="The folder to write into.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@options.verbosity
def command(stats: str | None, max_substreams: int, output: str, force: bool, **given: Any) -> None:
    """Write starter files: topology.yaml, cluster.yaml and ftplan.toml, ready to edit.

    An ftplan.toml that is there stays as it is, with --force too.
    """
    from pathlib import Path

    from ftplan.io.configuration import FILE_NAME
    from ftplan.io.output import refuse_existing, write_text
    from ftplan.io.starter import starter_files

    if click.get_current_context().get_parameter_source("stats") is ParameterSource.DEFAULT_MAP:
        stats = None  # those of a project that is there already: its ftplan.toml names them for other commands
    files, warnings = starter_files(stats, output, max_substreams)
    warn(warnings, quiet=given["quiet"])
    Path(output).mkdir(parents=True, exist_ok=True)
    configuration = Path(output) / FILE_NAME
    kept = configuration.exists() and files.pop(FILE_NAME) is not None
    for name in files:
        refuse_existing(Path(output) / name, force)
    if kept:
        say(f"{configuration} is there already and stays as it is", quiet=given["quiet"])
    for name, text in files.items():
        write_text(Path(output) / name, text, force)
        say(f"wrote {Path(output) / name}", quiet=given["quiet"])

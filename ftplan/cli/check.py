"""``ftplan check``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import emit, say, warn
from ftplan.errors import FtplanError
from ftplan.reports.answer import Answer, Table


@options.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", type=click.Choice(["json", "table", "markdown"]), help="How standard output looks.")
@click.option(
    "--projects",
    is_flag=True,
    help="Files of several projects: hold each against the topology and the cluster that the nearest ftplan.toml "
    "above it names, and check these too.",
)
@click.option("--skip-others", is_flag=True, help="Pass over files that state no format of ftplan's.")
@options.verbosity
def command(files: tuple[str, ...], **given: Any) -> int:
    """Validate input files: topologies, clusters, failures, statistics folders, plans.

    A cluster, a failure or statistics are also held against a topology that is named in the same call. Every file is
    read; the exit code is 2 if any is invalid.
    """
    from ftplan.api.checking import check_files, check_projects, ours
    from ftplan.model.plan import canonical_json

    read = ours(files) if given["skip_others"] else files
    if not read:
        say(f"none of {len(files)} files states a format of ftplan's", quiet=given["quiet"])
    checked, errors = check_projects(read) if given["projects"] else check_files(read)
    for item in checked:
        warn(item.warnings, quiet=given["quiet"])
    rows = [(c.name, c.kind, ", ".join(f"{v} {k}" for k, v in c.summary.items()), len(c.warnings)) for c in checked]
    mistakes = [text for error in errors for text in error.messages]
    document = {
        "files": [
            {"name": c.name, "kind": c.kind, "summary": c.summary, "warnings": [w.to_dict() for w in c.warnings]}
            for c in checked
        ],
        "errors": mistakes,
    }
    tables = [Table(("file", "kind", "holds", "warnings"), rows)] if rows else []
    emit(Answer(canonical_json(document), tables), form=given["format"])
    for text in mistakes:
        say(text)
    return FtplanError.exit_code if errors else 0

"""``ftplan schema``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit
from ftplan.io import schemas
from ftplan.reports.answer import Answer


@options.command("schema")
@click.argument("kind", type=click.Choice(schemas.KINDS))
@click.option("-o", "--output", default="-", metavar="FILE", help="Write JSON here; - is standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
@options.verbosity
def command(kind: str, **given: Any) -> None:
    """Print the JSON Schema of a kind of file, for editors and other tools."""
    from ftplan.model.plan import canonical_json

    check_outputs(given)
    emit(
        Answer(canonical_json(schemas.schema(kind))),
        output=given["output"],
        form="json",
        force=given["force"],
        quiet=True,
    )

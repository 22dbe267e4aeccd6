"""``ftplan report``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, say

#: Bytes of a page that a phone still likes.
LARGE = 2_000_000


@options.command("report")
@click.argument("documents", nargs=-1, required=True, metavar="PLAN... [WHAT-IF...] [EVALUATION...]")
@options.topology
@options.cluster
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FILE",
    help="Draw how the gap of a plan closed; repeatable, in the plans' order.",
)
@click.option("--title", metavar="TEXT", help="Of the page.  [default: that of the plan]")
@click.option(
    "--max-tasks",
    type=click.IntRange(0, 2000),
    default=400,
    metavar="N",
    help="Fold a topology of more tasks by operator.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Write HTML here; - is standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
@options.verbosity
def command(documents: tuple[str, ...], **given: Any) -> None:
    """Write one HTML page about plans: how good they are proven to be, what they do, what was assumed.

    The page needs no network: topology, timeline, curves and tables stand in the one file. What each file is, its
    format says. Topology and cluster are read from the paths that a plan names, unless -t and -c say otherwise.
    """
    import sys

    import ftplan
    from ftplan.cli.inputs import asked_roles
    from ftplan.io.output import write_text

    if given["output"] == "-" and sys.stdout.isatty():
        raise click.UsageError("a page is not for a terminal: give -o FILE, such as -o plan.html")
    check_outputs(given)
    html = ftplan.report(
        list(documents),
        title=given["title"],
        **{role: given[role] for role in asked_roles() & {"topology", "cluster"}},
        max_tasks=given["max_tasks"],
        traces=given["traces"],
    )
    size = len(html.encode())
    if size > LARGE:
        say(f"the page has {size / 2**20:.1f} MiB: --max-tasks folds topologies, or report on fewer plans at once")
    if given["output"] == "-":
        sys.stdout.write(html)
        return
    write_text(given["output"], html, given["force"])
    say(f"wrote {given['output']}: {size / 1000:,.0f} kB", quiet=given["quiet"])

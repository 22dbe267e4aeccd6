"""Where answers go: JSON, a table or Markdown on standard output, a file whole or not at all, the rest on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import IO, Any

import click

from ftplan.errors import printable, shortened
from ftplan.reports.answer import Answer, markdown

#: Columns of a table that goes to a file or a pipe: nothing is cut off or wrapped there.
WIDE = 10_000
#: What stands for characters that a terminal does not have.
_PLAIN = str.maketrans({"–": "-", "…": "...", "±": "+-", "·": ".", "█": "#", "▒": "=", "░": "_", "─": "-"})


def _print_tables(answer: Answer, form: str, stream: IO[str]) -> None:
    if form == "markdown":
        parts = [markdown(table) for table in answer.tables] + [f"{printable(note)}\n" for note in answer.notes]
        stream.write(_shown("\n".join(parts), stream))
        return
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from ftplan.cli.table_width import parts_of

    terminal = stream.isatty()
    console = Console(file=stream, highlight=False, width=None if terminal else WIDE)
    with console.capture() as captured:
        for table in answer.tables:
            if table.title is not None:  # above the table, not of it: it may be wider; without markup and emoji
                console.print(Text(printable(table.title), style="bold"))
            for part in parts_of(table, console.width):
                shown = RichTable(box=None, pad_edge=False)
                for name, width, right in zip(part.columns, part.widths, part.right, strict=True):
                    shown.add_column(
                        Text(printable(name)),
                        justify="right" if right else "left",
                        min_width=width,
                        max_width=width,
                        overflow="fold",
                    )
                for row in part.rows:
                    shown.add_row(*map(Text, row))
                console.print(shown)
                console.print()
        for note in answer.notes:
            console.print(Text(printable(note)))
    text = captured.get()
    if not terminal:
        text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    stream.write(_shown(text, stream))


def _shown(text: str, stream: IO[str]) -> str:
    """Return a text with plain characters where the stream takes no others."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def say(text: str, *, quiet: bool = False) -> None:
    """Say something beside the answer, on standard error."""
    if not quiet:
        click.echo(f"ftplan: {shortened(text)}", err=True)


def warn(warnings: Iterable[Any], *, quiet: bool = False) -> None:
    """Print each warning (with ``code`` and ``message``) as one line on standard error."""
    for warning in warnings:
        say(f"warning: {warning.message} [{warning.code}]", quiet=quiet)


def check_outputs(given: Mapping[str, Any]) -> None:
    """Refuse outputs that exist, and pictures that cannot be drawn, before any work.

    Raises FtplanError if one of the files exists and ``--force`` was not given, or ``--plot`` names no picture.
    """
    for name in ("output", "predictions", "trace"):
        if given.get(name) not in (None, "-"):
            from ftplan.io.output import refuse_existing

            refuse_existing(given[name], given["force"])
    if given.get("plot") is not None:
        from ftplan.reports.plot_file import check_plot

        check_plot(given["plot"], given["force"])


def emit(
    answer: Answer, *, output: str = "-", form: str | None = None, force: bool = False, quiet: bool = False
) -> None:
    """Write the answer.

    On standard output: in the form asked for, else a table on a terminal and JSON in a pipe. With a file: the file
    is JSON (or ``answer.data``), standard output stays empty, and the tables go to standard error.

    Raises OutputError if the file cannot be written; nothing is left half-written.
    """
    if output != "-":
        from ftplan.io.output import write_bytes

        write_bytes(output, answer.json.encode() if answer.data is None else answer.data, force)
        if not quiet:
            _print_tables(answer, form if form == "markdown" else "table", sys.stderr)
        return
    chosen = form or ("table" if sys.stdout.isatty() else "json")
    if chosen == "json":
        sys.stdout.write(answer.json)
    else:
        _print_tables(answer, chosen, sys.stdout)
    sys.stdout.flush()


def emit_answer(answer: Answer, given: Mapping[str, Any]) -> None:
    """Write the answer where and how a command's options say; see :func:`emit`."""
    others = "--rows all shows them" if "rows" in given else "the JSON has all"
    rows = sys.maxsize if given.get("rows") == "all" else given.get("rows")
    answer = replace(answer, tables=[table.first(rows, others) for table in answer.tables])
    emit(answer, output=given["output"], form=given["format"], force=given["force"], quiet=given["quiet"])

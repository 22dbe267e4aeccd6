"""Man pages and completions of the command line, as files that an installation puts where shells and ``man`` look.

``python -m docs.generate.manual FOLDER`` writes them; the build of a wheel does, and needs nothing but click for it.
Nothing in them depends on the day or on the terminal, so that the same version always builds the same wheel.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from ftplan import __version__
from ftplan.cli.main import cli

#: Where each shell looks for what it completes with, below ``share`` of the prefix.
COMPLETIONS = {
    "bash": "bash-completion/completions/ftplan",
    "zsh": "zsh/site-functions/_ftplan",
    "fish": "fish/vendor_completions.d/ftplan.fish",
}
_CODES = (
    ("0", "Answered."),
    ("1", "The answer is no: there is no such plan, a rule is broken, a limit is not kept."),
    ("2", "A mistake in what was given; one line on standard error says which and what would be right."),
    ("3", "With --detailed-exitcode: the plan changes something."),
    ("70", "A fault of ftplan."),
    ("74", "The disk or the pipe failed; nothing is left half-written."),
    ("130", "Interrupted."),
)
_ENVIRONMENT = (
    "Every option has a variable: FTPLAN_COMMAND_OPTION, such as FTPLAN_RECOVERY_SCHEDULE_MAX_CPU. Options that all "
    "commands spell alike, such as --format, --seed and --time-limit, also have FTPLAN_OPTION. The command line wins "
    "over the environment, and the environment over ftplan.toml."
)
_FILES = "Defaults of a project, in the working folder or the nearest of its parents that has one."


def installed_files() -> dict[str, str]:
    """Return all man pages and completions: where they stand below ``share`` of the prefix, and what they hold."""
    files = {place: _completion(shell) for shell, place in COMPLETIONS.items()}
    for context in _commands(_speaking(cli, "ftplan")):
        files[f"man/man1/{_page(context)}.1"] = page(context)
    return files


def write(folder: Path) -> None:
    """Write all of them below *folder*."""
    for place, text in installed_files().items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")


def _completion(shell: str) -> str:
    made = get_completion_class(shell)
    assert made is not None, shell
    complete = made(cli, {}, "ftplan", "_FTPLAN_COMPLETE")
    script = str(complete.source_template % complete.source_vars()).rstrip() + "\n"
    if shell == "zsh":  # click's own ending completes nothing the second time: only the first call loads the file
        script = re.sub(r"\nif \[\[ \$zsh_eval_context.*\Z", '\n_ftplan_completion "$@"\n', script, flags=re.DOTALL)
    return script


def _commands(context: click.Context) -> Iterator[click.Context]:
    """Yield a command and those below it, each with the context in which it speaks of itself."""
    yield context
    for inner in _inner(context):
        yield from _commands(inner)


def _inner(context: click.Context) -> list[click.Context]:
    group = context.command
    if not isinstance(group, click.Group):
        return []
    found = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [_speaking(command, name, context) for name, command in found if command is not None]


def _speaking(command: click.Command, name: str, above: click.Context | None = None) -> click.Context:
    """Return the context in which a command speaks of itself: with its settings, -h among them."""
    return click.Context(command, info_name=name, parent=above, **command.context_settings)


def _page(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def page(context: click.Context) -> str:
    """Return the man page of a command."""
    command, name = context.command, _page(context)
    help_ = command.help or ""
    first, _, rest = help_.partition("\n\n")
    words = " ".join(command.collect_usage_pieces(context))
    records = [item.get_help_record(context) for item in command.get_params(context) if isinstance(item, click.Option)]
    lines = [
        f'.TH "{name.upper()}" "1" "" "ftplan {__version__}" "ftplan"',
        ".nh",
        ".ad l",
        ".SH NAME",
        rf"{_escaped(name)} \- {_escaped(_joined(first).rstrip('.'))}",
        ".SH SYNOPSIS",
        rf"\fB{_escaped(context.command_path)}\fR {_escaped(words)}",
        ".SH DESCRIPTION",
        *_text(rest or help_),
        ".SH OPTIONS",
        *(line for record in records if record for line in _entry(*record)),
    ]
    if _inner(context):
        lines.append(".SH COMMANDS")
        for inner in _inner(context):
            lines += _entry(f"{_page(inner)}(1)", inner.command.get_short_help_str(200))
    if command.epilog:
        lines += [".SH NOTES", *_text(command.epilog)]
    lines += [".SH EXIT STATUS", *(line for code in _CODES for line in _entry(*code))]
    lines += [".SH ENVIRONMENT", *_text(_ENVIRONMENT), ".SH FILES", *_entry("ftplan.toml", _FILES)]
    above = context.parent
    lines += [".SH SEE ALSO", *([f"{_escaped(_page(above))}(1)"] if above else ["https://github.com/ftplan/ftplan"])]
    return "\n".join(lines) + "\n"


def _entry(name: str, meaning: str) -> list[str]:
    return [".TP", rf"\fB{_escaped(name)}\fR", *_text(meaning)]


def _text(text: str) -> Iterator[str]:
    r"""Yield paragraphs in roff; one that begins with ``\b`` keeps its lines."""
    for i, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        if i:
            yield ".PP"
        if paragraph.lstrip().startswith("\b"):
            yield from (
                ".nf",
                *map(_line, paragraph.lstrip().removeprefix("\b").strip("\n").rstrip().split("\n")),
                ".fi",
            )
        else:
            yield _line(_joined(paragraph))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _line(text: str) -> str:
    r"""Return a line of text; one that begins with a dot or an apostrophe would be an order to roff."""
    return rf"\&{_escaped(text)}" if text[:1] in (".", "'") else _escaped(text)


def _escaped(text: str) -> str:
    return (
        text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga").replace("^", r"\(ha")
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))

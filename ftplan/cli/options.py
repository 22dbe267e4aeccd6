"""The options that commands share, each written once, and what a shell completes where one takes a file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ftplan.cli.environment import announce, give_way, name_variables, remember_inputs
from ftplan.io.options.quantities import bytes_of, seconds_of, share_of, speed_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FILES, _FOLDERS = re.compile(r"\b(FILE|FOLDER|PLAN|LOG|RECOVERIES|WHAT-IF)\b"), re.compile(r"\bDIR\b")


class Place(click.types.StringParamType):
    """Text that names a file or a folder."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self.kind)]


def name_places(command: click.Command) -> None:
    """Let a shell complete names of files in what stands for one in ``--help``."""
    for parameter in command.params:
        if type(parameter.type) is click.types.StringParamType and parameter.metavar:
            if _FOLDERS.search(parameter.metavar):
                parameter.type = Place("dir")
            elif _FILES.search(parameter.metavar):
                parameter.type = Place("file")


F = TypeVar("F", bound=Callable[..., Any])


class Quantity(click.ParamType):  # type: ignore[type-arg]  # generic only in newer releases of click
    """A time, size, speed or share with its unit, in seconds, bytes, units of 2^20 bytes per second, or as such."""

    def __init__(self, name: str, read: Callable[[str], float], high: float = math.inf) -> None:
        self.name, self.read, self.high = name, read, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; a default is one already, and a number of ``ftplan.toml`` is read as text."""
        try:
            number = self.read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not number <= self.high:
            self.fail(f"{value!r} is not between 0 and {self.high:g}", param, ctx)
        return number


class Number(click.ParamType):  # type: ignore[type-arg]
    """A finite number within limits; NaN and infinity are refused."""

    name = "number"

    def __init__(self, low: float = -math.inf, high: float = math.inf) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is no number", param, ctx)
        except OverflowError:  # a whole number of a file may have thousands of digits
            number = math.inf
        if not math.isfinite(number) or not self.low <= number <= self.high:
            self.fail(f"{value!r} is not between {self.low:g} and {self.high:g}", param, ctx)
        return number


#: Settings of every command.
SETTINGS: dict[str, Any] = {"show_default": True, "help_option_names": ["-h", "--help"], "max_content_width": 110}

DURATION = Quantity("duration", seconds_of)
SIZE = Quantity("size", bytes_of)
BANDWIDTH = Quantity("bandwidth", speed_of)
SHARE = Quantity("share", share_of, 1.0)
FACTOR = Quantity("share", share_of)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator that applies several, in the order in which ``--help`` shall list them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def command(name: str, alternatives: Sequence[Sequence[str]] = ()) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator like ``click.command`` that also names the environment variable of each option.

    *alternatives* are groups of options of which only one may be given: see :func:`give_way`.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        @wraps(function)
        def settled(**given: Any) -> Any:
            context = click.get_current_context()
            announce(context, given)
            remember_inputs(given)
            give_way(context, given, alternatives)
            return function(**given)

        made = click.command(name, context_settings=SETTINGS)(settled)
        name_variables(made)
        name_places(made)
        return made

    return decorate


topology = click.option("-t", "--topology", metavar="FILE", help="Topology, YAML or JSON; - is standard input.")
cluster = click.option("-c", "--cluster", metavar="FILE", help="Cluster, YAML or JSON.")
stats = click.option("-s", "--stats", metavar="DIR", help="Statistics folder, from compute-stats.")
failure = click.option("-f", "--failure", metavar="FILE", help="Failure, YAML or JSON.")
fail = click.option(
    "--fail", multiple=True, metavar="SELECTOR", help="What fails, such as node:n1 or zone:rack-a; repeatable."
)
spread = click.option("--spread", is_flag=True, help="Without a placement, place tasks round robin in file order.")
stats_age = click.option(
    "--max-stats-age", type=DURATION, metavar="AGE", help="Refuse statistics that end earlier than this before now."
)
coverage = click.option(
    "--min-coverage", type=SHARE, metavar="SHARE", help="Refuse statistics with records in fewer windows than this."
)

inputs = together(topology, cluster, stats, spread, stats_age, coverage)

form = click.option(
    "--format",
    type=click.Choice(["json", "table", "markdown"]),
    help="How standard output looks.  [default: table on a terminal, else json]",
)


def _rows(_: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """Return how many rows of a long table to show, or "all"."""
    if value is None or value == "all":
        return value
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is no number above 0, nor all", param=param)
    return int(value)


rows = click.option("--rows", metavar="N|all", callback=_rows, help="Rows of each long table; JSON and files hold all.")
output = together(
    click.option("-o", "--output", default="-", metavar="FILE", help="Write JSON here; - is standard output."),
    click.option("--force", is_flag=True, help="Overwrite an existing output."),
    form,
)


def _say_more(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """Let the library's log lines through to standard error."""
    if value:
        import logging

        logging.basicConfig(format="ftplan: %(message)s")
        logging.getLogger("ftplan").setLevel(logging.INFO)
    return value


verbosity = together(
    click.option("--no-progress", is_flag=True, help="No progress bar."),
    click.option("-q", "--quiet", is_flag=True, help="Only the answer and errors."),
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        callback=_say_more,
        help="Say on standard error what is read and how long it takes.",
    ),
    click.option("--debug", is_flag=True, help="Show the trace of an error."),
)

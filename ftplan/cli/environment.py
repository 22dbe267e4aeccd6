"""Where defaults come from: flag, then environment ``FTPLAN_*``, then ``ftplan.toml``, then built-in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from ftplan.errors import FtplanError, shortened, suggestion

#: Where options come from, the strongest first.
SOURCES = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)

#: Options that every command spells alike: one environment variable for all commands.
SHARED = (
    "topology",
    "cluster",
    "stats",
    "failure",
    "format",
    "seed",
    "time_limit",
    "iterations",
    "max_stats_age",
    "min_coverage",
    "no_progress",
    "quiet",
    "verbose",
    "debug",
)


#: Options that write, or that let something run or be asked elsewhere: those of the working folder's own file count.
REACHING_OUT = frozenset(
    (
        *("output", "force", "predictions", "trace", "plot", "cluster_output", "plans", "restart"),
        *("master", "url", "source"),
    )
)

#: Variables that stand for no option.
OTHERS = (
    "FTPLAN_DEBUG",
    "FTPLAN_MAX_MEMORY_GB",
    "FTPLAN_GOLDEN",
    "FTPLAN_COLLECT_TOKEN",
    "FTPLAN_COLLECT_USER",
    "FTPLAN_COLLECT_PASSWORD",
)


def variables(command: str, option: str) -> list[str]:
    """Return the environment variables of an option: ``FTPLAN_COMMAND_OPTION``, and ``FTPLAN_OPTION`` if shared."""
    own = f"FTPLAN_{command}_{option}".upper().replace("-", "_")
    return [own, f"FTPLAN_{option}".upper()] if option in SHARED else [own]


def name_variables(command: click.Command) -> None:
    """Give every option of a command its environment variables, shown in ``--help``."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None and parameter.name not in ("help", None):
            flags = [flag for flag in parameter.opts if flag.startswith("--")]
            names = [*(flag.removeprefix("--").replace("-", "_") for flag in flags[:1]), str(parameter.name)]
            parameter.envvar = [v for name in dict.fromkeys(names) for v in variables(str(command.name), name)]


def warn_of_unknown_variables(ctx: click.Context) -> None:
    """Name the variables ``FTPLAN_*`` that no option reads, on standard error, unless it shall be quiet."""
    args: list[str] = ctx.obj["args"]
    candidates = sorted(name for name in os.environ if name.startswith("FTPLAN_") and name not in OTHERS)
    if not candidates or _quiet(ctx.invoked_subcommand, args):
        return
    group = ctx.command
    assert isinstance(group, click.Group)
    if set(candidates) <= _shared():
        return
    known = known_variables(group)  # imports every command, which only an unusual variable is worth
    for name in candidates:
        if name not in known:
            text = f"unknown environment variable {name}{suggestion(name, sorted(known))} is ignored"
            click.echo(f"ftplan: warning: {text} [UNKNOWN_VARIABLE]", err=True)


def _shared() -> set[str]:
    return {f"FTPLAN_{option}".upper() for option in SHARED}


def known_variables(group: click.Group) -> set[str]:
    """Return the variables that an option of any command reads, and those that stand for no option."""
    known = {*_shared(), *OTHERS}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        for item in parameters(command) if command is not None else ():
            known.update([item.envvar] if isinstance(item.envvar, str) else item.envvar or ())
    return known


def _quiet(command: str | None, args: list[str]) -> bool:
    if any(re.fullmatch(r"--quiet|-[a-z]*q[a-z]*", arg) for arg in args):
        return True
    names = variables(command or "", "quiet")
    return any(os.environ.get(name, "").lower() in ("1", "true", "t", "yes", "y", "on") for name in names)


def give_way(ctx: click.Context, given: dict[str, Any], alternatives: Sequence[Sequence[str]]) -> None:
    """Take out of *given* what a stronger source replaces, among options of which only one may be given.

    An option of the command line replaces those of the environment and of ``ftplan.toml``, one of the environment
    those of the file. Two from the same source stay, for the command to refuse.
    """
    for names in alternatives:
        level = {name: _source(ctx, name) for name in names if given[name] not in (None, False, ())}
        strongest = min(level.values(), default=0)
        given.update((name, _nothing(given[name])) for name, own in level.items() if own > strongest)


def _nothing(value: Any) -> Any:
    """Return the value of an option that was not given: flags are off then, and lists empty."""
    return False if isinstance(value, bool) else () if isinstance(value, tuple) else None


def _source(ctx: click.Context, name: str) -> int:
    """Return how weak the source of an option's value is, 0 for the command line."""
    source = ctx.get_parameter_source(name)
    return SOURCES.index(source) if source in SOURCES else len(SOURCES)


def apply_configuration(ctx: click.Context) -> None:
    """Read ``ftplan.toml`` and make it the defaults of the command that is about to run.

    Raises FtplanError if the file cannot be read or names a table or option that does not exist.
    """
    args: list[str] = ctx.obj["args"]
    if "--help" in args or "-h" in args:
        return
    from ftplan.io.configuration import find_configuration
    from ftplan.io.documents import display_name

    name = ctx.invoked_subcommand
    group = ctx.command
    assert isinstance(group, click.Group)
    command = group.get_command(ctx, name) if name else None
    if command is None or name is None:
        return
    called = _called(command, args[args.index(name) + 1 :])
    names = names_in_configuration(command, called)
    try:
        configuration = find_configuration({name: names}, group.list_commands(ctx))
    except FtplanError:
        if called is None:
            raise
        called, names = None, names_in_configuration(command)  # it may be an option of another command of the group
        configuration = find_configuration({name: names}, group.list_commands(ctx))
    if configuration is None:
        return
    settings: dict[str, Any] = {k: v for k, v in configuration.inputs.items() if k in names}
    settings.update(configuration.commands.get(name, {}))
    shown = display_name(configuration.path)
    ctx.obj["configuration"] = shown
    reaching = [key for key in settings if key in REACHING_OUT]
    if reaching and not configuration.is_own:
        settings = {key: value for key, value in settings.items() if key not in reaching}
        if not _quiet(name, args):
            what = f"{shown}: [{name}] {', '.join(map(_flag, reaching))}"
            text = f"{what}: taken only in the folder of that file, ignored here [CONFIGURATION_IGNORED]"
            click.echo(f"ftplan: warning: {text}", err=True)
    repeatable = {str(p.name) for p in parameters(command, called) if p.nargs == -1 or getattr(p, "multiple", False)}
    for key, value in settings.items():
        if isinstance(value, list) and key not in repeatable:
            raise FtplanError(f"{shown}: [{name}] {_flag(key)}: expected one value, not a list")
    defaults = {k: [v] if k in repeatable and not isinstance(v, list) else v for k, v in settings.items()}
    # those of a group are of each of its commands that has the option
    ctx.default_map = {name: defaults | dict.fromkeys(_subcommands(command), defaults)}


def _flag(name: str) -> str:
    return name.replace("_", "-")


def announce(ctx: click.Context, given: Mapping[str, Any]) -> None:
    """Say which options that write or reach out come from ``ftplan.toml``, unless it shall be quiet."""
    if (ctx.obj or {}).get("configuration") is None or given.get("quiet"):
        return
    taken = [
        f"{_flag(name)} = {value}"
        for name, value in given.items()
        if name in REACHING_OUT and ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    ]
    if taken:
        click.echo(f"ftplan: from {ctx.obj['configuration']}: {shortened(', '.join(taken))}", err=True)


def remember_inputs(given: Mapping[str, Any]) -> None:
    """Keep what a command is given from being overwritten by it: every file or folder that an option names."""
    from ftplan.io.inputs_read import remember_input

    for name, value in given.items():
        if name not in REACHING_OUT or name == "source":
            for item in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(item, str):
                    remember_input(item)


def _subcommands(command: click.Command) -> list[str]:
    return command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []


def _called(command: click.Command, args: Sequence[str]) -> str | None:
    """Return which command of a group is called, None for any other command."""
    known = _subcommands(command)
    return next((arg for arg in args if arg in known), None)


def parameters(command: click.Command, called: str | None = None) -> list[click.Parameter]:
    """Return the parameters of a command, for a group those of its commands too, or of the one that is *called*."""
    params = list(command.params)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in _subcommands(command) if called is None else [called]:
            subcommand = command.get_command(context, name)
            params += subcommand.params if subcommand is not None else []
    return params


def names_in_configuration(command: click.Command, called: str | None = None) -> dict[str, str]:
    """Return what ``ftplan.toml`` calls each parameter, with underscores, and what click calls it."""
    names: dict[str, str] = {}
    for item in parameters(command, called):
        if item.expose_value and item.name is not None:
            flags = [flag for flag in item.opts if flag.startswith("--")]
            shown = flags[0].removeprefix("--").replace("-", "_") if flags else item.name
            names[shown] = item.name
    return names

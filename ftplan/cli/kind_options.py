"""The options of a kind of plan as options of the command line: each from its field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import click

from ftplan.cli import options
from ftplan.io.options.fields import Option, Options, PlanOptions, flag


def _flag_of(name: str, item: Option) -> str:
    return item.flag or flag(name)


def parameter_of(name: str, item: Option) -> str:
    """Return what click calls an option of a kind of plan: its flag with underscores."""
    return _flag_of(name, item).partition("/")[0].removeprefix("--").replace("-", "_")


def _type_of(item: Option) -> Any:
    """Return how the command line reads an option; limits beyond what anyone writes are left to its check."""
    check = item.check
    if item.unit is not None:
        if item.unit == "share":
            return options.SHARE if check.high == 1.0 else options.FACTOR
        return {"time": options.DURATION, "size": options.SIZE, "speed": options.BANDWIDTH}[item.unit]
    if check.form == "word":
        return click.Choice(check.names)
    if check.form == "whole":
        return click.IntRange(check.low, check.high)  # type: ignore[arg-type]  # whole numbers both
    if check.form == "number":
        return options.Number(check.low or 0.0)
    return str


def _negated(item: Option) -> bool:
    return item.check.form == "flag" and item.flag is not None and "/" not in item.flag


def _time(seconds: float) -> str:
    """Return a time as one types it: whole days and hours as such, else seconds."""
    for unit, name in ((86400.0, "d"), (3600.0, "h")):
        if seconds and seconds % unit == 0.0:
            return f"{seconds / unit:g}{name}"
    return f"{seconds:g}s"


def _option_of(name: str, item: Option, default: Any) -> Callable[..., Any]:
    """Return the click option of an option of a kind of plan."""
    spelled = _flag_of(name, item)
    if item.check.form == "flag":
        return click.option(spelled, is_flag=True, default=not default if _negated(item) else default, help=item.help)
    if item.check.form == "texts":
        return click.option(spelled, multiple=True, metavar=item.metavar, help=item.help)
    if item.unit == "time" and default is not None:
        default = _time(default)
    if item.unit == "speed" and default is not None:
        default = f"{default:g}MiB/s"
    if isinstance(default, tuple):
        default = _shown(default)
    return click.option(spelled, type=_type_of(item), default=default, metavar=item.metavar, help=item.help)


def of_kind(kind: type[PlanOptions], algorithm: Callable[..., Any], after: str | None) -> Callable[..., Any]:
    """Return the options of a kind of plan, in the order of its fields, and ``--algorithm`` *after* one, or first.

    Those of all kinds are :data:`SEARCH`.
    """
    made = [algorithm] if after is None else []
    defaults = {item.name: item.default for item in fields(kind)}
    for name, item in kind.options().items():
        if name in PlanOptions.options() or name == "fail":
            continue
        made.append(_option_of(name, item, defaults[name]))
        if name == after:
            made.append(algorithm)
    return options.together(*made)


def knobs(kind: type[Options], presets: Iterable[str]) -> Callable[..., Any]:
    """Return the options of a generator, in the order of its fields, and ``--like`` before them."""
    like = click.option("--like", type=click.Choice(list(presets)), help="Defaults: an experiment's, see below.")
    return options.together(like, of_options(kind))


def of_options(kind: type[Options]) -> Callable[..., Any]:
    """Return the options of a dataclass, in the order of its fields."""
    defaults = {item.name: item.default for item in fields(kind)}
    return options.together(*(_option_of(name, item, _shown(defaults[name])) for name, item in kind.options().items()))


def _shown(default: Any) -> Any:
    """Return a default as the command line spells it: a range with a dash."""
    if isinstance(default, float):
        return float(f"{default:.3g}")
    if not isinstance(default, tuple):
        return default
    return "-".join(f"{end:g}" for end in dict.fromkeys(default)) or None


def asked(kind: type[Options], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the command line gave as options of a kind of plan or of a generator, by their names."""
    values = {name: (item, given[parameter_of(name, item)]) for name, item in kind.options().items()}
    return {name: not value if _negated(item) else value for name, (item, value) in values.items()}


SEARCH = options.together(
    *(_option_of(item.name, item.metadata["option"], item.default) for item in fields(PlanOptions))
)

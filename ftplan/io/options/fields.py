"""Options as fields of dataclasses: name, default, what is right, help; and the checks that say what is right.

The command line makes its flags from these, ``plan`` checks by them, plans record them, ``verify`` reads them back.
Importing this loads nothing heavy: it is on the way to every ``--help``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from ftplan.errors import LONGEST_QUOTE, FtplanError, suggestion
from ftplan.io.options.quantities import bytes_of, seconds_of, share_of, speed_of
from ftplan.model.names import Selector

if TYPE_CHECKING:
    from ftplan.model.plan import Plan

#: What stands for a plan in Python.
PlanSource = str | os.PathLike[str] | Mapping[str, Any]


Unit = Literal["time", "size", "speed", "share"]
#: What reads each unit, and an example.
_READERS: Mapping[Unit, tuple[Callable[[str], float], str]] = {
    "time": (seconds_of, "5m"),
    "size": (bytes_of, "2GiB"),
    "speed": (speed_of, "100MB/s"),
    "share": (share_of, "70%"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """What is right, in words, and a function that returns the value as planners take it, or raises ValueError.

    ``names`` are the words where it is one of some; ``low`` and ``high`` the limits of a number, None without one;
    ``share`` tells that it may be written in percent.
    """

    right: str
    take: Callable[[Any], Any]
    form: Literal["text", "texts", "word", "number", "whole", "flag"] = "text"
    names: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    share: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """An option beside its name and default.

    Attributes
    ----------
    flag
        Its flags on the command line where these do not follow from the name: ``--no-arrivals`` for a negated one,
        ``--bound/--no-bound`` for a pair.
    metavar
        What ``--help`` calls the value.
    unit
        How text becomes a number: with a unit of time, size or speed, or as a share, which may be in percent; else
        plainly.
    """

    check: Check
    help: str
    flag: str | None = None
    metavar: str | None = None
    unit: Unit | None = None


def option(default: Any, check: Check, help: str, unit: Unit | None = None, **shown: Any) -> Any:
    """Return a dataclass field that is an option; *shown* are the further attributes of :class:`Option`.

    A share may be written in percent.
    """
    unit = "share" if check.share else unit
    if unit is not None:
        read, such = _READERS[unit]
        right = check.right if check.right.endswith(such) else f"{check.right}, or such as {such}"
        check = replace(check, right=right, take=partial(_with_unit, check.take, read))
    return field(default=default, metadata={"option": Option(check, help, unit=unit, **shown)})


def _with_unit(take: Callable[[Any], Any], read: Callable[[str], float], value: Any) -> Any:
    return take(read(value) if isinstance(value, str) else value)


def seconds(default: Any, check: Check, help: str, **shown: Any) -> Any:
    """Return an option that is a time, which the command line reads with a unit."""
    return option(default, check, help, metavar="TIME", unit="time", **shown)


def size(default: Any, check: Check, help: str, **shown: Any) -> Any:
    """Return an option that is a number of bytes; likewise."""
    return option(default, check, help, metavar="SIZE", unit="size", **shown)


def speed(default: Any, check: Check, help: str, **shown: Any) -> Any:
    """Return an option that is a speed of transfer; likewise."""
    return option(default, check, help, metavar="SPEED", unit="speed", **shown)


def quoted(value: Any) -> str:
    """Return a value as a message quotes it, in at most 80 characters."""
    try:
        text = repr(value)
    except Exception:  # whatever a foreign class does
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def flag(name: str) -> str:
    """Return how messages call an option: as the command line spells it."""
    return "--" + name.removesuffix("_s").replace("_", "-")


def checked(command: str, checks: Mapping[str, Check], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each as its check returns it.

    Raises FtplanError for the first that is unknown or wrong: its name, its value, and what would be right.
    """
    taken = {}
    for name, value in options.items():
        if name not in checks:
            known = ", ".join(sorted(checks))
            raise FtplanError(
                f"{command}: unknown option {quoted(name)}{suggestion(str(name), checks)}: one of {known}"
            )
        check = checks[name]
        try:
            taken[name] = check.take(value)
        except (ValueError, TypeError, OverflowError):
            near = suggestion(value, check.names) if isinstance(value, str) else ""
            given = value[0] if check.form == "texts" and isinstance(value, tuple) and len(value) == 1 else value
            raise FtplanError(f"{flag(name)}: {quoted(given)} is not {check.right}{near}") from None
    return taken


def one_of(*names: str) -> Check:
    """Return a check for one of some words."""

    def take(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise ValueError

    return Check(f"one of {', '.join(names)}", take, "word", names)


#: The largest whole number of an option without a limit of its own.
MOST = 2**31 - 1


def whole(low: int, high: int | None = None) -> Check:
    """Return a check for a whole number within limits."""
    most = MOST if high is None else high

    def take(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= most:
            raise ValueError
        return int(value)

    return Check(f"a whole number from {low:,} to {most:,}", take, "whole", low=low, high=high)


def number(low: float, high: float, above: bool = False, below: bool = False) -> Check:
    """Return a check for a number within limits; *above* and *below* exclude these. One of at most 1 is a share."""
    words = f"{'above' if above else 'of at least'} {low:g} and {'below' if below else 'at most'} {high:g}"

    def take(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError
        real = float(value)
        if not low <= real <= high or (above and real == low) or (below and real == high):
            raise ValueError
        return real if not isinstance(value, int) else value

    return Check(f"a number {words}", take, "number", low=low, high=high, share=high == 1.0)


def optional(check: Check) -> Check:
    """Return a check that lets None pass too."""

    def take(value: Any) -> Any:
        return None if value is None else check.take(value)

    return replace(check, take=take)


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool_", "bool") and hasattr(value, "tolist"):
        return bool(value)
    raise ValueError


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or selector, or several of them, as texts."""
    items = (value,) if isinstance(value, (str, Selector)) else value
    if isinstance(items, (Mapping, bytes)) or not isinstance(items, Iterable):
        raise ValueError
    listed = tuple(items)
    if not all(isinstance(item, (str, Selector)) for item in listed):
        raise ValueError
    return tuple(map(str, listed))


def some_of(*names: str) -> Check:
    """Return a check for one of some words, or several of them, each once."""

    def take(value: Any) -> tuple[str, ...]:
        chosen = tuple(dict.fromkeys(texts(value)))
        if not set(chosen) <= set(names):
            raise ValueError
        return chosen

    return Check(f"one of {', '.join(names)}, or a list of them", take, "texts")


def path(value: Any) -> Any:
    """Return a path as text."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and value and "\0" not in value:
        return value
    raise ValueError


def _plan(value: Any) -> Any:
    from ftplan.io.documents import Document
    from ftplan.model.plan import Plan

    return value if isinstance(value, (Plan, Mapping, Document)) else path(value)


def document(value: Any) -> Any:
    """Return the path of a document as text, or the document."""
    from ftplan.io.documents import Document

    return value if isinstance(value, (Mapping, Document)) else path(value)


#: A share of what may be more than whole, as utilisation is.
FACTOR = replace(number(0.0, 1e9), share=True)


def written(value: Any) -> float:
    """Return a number of at least 0, which may be written as text, also in percent."""
    return float(FACTOR.take(share_of(value) if isinstance(value, str) else value))


def _windows(value: Any) -> int | str:
    if not isinstance(value, str) or value.isdigit():
        return int(whole(1, 1_000_000).take(int(value) if isinstance(value, str) else value))
    if not seconds_of(value) > 0.0:
        raise ValueError
    return f"{seconds_of(value):.12g}s"


#: A number of windows, or a time such as ``5m``: see :func:`windows_in`.
WINDOWS = Check("a number of windows from 1 on, or a time such as 5m", _windows)


def windows_in(value: int | str, window_s: float) -> int:
    """Return the windows that an option of :data:`WINDOWS` names: of a time as many as it takes, at least 1."""
    if isinstance(value, int):
        return value
    return max(1, math.ceil(seconds_of(value) / window_s - 1e-9))


FLAG = Check("True or False", _yes_or_no, "flag")
SELECTORS = Check("a selector such as 'node:n1', or a list of them", texts, "texts")
PLAN = optional(Check("a plan, the path of one, or its document", _plan))
COSTS = optional(Check("the path of a recovery-costs file, or its document", document))
CORES = number(0.0, 1e12)
SHARE = number(0.0, 1.0, above=True)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options as fields, made by :func:`option`, in the order of ``--help``.

    Attributes
    ----------
    unrecorded
        Options that an answer does not keep among the others, such as the seed, which stands beside them.
    """

    unrecorded: ClassVar[tuple[str, ...]] = ("seed", "strict_inputs")

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the options by name, in the order of the fields: those of all kinds first."""
        return {item.name: item.metadata["option"] for item in fields(cls)}

    @classmethod
    def of(cls, command: str, asked: Mapping[str, Any]) -> Self:
        """Return checked options; what is not asked is the default.

        Raises FtplanError if one is unknown or wrong.
        """
        return cls(**checked(command, {name: item.check for name, item in cls.options().items()}, asked))

    def recorded(self) -> dict[str, Any]:
        """Return the options as a plan or another answer keeps them: as asked, without those of ``unrecorded``."""
        values = {name: getattr(self, name) for name in self.options() if name not in self.unrecorded}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _spelled(value: Any, taken: Any) -> Any:
    """Return a recorded value as it stands there, but a number as the one that is meant."""
    if isinstance(taken, (int, float)) and not isinstance(taken, bool):
        return taken if isinstance(value, str) or isinstance(taken, int) else value
    return value


def option_of(kind: type[Options], name: str) -> Any:
    """Return a dataclass field that is an option of another question, word for word."""
    known = kind.__dataclass_fields__[name]
    return field(default=known.default, metadata=known.metadata)


@dataclass(frozen=True, kw_only=True)
class PlanOptions(Options):
    """What can be asked of every kind of plan; kinds add fields.

    Attributes
    ----------
    recorded_facts
        What a plan records beside its options, because verifying and evaluating it takes this.
    alternatives
        Groups of options of which only one may be given.
    unsupported
        By algorithm and option, the values that it does not plan for.
    """

    recorded_facts: ClassVar[Mapping[str, Check]] = {}
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()
    unsupported: ClassVar[Mapping[str, Mapping[str, tuple[Any, ...]]]] = {}

    seed: int = option(0, whole(0, MOST), "Seed of every random choice.")
    time_limit_s: float = seconds(10.0, number(0.0, 1e9, above=True), "Stop searching after this time.")
    gap: float = option(
        0.001,
        number(0.0, 1.0),
        "Stop where value and proven bound are this near, relative as the gap.",
        metavar="SHARE",
    )
    iterations: int | None = option(None, optional(whole(0)), "Bound the search by work instead of time.", metavar="N")
    strict_inputs: bool = option(False, FLAG, "Refuse a plan whose objective depends on something assumed.")

    def check_algorithm(self, algorithm: str, others: Iterable[str]) -> None:
        """Refuse an algorithm that does not plan for what is asked.

        Raises FtplanError with those of *others* that do.
        """
        for name, values in self.unsupported.get(algorithm, {}).items():
            value = getattr(self, name)
            if value in values:
                able = [other for other in others if value not in self.unsupported.get(other, {}).get(name, ())]
                text = f"{flag(name)} {value}: {algorithm} does not plan for it"
                raise FtplanError(f"{text}: use one of {', '.join(able)}")

    @classmethod
    def of_plan(cls, plan: Plan) -> Self:
        """Return the options that a plan records. What it lacks, or has as null, is the default.

        Raises FtplanError if one is wrong, or a recorded fact is.
        """
        known = cls.options()
        taken = {"seed": plan.seed, **cls._taken(plan.options)}
        return cls(**{name: value for name, value in taken.items() if name in known})

    @classmethod
    def as_recorded(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options of a plan file, through the checks of their flags; what is right stays as it is spelled.

        Raises FtplanError if one is wrong, or a recorded fact is.
        """
        taken = cls._taken(options)
        return {name: _spelled(value, taken.get(name, value)) for name, value in options.items()}

    @classmethod
    def _taken(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of recorded options, and of what was requested in place of them, as planners take them."""
        checks = {**{name: item.check for name, item in cls.options().items()}, **cls.recorded_facts}
        taken: dict[str, Any] = {}
        for name, value in options.items():
            check = checks.get(name) or checks.get(name.removesuffix("_requested"))
            if value is None or check is None:
                continue
            try:
                taken[name] = check.take(value)
            except (ValueError, TypeError, OverflowError):
                raise FtplanError(f"the plan's options.{name}: {quoted(value)} is not {check.right}") from None
        return taken

    @classmethod
    def asked_by(cls, plan: Plan) -> dict[str, Any]:
        """Return what has to be asked to get a plan again; what it records as requested wins over what came of it."""
        recorded = plan.options
        return {
            name: recorded.get(f"{name}_requested", recorded.get(name))
            for name in cls.options()
            if name in recorded or f"{name}_requested" in recorded
        }


@dataclass(frozen=True, kw_only=True)
class FailureOptions(PlanOptions):
    """What can be asked of the kinds of plan that answer a failure."""

    fail: tuple[str, ...] = option((), SELECTORS, "What fails, such as node:n1 or zone:rack-a; repeatable.")

"""What the value of every option must be, in one table for each kind of plan and each call; one message for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NoReturn

from ftplan.errors import LONGEST_QUOTE, FtplanError, suggestion
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.statistics import MEASURES

#: What stands for a plan in Python.
PlanSource = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """What is right, in words, and a function that returns the value as planners take it, or raises ValueError."""

    right: str
    take: Callable[[Any], Any]
    names: tuple[str, ...] = ()  # the words, where it is one of some


def quoted(value: Any) -> str:
    """Return a value as a message quotes it, in at most 80 characters."""
    try:
        text = repr(value)
    except Exception:  # whatever a foreign class does
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def checked(command: str, checks: Mapping[str, Check], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each as its check returns it.

    Raises
    ------
    FtplanError
        For the first that is unknown or wrong: its name, its value, and what would be right.
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
            raise FtplanError(f"{flag(name)}: {quoted(value)} is not {check.right}{near}") from None
    return taken


def flag(name: str) -> str:
    """Return how messages call an option: as the command line spells it."""
    return "--" + name.removesuffix("_s").replace("_", "-")


def one_of(*names: str) -> Check:
    """Return a check for one of some words."""

    def take(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise ValueError

    return Check(f"one of {', '.join(names)}", take, names)


def whole(low: int, high: int = 2**31 - 1) -> Check:
    """Return a check for a whole number within limits."""

    def take(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
            raise ValueError
        return int(value)

    return Check(f"a whole number from {low:,} to {high:,}", take)


def number(low: float, high: float, above: bool = False, below: bool = False) -> Check:
    """Return a check for a number within limits; *above* and *below* exclude these."""
    words = f"{'above' if above else 'of at least'} {low:g} and {'below' if below else 'at most'} {high:g}"

    def take(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError
        found = float(value)
        if not low <= found <= high or (above and found == low) or (below and found == high):
            raise ValueError
        return found if not isinstance(value, int) else value

    return Check(f"a number {words}", take)


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool_", "bool") and hasattr(value, "tolist"):
        return bool(value)
    raise ValueError


def _selectors(value: Any) -> tuple[str, ...]:
    items = (value,) if isinstance(value, (str, Selector)) else value
    if isinstance(items, (Mapping, bytes)) or not isinstance(items, Iterable):
        raise ValueError
    found = tuple(items)
    if not all(isinstance(item, (str, Selector)) for item in found):
        raise ValueError
    return tuple(map(str, found))


def _selector(value: Any) -> str:
    return str(_text(str(value) if isinstance(value, Selector) else value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _path(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and value and "\0" not in value:
        return value
    raise ValueError


def _plan(value: Any) -> Any:
    return value if isinstance(value, (Plan, Mapping)) else _path(value)


def _balance(value: Any) -> Any:
    return value if isinstance(value, str) and value in ("auto", "count", "none") else _written(value)


def _written(value: Any) -> float:
    """Return a number of at least 0, which may be written as text."""
    return float(FACTOR.take(float(value) if isinstance(value, str) else value))


def _limit(value: Any) -> Any:
    return None if value == "none" else _written(value)


def _budget(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= 20:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError
    found = float(value)
    if not 0 <= found <= 1e15 or not found.is_integer():
        raise ValueError
    return int(found) if isinstance(value, Integral) else found


def optional(check: Check) -> Check:
    """Return a check that lets None pass too."""
    return Check(check.right, lambda value: None if value is None else check.take(value), check.names)


FLAG = Check("True or False", _yes_or_no)
SELECTORS = Check("a selector such as 'node:n1', or a list of them", _selectors)
PLAN = optional(Check("a plan, the path of one, or its document", _plan))
SOURCE = optional(Check("a path, or a document as a mapping", lambda v: v if isinstance(v, Mapping) else _path(v)))
FACTOR = number(0.0, 1e9)
CORES = number(0.0, 1e12)
BANDWIDTH = number(1e-6, 1e9)
HORIZON = number(1e-6, 1e10)
SHARE = number(0.0, 1.0, above=True)

#: Options of every kind of plan.
_SEARCH: dict[str, Check] = {
    "seed": whole(0),
    "time_limit_s": number(0.0, 1e9, above=True),
    "iterations": optional(whole(0)),
}

#: Options of each kind of plan, beside ``algorithm``.
PLANS: Mapping[str, Mapping[str, Check]] = {
    "checkpoint-allocation": {
        **_SEARCH,
        "objective": one_of("correlation", "node-correlation", "usable"),
        "correlate": one_of("raw", "share", "residual"),
        "capacity_per_core": optional(number(0.0, 1e18)),
        "overload": FACTOR,
        "holdout": optional(number(0.0, 1.0, above=True, below=True)),
        "load": one_of(*MEASURES),
        "copies": whole(1),
        "balance": Check("auto, count, none or a number from 0 to 1e+09, such as 0.1", _balance),
        "anti_affinity": one_of("node", "zone"),
        "failover_limit": optional(Check("a number from 0 to 1e+09, such as 1.5", _limit)),
        "minimise": optional(one_of("failover")),
        "bound": FLAG,
        "iterations": optional(whole(1)),
        "current": PLAN,
        "threshold": optional(FACTOR),
        "max_moves": optional(whole(0)),
        "max_bytes": optional(number(0.0, 1e24)),
    },
    "task-replication": {
        **_SEARCH,
        "budget": optional(Check("a number of replicas, such as 12, or a share, such as '30%'", _budget)),
        "budget_cpu": optional(CORES),
        "budget_mb": optional(number(0.0, 1e18)),
        "target": optional(SHARE),
        "fail": SELECTORS,
        "worst_case": FLAG,
        "metric": one_of("output-fidelity", "internal-completeness"),
        "weight": one_of("rate", "priority"),
        "max_cpu": SHARE,
        "current": PLAN,
        "max_changes": optional(whole(0)),
        "threshold": optional(number(0.0, 1.0)),
        "curve": FLAG,
    },
    "recovery-schedule": {
        **_SEARCH,
        "fail": SELECTORS,
        "capacity": optional(CORES),
        "max_cpu": SHARE,
        "horizon": optional(HORIZON),
        "replicas": PLAN,
        "checkpoints": PLAN,
        "bandwidth": optional(BANDWIDTH),
        "arrivals": FLAG,
        "complete_failure": FLAG,
        "coordinator_cpu": CORES,
        "incremental_from": whole(0),
        "samples": whole(0, 10_000),
        "objective": one_of("priority", "priority-time", "fidelity-time"),
        "prefetch": FLAG,
        "parallel_recovery": FLAG,
    },
}

#: What a plan records beside its options, because verifying and evaluating it takes this.
_RECORDED: Mapping[str, Check] = {
    "horizon_s": number(0.0, 1e24),
    "bandwidth_mb_s": BANDWIDTH,
    "cost": one_of("topology", "statistics"),
    "spread": FLAG,
    "budget_unit": one_of("tasks", "cores", "mb"),
    "budget_limit": number(0.0, 1e18),
}

#: Parameters of each call, beside the plans and the problem.
CALLS: Mapping[str, Mapping[str, Check]] = {
    "load": {
        **dict.fromkeys(("topology", "cluster", "stats", "failure"), SOURCE),
        "spread": FLAG,
        "max_stats_age_s": optional(number(0.0, 1e12)),
        "min_coverage": optional(number(0.0, 1.0)),
    },
    "evaluate": {
        "fail": SELECTORS,
        "load": optional(one_of(*MEASURES)),
        "capacity_per_core": optional(number(0.0, 1e18)),
        "overload": optional(FACTOR),
        "fail_under": Check("a limit METRIC=VALUE, or a list of them", _selectors),
    },
    "verify": {
        "strict": FLAG,
        "ignore_stale": FLAG,
        "fail": SELECTORS,
        "prove": FLAG,
        "time_limit_s": number(0.0, 1e9, above=True),
    },
    "explain": {"selector": Check("a selector such as 'task:join/3'", _selector), "fail": SELECTORS},
    "diff": {},
}


def plan_options(kind: str, command: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a kind of plan as planners take them.

    Raises
    ------
    FtplanError
        If one is unknown or wrong.
    """
    return checked(command, PLANS[kind], options)


def call(name: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters of a call as it takes them.

    Raises
    ------
    FtplanError
        If one is wrong.
    """
    return checked(name, CALLS[name], parameters)


def a_problem(given: Any) -> Problem:
    """Return a problem that was given as one.

    Raises
    ------
    FtplanError
        If it is anything else.
    """
    if isinstance(given, Problem):
        return given
    raise FtplanError(f"problem: {quoted(given)} is not what ftplan.load returns")


def a_plan(given: Any) -> Plan:
    """Return a plan that was given as one, as a path or as a document, with options that can be understood.

    Raises
    ------
    FtplanError
        If it is anything else, cannot be read, or records an option that is wrong.
    """
    if isinstance(given, (str, os.PathLike, Mapping)):
        from ftplan.io.plan_file import load_plan

        given = load_plan(SOURCE.take(given) if given != "" else _refused(given)).value
    if not isinstance(given, Plan):
        _refused(given)
    recorded = {**_RECORDED, **PLANS.get(given.kind, {})}
    for name, value in given.options.items():
        if value is None or name not in recorded:
            continue
        try:
            recorded[name].take(value)
        except (ValueError, TypeError, OverflowError):
            raise FtplanError(f"the plan's options.{name}: {quoted(value)} is not {recorded[name].right}") from None
    return given


def _refused(given: Any) -> NoReturn:
    raise FtplanError(f"plan: {quoted(given)} is not a plan, the path of one, or its document")

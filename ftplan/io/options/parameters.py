"""The parameters of the Python face's calls beside options, and the checks that say what is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.options.fields import (
    FACTOR,
    FLAG,
    SELECTORS,
    Check,
    checked,
    number,
    one_of,
    optional,
    path,
    quoted,
    texts,
)
from ftplan.model.names import Selector
from ftplan.model.problem import Problem
from ftplan.model.units import MEASURES


def _selector(value: Any) -> str:
    if isinstance(value, (str, Selector)):
        return str(value)
    raise ValueError


SOURCE = optional(Check("a path, or a document as a mapping", lambda v: v if isinstance(v, Mapping) else path(v)))
_INPUTS: Mapping[str, Check] = {
    **dict.fromkeys(("topology", "cluster", "stats", "failure"), SOURCE),
    "spread": FLAG,
    "max_stats_age_s": optional(number(0.0, 1e12)),
    "min_coverage": optional(number(0.0, 1.0)),
}
#: Parameters of each call, beside the plans and the problem.
CALLS: Mapping[str, Mapping[str, Check]] = {
    "load": _INPUTS,
    "evaluate": {
        "fail": SELECTORS,
        "load": optional(one_of(*MEASURES)),
        "capacity_per_core": optional(number(0.0, 1e18)),
        "overload": optional(FACTOR),
        "fail_under": Check("a limit METRIC=VALUE, or a list of them", texts),
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


def call(name: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters of a call as it takes them.

    Raises FtplanError if one is wrong.
    """
    return checked(name, CALLS[name], parameters)


def a_problem(given: Any) -> Problem:
    """Return a problem that was given as one.

    Raises FtplanError if it is anything else.
    """
    if isinstance(given, Problem):
        return given
    raise FtplanError(f"problem: {quoted(given)} is not what ftplan.load returns")

"""What is right for the knobs of generators."""

from __future__ import annotations

import re
from typing import Any

from ftplan.io.options.fields import MOST, Check, number, option, whole
from ftplan.model import ranges

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?"
#: What a document may hold of tasks, key groups or nodes.
MOST_TASKS = 10_000_000
_PARALLELISM = whole(1, MOST_TASKS)
SEED = option(0, whole(0, MOST), "Seed of every random choice.")
FRACTION = number(0.0, 1.0)


def between(low: float, high: float, kind: type = float) -> Check:
    """Return a check for a number within limits, or for a range of them: ``5-10``, or a pair in Python."""
    single = whole(int(low), int(high)) if kind is int else number(low, high)

    def take(value: Any) -> tuple[Any, Any]:
        if isinstance(value, str):
            parts = re.fullmatch(rf"\s*({_NUMBER})\s*(?:-\s*({_NUMBER})\s*)?", value)
            if not parts:
                raise ValueError
            value = [kind(part) for part in (parts[1], parts[2] or parts[1])]
        ends = tuple(map(single.take, value)) if isinstance(value, (tuple, list)) else (single.take(value),) * 2
        if len(ends) != 2 or ends[0] > ends[1]:
            raise ValueError
        return ends

    shown = f"{low:,} to {high:,}" if kind is int else f"{low:g} to {high:g}"
    return Check(f"a {'whole ' * (kind is int)}number or a range such as 2-8, from {shown}", take)


def held(allowed: ranges.Range, high: float) -> Check:
    """Return a check for 0 or a number that a file may hold, up to a limit."""
    single = number(0.0, high)

    def take(value: Any) -> Any:
        taken = single.take(value)
        if 0.0 < taken < allowed.low:
            raise ValueError
        return taken

    return Check(f"0, or a number from {allowed.low:g} to {high:g}", take, "number", low=0.0, high=high)


def _whole_numbers(value: Any) -> tuple[int, ...]:
    listed = value.split(",") if isinstance(value, str) and value else value or ()
    return tuple(_PARALLELISM.take(int(item) if isinstance(item, str) else item) for item in listed)


def or_none(check: Check) -> Check:
    """Return a check that lets None pass too, which the command line spells ``none``."""

    def take(value: Any) -> Any:
        if value is None or value == "none":
            return None
        return check.take(float(value) if check.form == "number" and isinstance(value, str) else value)

    return Check(f"{check.right}, or none", take)


CHANCE = or_none(between(1e-9, 1.0))
#: Of ``--tasks``.
TASKS = Check("whole numbers such as 16,8,4", _whole_numbers)

"""Values as people read them: the unit from the name of the field, and as many digits as anybody needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeGuard

from ftplan.model.units import MB

NOTHING = "–"
#: Between a number and its unit: no line is broken there.
SPACE = "\u00a0"
#: What a relative difference above this many times is called.
LARGE = 100.0

Unit = Literal["seconds", "bytes", "mb", "share", "plain"]

_SHARES = frozenset(
    (
        *("balance", "fidelity", "gap", "imbalance", "load_share", "max_cpu", "min_fidelity", "overload"),
        *("probability", "shared_fraction", "share", "threshold", "zone_separation"),
        *("compute", "network", "state"),  # contention of nodes
        *("fairness", "sustained_load", "throughput_percentage", "utilisation_from", "utilisation_to"),
    )
)
_SHARE_ENDINGS = ("_share", "_probability", "_fidelity", "_completeness")
#: Labels where the name of a field alone does not say it well.
_LABELS: Mapping[str, str] = {
    "at_s": "time",
    "back_s": "back after",
    "by_case": "by scenario",
    "caught_up_s": "caught up at",
    "copysets": "sets of nodes that hold a key group",
    "cpu": "cores",
    "failed_cpu": "failed cores",
    "failover_load_ratio": "most load of a survivor, times its fair share",
    "failover_loss": "worst loss",
    "failover_survivor": "its most loaded survivor",
    "id": "name",
    "memory_mb": "memory",
    "p5": "5th percentile",
    "p95": "95th percentile",
    "objective": "value of the best possible",
    "priority_time": "priority × seconds down",
    "fidelity_time": "output fidelity × seconds",
    "priority_step_0": "priority back at step 0",
    "pause": "tasks that give way",
    "prefetch": "begun early",
    "queries_down": "queries down",
    "ready_s": "runs at",
    "sampled": "on sampled arrival times",
    "recover": "tasks that start",
    "restored": "queries made whole",
    "trigger": "what happens",
    "capacity": "cores free",
    "used": "cores used",
    "use": "tasks kept busy",
    "required": "tasks needed, if even",
    "throughput_percentage": "share of all output",
    "promote_in_s": "bottleneck in (low, median, high)",
    "prepare_in_s": "prepare in",
}
_UNIT_ENDINGS = ("_s", "_mb", "_bytes")
#: Endings of what is counted by the second.
_RATES = ("bytes_s", "records_s")


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number that one can reckon with."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300


def figures_in(record: Any) -> Mapping[str, float]:
    """Return the numbers in a record; nothing where it is none: a file may hold anything under a free name."""
    return {k: v for k, v in record.items() if is_number(v)} if isinstance(record, Mapping) else {}


def unit_of(name: str) -> Unit:
    """Return what a field of this name counts, by the names that files use (``_s``, ``_mb``, ``bytes``, shares)."""
    name = name.replace("-", "_")
    if name.endswith("_mb") or name == "mb":
        return "mb"
    if name.endswith(("bytes", "bytes_s")):
        return "bytes"
    if name.endswith("_s") and not name.endswith(("mb_s", "records_s")):
        return "seconds"
    if name in _SHARES or name.endswith(_SHARE_ENDINGS):
        return "share"
    return "plain"


def label(name: str) -> str:
    """Return a field's name as words; its unit stands with the values."""
    plain = name.replace("-", "_")
    if plain in _LABELS:
        return _LABELS[plain]
    if plain.endswith(_RATES):
        return f"{plain.removesuffix('_s').replace('_', ' ')} a second"
    for ending in _UNIT_ENDINGS:
        plain = plain.removesuffix(ending) or plain
    return plain.replace("_", " ")


def shown(name: str, value: Any) -> str:
    """Return the value of a field of this name."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return quantity(value, unit_of(name))
    if isinstance(value, Mapping):
        return ", ".join(f"{label(str(key))}: {shown(str(key), item)}" for key, item in value.items()) or NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(shown("", item) for item in value) or NOTHING
    return str(value) if isinstance(value, str) else str(value)[:80]


def quantity(value: float, unit: Unit) -> str:
    """Return a number with its unit."""
    if unit == "seconds":
        return duration(value)
    if unit == "bytes":
        return size(value)
    if unit == "mb":
        return size(value * MB)
    if unit == "share":
        return share(value)
    return number(value)


def number(value: float) -> str:
    """Return a number with at most four significant digits where it is no whole one; noise below 1e-9 is 0."""
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if abs(value) < 1e-9:
        return "0"
    if value < 0.0:
        return f"−{number(-value)}"
    if value >= 1e15 or value < 1e-4:
        return f"{value:.3g}"
    if value >= 1000.0 or value.is_integer():
        return f"{value:,.0f}"
    return nearly_one(value) or f"{value:.4g}"


def nearly_one(value: float) -> str | None:
    """Return a number that four digits would round up to 1 with two digits of what is missing, else None.

    What is missing below 1e-9 is noise.
    """
    missing = 1.0 - value
    return f"{value:.{1 - math.floor(math.log10(missing))}f}" if 1e-9 <= missing <= 5e-5 else None


def share(value: float) -> str:
    """Return a share as per cent."""
    percent = 100.0 * value
    if abs(percent) >= 10_000.0:
        return f"{number(value)}{SPACE}times"
    if percent and abs(percent) < 0.005:
        return f"< 0.01{SPACE}%" if percent > 0 else f"> −0.01{SPACE}%"
    digits = 0 if abs(percent - round(percent)) < 1e-9 else 2 if abs(percent) < 1.0 else 1
    return f"{percent:.{digits}f}{SPACE}%".replace("-", "−")


def duration(seconds: float) -> str:
    """Return a time in its two largest units: 0.25 s, 96 s, 6 min 12 s, 2 h 5 min, 3 d 4 h."""
    if seconds < 0.0:
        return f"−{duration(-seconds)}"
    if seconds < 120.0:
        return f"{float(f'{seconds:.3g}'):g}{SPACE}s"
    for limit, large, large_name, small, small_name in (
        (7_200.0, 60, "min", 1, "s"),
        (172_800.0, 3600, "h", 60, "min"),
        (float("inf"), 86_400, "d", 3600, "h"),
    ):
        if seconds < limit:
            whole, rest = divmod(round(seconds / small), large // small)
            return f"{whole:,}{SPACE}{large_name}" + (f"{SPACE}{rest}{SPACE}{small_name}" if rest else "")
    return number(seconds)


def size(value: float) -> str:
    """Return bytes in powers of 1,024."""
    if abs(value) < 1024.0:
        return f"{value:.0f}{SPACE}B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        value /= 1024.0
        if abs(value) < 1000.0 or unit == "PiB":
            break
    return f"{value:.3g}{SPACE}{unit}" if abs(value) < 1000.0 else f"{number(value)}{SPACE}{unit}"


def count(number_of: int, what: str, several: str | None = None) -> str:
    """Return a number of things in words."""
    plural = several or (f"{what[:-1]}ies" if what.endswith("y") else f"{what}s")
    return f"{number_of:,} {what if number_of == 1 else plural}"


def under_assumptions(said: str, assumptions: int) -> str:
    """Return what is *said* of a plan, ``optimal`` for its inputs alone, and how many assumptions it holds for."""
    return f"{'optimal for these inputs' if said == 'optimal' else said}; {count(assumptions, 'assumption')}"

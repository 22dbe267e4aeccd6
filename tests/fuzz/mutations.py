"""Ways to damage a document: delete, duplicate, swap, scale, junk, values from elsewhere, and the ends of ranges."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from random import Random
from typing import Any

from ftplan.model import ranges

#: Values that readers and planners like least.
JUNK: tuple[Any, ...] = (
    None, True, False, "", "x", "a b", "ü\n'\"", "n" * 500, "node:n1", "-", -1, 0, 1, 2, 7, 1000, 0.5, 0.1 + 0.2,
    1e-300, 5e-324, 1e-13, 1e-9, 3e-7, 1e-4, 99999.5, 1e6, 1e9, 1e12, 1e18, 1e24, 1e300, 2**31, 2**63, 10**30, 10**400,
    math.nan, math.inf, -math.inf, -0.0, [], {}, [None], [[]], [1, 2, 3], ["n1"], {"x": 1}, {"": None},
)  # fmt: skip

#: The range of every key that has one.
RANGES: dict[str, ranges.Range] = {
    "cpu": ranges.CORES,  # of nodes too, whose own range is wider
    "used_cpu": ranges.NODE_CORES,
    "rate_out": ranges.RATE,
    "selectivity": ranges.SELECTIVITY,
    "state_bytes": ranges.BYTES,
    "memory_mb": ranges.MEMORY_MB,
    "priority": ranges.PRIORITY,
    "record_time_s": ranges.SECONDS,
    "delay_s": ranges.SECONDS,
    "at_s": ranges.TIME_S,
    "bandwidth_mb_s": ranges.BANDWIDTH_MB_S,
    "probability": ranges.PROBABILITY,
    "failure_probability": ranges.PROBABILITY,
    **dict.fromkeys(("records", "bytes", "cpu_ms", "records_in", "records_out", "busy_ms"), ranges.MEASURED),
}
#: Keys that are often left out, by a key that stands beside them.
ABSENT = {
    "parallelism": ("cpu", "rate_out", "selectivity", "state_bytes", "priority", "record_time_s"),
    "zone": ("memory_mb", "used_cpu", "failure_probability"),
}


def mutated(document: Any, random: Random) -> tuple[Any, str]:
    """Return a copy of a document after one to three mutations, and what was done to it."""
    result = copy.deepcopy(document)
    said = [_mutate(result, random) for _ in range(random.choice((1, 1, 1, 2, 3)))]
    return result, "; ".join(said)


def _mutate(document: Any, random: Random) -> str:
    container, key, place = _place(document, random)
    kind = random.choice(("delete", "duplicate", "swap", "scale", "scale", "junk", "junk", "transplant", "end"))
    if kind == "end":
        said = _ends(document, random)
        if said:
            return said
        kind = "junk"
    value = container[key]
    if kind == "scale" and not _scaled(container, key, random):
        kind = "junk"
    if kind == "delete":
        del container[key]
    elif kind == "duplicate":
        if isinstance(container, list):
            container.insert(random.randint(0, len(container)), copy.deepcopy(value))
        else:
            container[random.choice([*container, f"{key}-2"])] = copy.deepcopy(value)
    elif kind == "swap":
        other = random.choice(_keys(container))
        container[key], container[other] = container[other], container[key]
    elif kind == "junk":
        container[key] = copy.deepcopy(random.choice(JUNK))
    elif kind == "transplant":
        there, other, _ = _place(document, random)
        container[key] = copy.deepcopy(there[other])
    return f"{kind} {place}"


def _ends(document: Any, random: Random) -> str:
    """Set a number, or all of one name, to an end of its range, and return what was done."""
    places = list(_ranged(document))
    if not places:
        return ""
    name = random.choice(sorted({name for _, name in places}))
    allowed = RANGES[name]
    value = random.choice([allowed.low, allowed.high, *([0.0] if allowed.zero else [])])
    chosen = [container for container, other in places if other == name]
    if random.random() < 0.5:
        chosen = [random.choice(chosen)]
    for container in chosen:
        container[name] = value
    return f"end {name} = {value:g} in {len(chosen)} places"


def _ranged(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield mappings and keys in them whose range is known."""
    if isinstance(value, list):
        for item in value:
            yield from _ranged(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in RANGES:
                yield value, key
            else:
                yield from _ranged(item)
        for beside, keys in ABSENT.items():
            if beside in value:
                yield from ((value, key) for key in keys if key not in value)


def _scaled(container: Any, key: Any, random: Random) -> bool:
    """Scale a number, or all numbers right below, and return whether there is any."""
    factor = random.choice((1e12, 1e-12, 1e12, 1e-12, 1e6, 1e-6, -1, 1e3))
    value = container[key]
    if _is_number(value):
        container[key] = value * factor
        return True
    inner = value if isinstance(value, (list, dict)) else ()
    keys = [k for k in _keys(inner) if _is_number(inner[k])]
    for k in keys:
        inner[k] *= factor
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):  # a column of a table
        column = random.choice([*{k: None for row in value for k, v in row.items() if _is_number(v)}] or [""])
        rows = [row for row in value if _is_number(row.get(column))]
        for row in rows:
            row[column] *= factor
        return bool(rows)
    return bool(keys)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _keys(container: Any) -> list[Any]:
    return list(container) if isinstance(container, dict) else list(range(len(container)))


def _place(document: Any, random: Random) -> tuple[Any, Any, str]:
    """Return a container, a key in it, and how to call the place; the deeper the likelier."""
    container, name = document, ""
    while True:
        key = random.choice(_keys(container))
        name += f"[{key}]" if isinstance(container, list) else f".{key[:30]}"
        inner = container[key]
        if not isinstance(inner, (dict, list)) or not inner or random.random() < 0.2:
            return container, key, name
        container = inner

"""Change every statement of valid plans, and count what verify does: ``python -m tests.fuzz.changes``.

A change is *caught* where the plan is refused or found wrong, *named* where the verdict says that the place was not
judged, and *passed* else.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.planners.assessments import Verification

Path_ = tuple[str | int, ...]
Outcome = Literal["caught", "named", "passed"]
#: Parts of a plan, by the first key of a place; all else is its envelope.
PARTS = {"plan": "body", **{n: n for n in ("objective", "rules", "warnings", "options", "summary", "inputs")}}


def leaves(document: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Yield the places of all values; of long lists the first two entries and the last."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, (*place, key))
    elif isinstance(document, list):
        yield place
        for number in sorted({0, 1, len(document) - 1} & set(range(len(document)))):
            yield from leaves(document[number], (*place, number))
    else:
        yield place


def changed(value: Any) -> Iterator[Any]:
    """Yield false values for a true one."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + max(1, abs(value) // 50)
        yield value - max(1, abs(value) // 50)
        if isinstance(value, float) and abs(value) > 1e-6:
            yield value * 1.001
    elif isinstance(value, str):
        yield value + "x"
    elif isinstance(value, list) and value:
        yield value[1:]
        yield value[:-1]
        yield [*value, value[0]]
        yield []


def at(document: Any, place: Path_) -> Any:
    for key in place:
        document = document[key]
    return document


def put(document: Any, place: Path_, value: Any) -> Any:
    """Return a document with another value at a place; it shares what is elsewhere."""
    if not place:
        return value
    made = copy.copy(document)
    made[place[0]] = put(document[place[0]], place[1:], value)
    return made


def named(place: Path_) -> str:
    return re.sub(r"\.\[", "[", ".".join("[]" if isinstance(key, int) else key for key in place))


def judged(document: Any, problem: ftplan.Problem, place: Path_, before: Verification) -> Outcome:
    """Return what verify says of a document that was changed at a place; *before* is what it said of the true one."""
    try:
        said = verify(load_plan(document).value, problem)
    except FtplanError:
        return "caught"
    if not said.valid:
        return "caught"
    if (said.unchecked, said.not_stated) != (before.unchecked, before.not_stated):
        return "named"
    parts = [key for key in place if isinstance(key, str)]
    above = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    open_ = {re.sub(r"\[\d*\]| \(.*", "", name) for name in (*said.not_recomputed, *said.taken_as_stated)}
    open_ |= {"objective.bound"} if "bound" in open_ else set()
    return "named" if above & open_ else "passed"


def part_of(place: Path_) -> str:
    if "steps" in place and place[0] == "plan":
        return "steps"
    return PARTS.get(str(place[0]), "envelope")


def main() -> None:
    from tests.planners.plan_cases import CASES

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.changes")
    parser.add_argument("--passed", action="store_true", help="list the changes that nobody found")
    given = parser.parse_args()
    counts: Counter[tuple[str, Outcome]] = Counter()
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            plan, problem = case(Path(folder))
            document = json.loads(plan.to_json())
            before = verify(load_plan(document).value, problem)
            for place in leaves(document):
                for value in changed(at(document, place)):
                    outcome = judged(put(document, place, value), problem, place, before)
                    counts[part_of(place), outcome] += 1
                    if outcome == "passed" and given.passed:
                        print(f"{case.__name__}: {named(place)}: {at(document, place)!r} -> {value!r}"[:160])
    for part in (*dict.fromkeys(name for name, _ in counts), None):
        own = Counter({key: count for key, count in counts.items() if part in (None, key[0])})
        one = {name: sum(n for (_, q), n in own.items() if q == name) for name in ("caught", "named", "passed")}
        made = sum(one.values())
        shares = ", ".join(f"{name} {count / made:.1%}" for name, count in one.items())
        print(f"{part or 'all':10} {made:6,} changes: {shares}")


if __name__ == "__main__":
    main()

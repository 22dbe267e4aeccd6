"""What the answers of cases state beside their figures, case by case and all together: warnings and assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Fields of an answer that list entries with a code, and the key of each entry's sentence.
ANNOTATIONS = {"warnings": "message", "assumptions": "text"}

#: An entry as files have it: its code, its sentence, perhaps a value.
Entry = Mapping[str, Any]


def annotations_of(answer: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the entries of a plan or evaluation by field, without fields that list none; {} where there is no answer.

    A case that makes no comparisons has no warnings of these.
    """
    listed = {
        "warnings": [item.to_dict() for item in getattr(answer, "warnings", ())],
        "assumptions": [item.assumed() for item in getattr(answer, "assumptions", None) or ()],
    }
    return {name: entries for name, entries in listed.items() if entries}


def union(by_case: Iterable[tuple[str, Sequence[Entry]]], sentence: str) -> list[dict[str, Any]]:
    """Return each code once, in the order of the first case that has it, with that case's entry.

    Its sentence, under the key *sentence*, says how many cases have the code, and ``cases`` is their number.
    """
    first: dict[str, tuple[str, Entry]] = {}
    counts: dict[str, int] = {}
    total = 0
    for case, entries in by_case:
        total += 1
        for entry in {entry["code"]: entry for entry in reversed(entries)}.values():
            counts[entry["code"]] = counts.get(entry["code"], 0) + 1
        for entry in entries:
            first.setdefault(entry["code"], (case, entry))
    return [
        {**entry, sentence: f"{_share(counts[code], total, case)}{entry[sentence]}", "cases": counts[code]}
        for code, (case, entry) in first.items()
    ]


def _share(count: int, total: int, case: str) -> str:
    if count < total:
        return f"{count:,} of {total:,} cases, first {case}: "
    return f"all {total:,} cases: " if total > 1 else ""

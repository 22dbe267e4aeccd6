"""Identifiers, selectors, and the total order in which every tie ends; and names of an engine as identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from ftplan.errors import FtplanError

LONGEST_ID = 80
_FOREIGN = re.compile(r"[^A-Za-z0-9._]+")

ID_PATTERN = r"^[A-Za-z0-9._-]+$"
_ID = re.compile(r"[A-Za-z0-9._-]+")
_DIGIT_RUN = re.compile(r"([0-9]+)")
SELECTOR_KINDS = ("node", "zone", "operator", "task", "query", "key-group")
_INDEXED_KINDS = ("task", "query", "key-group")
NaturalKey = tuple[tuple[tuple[int, int, str], ...], str]


def slug(name: str) -> str:
    """Return a name as an identifier of at most 80 characters.

    What is one already stays; else accents are dropped, and runs of other characters and of dashes become one dash.
    """
    if is_id(name) and len(name) <= LONGEST_ID:
        return name
    plain = name
    if not name.isascii():
        plain = "".join(mark for mark in unicodedata.normalize("NFD", name) if not unicodedata.combining(mark))
    return _FOREIGN.sub("-", plain)[:LONGEST_ID].strip("-") or "unnamed"


def slugs(names: Mapping[str, str]) -> dict[str, str]:
    """Return a unique identifier by key for the names by key; a second of one slug has -2, in natural order of keys."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    first_choice = {key: slug(name) for key, name in names.items()}
    plain = {*first_choice.values()}
    for key in sorted(names, key=lambda key: (natural_key(names[key]), natural_key(key))):
        first = chosen = first_choice[key]
        number = 1
        while chosen in taken or (number > 1 and chosen in plain):
            number += 1
            chosen = f"{first[: LONGEST_ID - len(str(number)) - 1]}-{number}"
        ids[key] = chosen
        taken.add(chosen)
    return ids


def listed(names: list[str]) -> str:
    """Return names as a message lists them: the first three in natural order, and how many more."""
    ordered = sorted(names, key=natural_key)
    return ", ".join(ordered[:3]) + (f" and {len(ordered) - 3} more" if len(ordered) > 3 else "")


def is_id(text: str) -> bool:
    """Return whether *text* is an identifier: one or more of ``A-Za-z0-9._-``."""
    return _ID.fullmatch(text) is not None


def natural_key(text: str) -> NaturalKey:
    """Return a sort key that compares digit runs as numbers: n2 before n10; equal keys end at the text itself."""
    parts = _DIGIT_RUN.split(text)
    return (
        tuple((1, int(part), "") if i % 2 else (0, 0, part) for i, part in enumerate(parts)),
        text,
    )


@dataclass(frozen=True, slots=True, order=True)
class Selector:
    """A part of the job or of the cluster: ``node:ID``, ``zone:ID``, ``operator:ID``, ``task:OP/INDEX``, and so on."""

    kind: str
    name: str
    index: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.index is None else f"{self.kind}:{self.name}/{self.index}"


def parse_selector(text: str) -> Selector:
    """Parse a selector, split at the first ``:`` and the last ``/``.

    Raises
    ------
    FtplanError
        If the kind is unknown, the name is no identifier or the index is missing or no number.
    """
    kind, colon, rest = text.partition(":")
    if not colon or kind not in SELECTOR_KINDS:
        raise FtplanError(
            f"selector {text!r}: expected KIND:NAME with KIND one of {', '.join(SELECTOR_KINDS)}, "
            "for instance node:n1 or task:join/3"
        )
    if kind not in _INDEXED_KINDS:
        if not is_id(rest):
            raise FtplanError(f"selector {text!r}: {rest!r} is no identifier (letters, digits, '.', '_', '-')")
        return Selector(kind, rest)
    name, slash, number = rest.rpartition("/")
    if not slash or not is_id(name) or not number.isascii() or not number.isdigit():
        raise FtplanError(f"selector {text!r}: expected {kind}:OPERATOR/NUMBER, for instance {kind}:join/3")
    return Selector(kind, name, int(number))

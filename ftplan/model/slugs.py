"""Names of an engine as identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from ftplan.model.names import is_id, natural_key

LONGEST_ID = 80
_FOREIGN = re.compile(r"[^A-Za-z0-9._]+")


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

"""Every planner there is, as the kinds of plan list them. Importing this loads no solver.

Algorithms import this to run others of their question: it names no question, and knows no files.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pkgutil import resolve_name
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model import kinds


@dataclass(frozen=True, slots=True)
class Row:
    """A planner: where its function is, and what it promises; ``kind`` is filled in by the kind that lists it."""

    name: str
    function: str  # "module:function"
    exact: bool
    guarantee: str
    source: str
    default: bool = False
    kind: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, and the command, by name."""
        return {**asdict(self), "command": self.kind}


def rows(kind: str | None = None) -> tuple[Row, ...]:
    """Return the planners of one kind of plan (none of an unknown one), or all."""
    listed = sorted(kinds.ROWS, key=lambda item: item.in_lists)
    return tuple(row for item in listed if kind in (None, item.name) for row in kinds.question(item.name).planners)


def row(kind: str, name: str | None) -> Row:
    """Return the planner called *name* of a kind of plan; None means the default.

    Raises FtplanError if the kind has no such planner.
    """
    if kind not in kinds.names():
        renamed = kinds.renamed(kind)
        if renamed is not None:
            raise FtplanError(f"kind of plan: {renamed}")
        known = kinds.names()
        raise FtplanError(f"unknown kind of plan {kind!r}{suggestion(kind, known)}: one of {', '.join(known)}")
    candidates = rows(kind)
    for candidate in candidates:
        if candidate.name == name or (name is None and candidate.default):
            return candidate
    names = [r.name for r in candidates]
    raise FtplanError(f"--algorithm: unknown {name!r}{suggestion(str(name), names)}: one of {', '.join(names)}")


def load(planner: Row) -> Callable[..., Any]:
    """Import and return a planner's function."""
    loaded: Callable[..., Any] = resolve_name(planner.function)
    return loaded


def beside(planner: Row, name: str) -> Callable[..., Any] | None:
    """Import and return a function that stands in a planner's module, such as ``curve``; None where it has none."""
    module = importlib.import_module(planner.function.partition(":")[0])
    found: Callable[..., Any] | None = getattr(module, name, None)
    return found

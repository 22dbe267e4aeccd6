"""A line of a trace: what a search knew at a moment, as ``--trace`` writes it and the report draws it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A better value or bound.

    Attributes
    ----------
    seconds
        Since planning began.
    value, bound
        The best known by then, None while there is none.
    by
        Who found it: an algorithm, a model, a solver.
    search
        What was searched: the objective where it is the whole plan, else a part of it, whose values are its own.
    """

    seconds: float
    value: float | None
    bound: float | None
    by: str
    search: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as the file names them."""
        return asdict(self)

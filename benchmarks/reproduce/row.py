"""What a row is: a figure, how its numbers are made, and the paper's claims with the rules that judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

HOLDS, PARTLY, FAILS = "holds", "holds partly", "does not hold"
#: How many checks of a rule a verdict tells.
SHOWN = 5


class Table(NamedTuple):
    """Rows of values under named columns; what is asked by name must be there."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def column(self, name: str, **where: Any) -> list[Any]:
        """Return the values of a column, of the rows whose other columns have the given values."""
        at = self.columns.index(name)
        kept = [(self.columns.index(column), value) for column, value in where.items()]
        return [row[at] for row in self.rows if all(row[i] == value for i, value in kept)]

    def value(self, name: str, **where: Any) -> Any:
        """Return the one value of a column in the one row that is meant."""
        (value,) = self.column(name, **where)
        return value

    def keys(self, name: str) -> list[Any]:
        """Return the different values of a column, in order."""
        return list(dict.fromkeys(self.column(name)))


class Check(NamedTuple):
    """One thing that a rule asks of the numbers: whether it is so, and the numbers in words."""

    holds: bool
    numbers: str


@dataclass(frozen=True)
class Claim:
    """What a paper states, in other words than its own, where it does, and what the table must show for it to hold."""

    says: str
    section: str
    rule: str
    checks: Callable[[Table], Iterable[Check]]

    def verdict(self, table: Table) -> str:
        """Return what comes of the rule, with the numbers; nothing to check is no proof."""
        checks = list(self.checks(table))
        wrong = [check.numbers for check in checks if not check.holds]
        if not wrong and checks:
            return f"{HOLDS}: {_told([check.numbers for check in checks])}"
        how = FAILS if len(wrong) == len(checks) else PARTLY
        return f"{how} because {_told(wrong) or 'nothing was measured'}"


def _told(numbers: list[str]) -> str:
    """Return the first few of the numbers, and how many more there are."""
    more = len(numbers) - SHOWN
    return "; ".join(numbers[:SHOWN]) + (f"; and {more} more like that" if more > 0 else "")


class Outcome(NamedTuple):
    """The numbers of a figure, and what draws them into a file."""

    table: Table
    draw: Callable[[Path], None]


@dataclass(frozen=True)
class Row:
    """A figure, table, example or theorem of a paper.

    ``paper`` is a key of REFERENCES.md; ``make`` takes whether it is to be quick, with few and small instances.
    ``assumed`` is what the paper leaves open.
    """

    name: str
    paper: str
    what: str
    title: str
    make: Callable[[bool], Outcome]
    claims: tuple[Claim, ...]
    assumed: str

"""What an engine answered, read part by part: the shape of each is checked when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ftplan.engines.importing.draft import MOST
from ftplan.errors import FtplanError


@dataclass(frozen=True, slots=True)
class Part:
    """A value and where it stands. Methods raise FtplanError with the place where it is not what they return."""

    value: Any
    where: str

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def wrong(self, expected: str) -> FtplanError:
        """Return the error that says what was expected here."""
        kinds = {dict: "a mapping", list: "a list", str: "text", type(None): "nothing", bool: "true or false"}
        return FtplanError(f"{self.where}: expected {expected}, got {kinds.get(type(self.value), 'a number')}")

    def at(self, key: str) -> Part:
        """Return what stands below a key of a mapping; None where nothing does."""
        if not isinstance(self.value, dict):
            raise self.wrong("a mapping")
        return Part(self.value.get(key), f"{self.where}: {key}")

    def items(self) -> Iterator[tuple[str, Part]]:
        """Yield the parts of a mapping by key; nothing is an empty one."""
        if self.value is not None and not isinstance(self.value, dict):
            raise self.wrong("a mapping")
        for key, value in (self.value or {}).items():
            yield key, Part(value, f"{self.where}: {key}")

    def each(self) -> Iterator[Part]:
        """Yield the parts of a list; nothing is an empty one."""
        if self.value is not None and not isinstance(self.value, list):
            raise self.wrong("a list")
        for i, value in enumerate(self.value or ()):
            yield Part(value, f"{self.where}[{i}]")

    def text(self) -> str:
        """Return text; a number as it is written."""
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool):
            return str(self.value)
        if not isinstance(self.value, str) or not self.value:
            raise self.wrong("text")
        return self.value

    def number(self) -> float | None:
        """Return a number of at least 0, also from text; None where nothing stands, or what Java writes for 0 / 0."""
        if self.value in (None, "", "NaN"):
            return None
        try:
            number = math.nan if isinstance(self.value, bool) else float(self.value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0.0 <= number < math.inf:
            raise self.wrong("a number of at least 0")
        return number

    def count(self) -> int | None:
        """Return a whole number of at least 0, also from text; None where nothing stands."""
        number = self.number()
        if number is not None and (not number.is_integer() or number > MOST):
            raise FtplanError(f"{self.where}: {number:g} is no count")
        return None if number is None else int(number)

"""The ranges of numbers in files: what the models carry. Readers and JSON Schemas both take them from here.

Smaller and larger numbers are slips of a unit, and would end in infinities or in lost digits further on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Range:
    """From *low* to *high*; 0 beside it where *zero*."""

    low: float
    high: float
    zero: bool = True

    def holds(self, value: float) -> bool:
        """Return whether a number lies in the range."""
        return self.low <= value <= self.high or (self.zero and value == 0.0)

    def __str__(self) -> str:
        return f"{'0 or ' if self.zero else ''}from {self.low:g} to {self.high:g}"

    def checked(self, value: float) -> float:
        """Return a number that lies in the range; raise ValueError (with the range) for any other."""
        if self.holds(value):
            return value
        raise ValueError(f"must be {self}, got {value:g}")

    def schema(self) -> dict[str, Any]:
        """Return what a JSON Schema says of the range, beside the type."""
        if not self.zero:
            return {"minimum": self.low, "maximum": self.high}
        return {"minimum": 0, "maximum": self.high, "not": {"exclusiveMinimum": 0, "exclusiveMaximum": self.low}}


#: Of a task, and of a node, which may have to take many.
CORES = Range(1e-9, 1e6)
NODE_CORES = Range(1e-9, 1e12)
RATE = Range(1e-9, 1e12)
SELECTIVITY = Range(1e-9, 1e9)
SHARE = Range(1e-9, 1e9)
BYTES = Range(1e-6, 1e18)
MEMORY_MB = Range(1e-6, 1e12, zero=False)
PRIORITY = Range(1e-9, 1e9, zero=False)
SECONDS = Range(1e-12, 1e9)
#: When something happens; plans tell times apart to a billionth of a second.
TIME_S = Range(1e-6, 1e9)
INTERVAL_S = Range(1e-6, 1e9, zero=False)
BANDWIDTH_MB_S = Range(1e-6, 1e9, zero=False)
PROBABILITY = Range(1e-12, 1.0)
#: Records, milliseconds or bytes in a window.
MEASURED = Range(1e-9, 1e18)
#: What follows from the others, such as rates that several selectivities multiply, and what a plan states.
DERIVED = Range(1e-24, 1e24)
LARGEST = 1e36

"""What a source of measured recoveries holds, and how it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import Curve, MeasuredRecovery


class ReadingOptions(NamedTuple):
    """How recoveries are read.

    Attributes
    ----------
    columns
        Role of a column, such as ``recovery`` or ``lag``, and what it is called.
    interval_s
        Seconds between checkpoints where a source does not say.
    """

    columns: Mapping[str, str] = {}
    interval_s: float | None = None


class RecoveryReading(NamedTuple):
    """What a source holds: recoveries, or curves in which they are to be found; and what was left out."""

    recoveries: tuple[MeasuredRecovery, ...] = ()
    curves: tuple[Curve, ...] = ()
    warnings: tuple[Warn, ...] = ()
    inputs: tuple[InputFile, ...] = ()


def joined(readings: Iterable[RecoveryReading]) -> RecoveryReading:
    """Return several readings as one."""
    listed = list(readings)
    return RecoveryReading(
        tuple(item for one in listed for item in one.recoveries),
        tuple(item for one in listed for item in one.curves),
        tuple(item for one in listed for item in one.warnings),
        tuple(item for one in listed for item in one.inputs),
    )

"""A table with a measured recovery a row; values of a column ``<recovery>_actual`` win over what was predicted.

Columns, by the names of :data:`ftplan.costs.recoveries.tables.NAMES` or as options say: ``recovery`` (seconds from the
failure until the job has caught up) or parts of it (``detection``, ``restart``, ``transfer``), ``rate`` (records per
second into the job), ``interval`` (seconds between checkpoints), ``bytes`` (what the largest restore fetched),
``stopped`` (seconds from the failure until tasks processed again), ``replayed`` (how old the checkpoint was),
``capacity`` (records per second while catching up).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading, column_of, numbers, read_table
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name, recorded_path, sha256_of_file
from ftplan.model import ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import MeasuredRecovery

_ALLOWED = {
    "recovery": ranges.SECONDS,
    "rate": ranges.RATE,
    "interval": ranges.INTERVAL_S,
    "bytes": ranges.BYTES,
    "detection": ranges.SECONDS,
    "restart": ranges.SECONDS,
    "transfer": ranges.SECONDS,
    "stopped": ranges.SECONDS,
    "replayed": ranges.SECONDS,
    "capacity": ranges.RATE,
}
_MEASURED = ("recovery", "detection", "restart", "transfer", "stopped")


def fits(columns: Sequence[str], options: ReadingOptions) -> bool:
    """Return whether a table has a column of recovery times or of parts of them."""
    return any(column_of(role, columns, options._replace(columns={}), "") for role in _MEASURED) or any(
        role in options.columns for role in _MEASURED
    )


def read(path: Path, options: ReadingOptions) -> RecoveryReading:
    """Read a table of recoveries. Rows without an interval are left out and counted where others have one.

    Raises
    ------
    FtplanError
        If it cannot be read, measures nothing, or holds a value that is no number or outside its range.
    """
    name = display_name(path)
    frame = read_table(path)
    known = [str(column) for column in frame.columns]
    columns = {role: column_of(role, known, options, name) for role in _ALLOWED}
    if not any(columns[role] for role in _MEASURED):
        listed = ", ".join(known)
        raise FtplanError(
            f"{name}: no column of recovery times: name it by --column recovery=COLUMN; there are {listed}"
        )
    values = {
        role: numbers(frame, column, _ALLOWED[role], name) if column else np.full(len(frame), np.nan)
        for role, column in columns.items()
    }
    actual = f"{columns['recovery']}_actual"
    if actual in known:  # then the other column is what somebody predicted
        seen = numbers(frame, actual, _ALLOWED["recovery"], name)
        values["recovery"] = np.where(np.isfinite(seen), seen, values["recovery"])
    measured = np.any([np.isfinite(values[role]) for role in _MEASURED], axis=0)
    kept = measured.copy()
    warnings = []
    if not measured.all():
        warnings.append(Warn("ROWS_LEFT_OUT", f"{name}: {_rows(~measured)} without a recovery time"))
    if columns["interval"] is not None:
        timed = np.isfinite(values["recovery"])
        kept &= ~timed | np.isfinite(values["interval"])
        if (measured & ~kept).any():
            warnings.append(Warn("ROWS_LEFT_OUT", f"{name}: {_rows(measured & ~kept)} without a checkpoint interval"))
    elif options.interval_s is not None:
        values["interval"][:] = options.interval_s
    zero = kept & (values["recovery"] == 0.0)
    if zero.any():
        warnings.append(Warn("ROWS_LEFT_OUT", f"{name}: {_rows(zero)} with a recovery of 0 seconds"))
        kept &= ~zero
    recoveries = tuple(
        MeasuredRecovery(
            f"{name}: row {row}",
            recovery_s=_number(values["recovery"][row]),
            rate=_number(values["rate"][row]),
            interval_s=_number(values["interval"][row]),
            state_bytes=_number(values["bytes"][row]),
            detection_s=_number(values["detection"][row]),
            restart_s=_number(values["restart"][row]),
            transfer_s=_number(values["transfer"][row]),
            stopped_s=_number(values["stopped"][row]),
            replayed_s=_number(values["replayed"][row]),
            capacity=_number(values["capacity"][row]) or None,
        )
        for row in np.flatnonzero(kept)
    )
    source = InputFile("recoveries", recorded_path(path), sha256_of_file(path))
    return RecoveryReading(recoveries, warnings=tuple(warnings), inputs=(source,))


def _rows(mask: NDArray[np.bool_]) -> str:
    count = int(mask.sum())
    return f"{count} {'row is' if count == 1 else 'rows are'} left out"


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

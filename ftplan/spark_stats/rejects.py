"""Rows that could not be counted: how many for each reason, and the rows themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError

#: Rows rejected for this reason do not count towards --max-rejects: the user asked to leave these rows out.
OUTSIDE = "outside --from and --to"
_SHOWN_REASONS = 3
_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row as it stands in the log, its file (None where unknown) and why it was rejected."""

    file: str | None
    reason: str
    row: str


@dataclass(frozen=True, slots=True)
class Rejects:
    """Exact counts by (file, reason), and the rows that are kept, in order of file, reason and text."""

    rows_read: int
    counts: Mapping[tuple[str | None, str], int]
    rows: tuple[RejectedRow, ...]

    @property
    def total(self) -> int:
        """Number of rejected rows."""
        return sum(self.counts.values())

    @property
    def faulty(self) -> int:
        """Number of rejected rows, those outside of the asked time range left out."""
        return sum(n for (_, reason), n in self.counts.items() if reason != OUTSIDE)


def collect_rejects(rejected: Any, accepted: int, reasons: Sequence[str], files: Sequence[str], limit: int) -> Rejects:
    """Put together what the pass gave of rejected rows (see :class:`ftplan.spark_stats.windows.Sums`).

    Of each file and reason about as many rows are kept, the first by their text, *limit* in all. Duplicates are kept
    as often as they occur, but once where they share a bucket with others.
    """
    counts: dict[tuple[str | None, str], int] = {}
    texts: dict[tuple[int, int], list[str]] = {}
    ends = [
        rejected[c].to_pylist() if c in rejected.column_names else [None] * len(rejected) for c in ("first", "last")
    ]
    columns = [rejected[c].to_pylist() for c in ("file", "reason", "rows")]
    for file, reason, rows, first, last in zip(*columns, *ends, strict=True):
        key = (files[file] if file >= 0 else None, reasons[reason])
        counts[key] = counts.get(key, 0) + rows
        if first is not None:
            texts.setdefault((file, reason), []).extend([first] * min(rows, limit) if first == last else [first, last])
    kept: list[RejectedRow] = []
    shares = _shares({key: len(found) for key, found in texts.items()}, limit)
    for (file, reason), found in sorted(texts.items()):
        path = files[file] if file >= 0 else None
        kept += [RejectedRow(path, reasons[reason], text) for text in sorted(found)[: shares[file, reason]]]
    ordered = dict(sorted(counts.items(), key=lambda item: (item[0][0] or "", item[0][1])))
    return Rejects(accepted + sum(counts.values()), ordered, tuple(kept))


def _shares(found: Mapping[tuple[int, int], int], limit: int) -> dict[tuple[int, int], int]:
    """Share out a limit evenly; what one does not need goes to the others."""
    shares, left = {}, limit
    for i, (key, count) in enumerate(sorted(found.items(), key=lambda item: (item[1], item[0]))):
        shares[key] = min(count, left // (len(found) - i))
        left -= shares[key]
    return shares


def check_share(rejects: Rejects, max_rejects: float, log_name: str) -> None:
    """Refuse a log of which more than the share *max_rejects* was rejected.

    Raises FtplanError with the counts, the commonest reasons and the first row for each.
    """
    if rejects.faulty <= max_rejects * rejects.rows_read:
        return
    by_reason: dict[str, int] = {}
    for (_, reason), n in rejects.counts.items():
        if reason != OUTSIDE:
            by_reason[reason] = by_reason.get(reason, 0) + n
    parts = []
    for reason, n in sorted(by_reason.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_REASONS]:
        example = next((r for r in rejects.rows if r.reason == reason), None)
        first = f', first: "{_short(example.row)}"' if example else ""
        parts.append(f"{n:,} × {reason}{first}")
    if len(by_reason) > _SHOWN_REASONS:
        parts.append(f"{len(by_reason) - _SHOWN_REASONS} more reasons")
    raise FtplanError(
        f"{log_name}: {rejects.faulty:,} of {rejects.rows_read:,} rows "
        f"({100 * rejects.faulty / rejects.rows_read:.2f} %) rejected, more than --max-rejects {max_rejects:g}: "
        + "; ".join(parts)
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def write_rejects(rejects: Rejects, folder: Path) -> None:
    """Write ``rejects/rows.jsonl`` (file, reason, row) and ``rejects/summary.json`` (exact counts) if there are any."""
    if not rejects.total:
        return
    place = folder / "rejects"
    place.mkdir()
    with (place / "rows.jsonl").open("w", encoding="utf-8") as out:
        for row in rejects.rows:
            record = {"file": row.file, "reason": row.reason, "row": row.row}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    counts = [{"file": file, "reason": reason, "rows": n} for (file, reason), n in rejects.counts.items()]
    summary = {
        "rows_read": rejects.rows_read,
        "rows_rejected": rejects.total,
        "rows_kept": len(rejects.rows),
        "reasons": counts,
    }
    (place / "summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

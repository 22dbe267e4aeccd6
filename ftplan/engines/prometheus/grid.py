"""Pieces of a range of time on a grid that is the same whenever one asks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from ftplan.errors import FtplanError

#: Longest piece in ms; most steps in a piece (Prometheus refuses more than 11,000).
PIECE_MS, MOST_STEPS = 3_600_000, 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Piece(NamedTuple):
    """Some steps of the grid, both ends among them, in ms since the epoch."""

    start_ms: int
    end_ms: int


class Grid(NamedTuple):
    """The steps in a range of time, in ms since the epoch."""

    start_ms: int
    end_ms: int
    step_ms: int

    @classmethod
    def of(cls, start: datetime, end: datetime, every_s: float) -> Grid:
        """Return the steps from *start* to *end*.

        Raises FtplanError if there is none, or a step is no whole number of milliseconds.
        """
        step = round(every_s * 1000)
        if step < 1 or abs(every_s * 1000 - step) > 1e-6:
            raise FtplanError(f"--every: {every_s!r} s is not a whole number of milliseconds")
        first = -(-((start - _EPOCH) // timedelta(milliseconds=1)) // step) * step
        last = (end - _EPOCH) // timedelta(milliseconds=1) // step * step
        if last <= first:
            raise FtplanError(f"from {start:%Y-%m-%dT%H:%M:%SZ} to {end:%Y-%m-%dT%H:%M:%SZ} there are no two steps")
        return cls(first, last, step)

    def pieces(self) -> Iterator[Piece]:
        """Yield the steps in pieces that begin at the same times whatever the range is."""
        long = self.step_ms * min(max(PIECE_MS // self.step_ms, 1), MOST_STEPS)
        for begin in range(self.start_ms // long * long, self.end_ms + 1, long):
            yield Piece(max(begin, self.start_ms), min(begin + long - self.step_ms, self.end_ms))

    def joined(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Return the same steps in as few pieces as can be, in order of time; cost n log n."""
        joined: list[Piece] = []
        for piece in sorted(pieces):
            if joined and piece.start_ms <= joined[-1].end_ms + self.step_ms:
                joined[-1] = joined[-1]._replace(end_ms=max(joined[-1].end_ms, piece.end_ms))
            else:
                joined.append(piece)
        return joined

    def missing(self, piece: Piece, there: Sequence[Piece]) -> list[Piece]:
        """Return what of a piece is not *there*, as :meth:`joined` returns it; looks only at what meets the piece."""
        gaps, begin = [], piece.start_ms
        first = bisect_left(there, begin, key=attrgetter("end_ms"))
        for known in there[first : bisect_right(there, piece.end_ms, first, key=attrgetter("start_ms"))]:
            if known.start_ms > begin:
                gaps.append(Piece(begin, known.start_ms - self.step_ms))
            begin = max(begin, known.end_ms + self.step_ms)
        return [*gaps, Piece(begin, piece.end_ms)] if begin <= piece.end_ms else gaps


def piece_of(path: str) -> Piece | None:
    """Return the piece that a request asked for, None where it asked for none."""
    try:
        given = parse_qs(urlsplit(path).query)
        start, end = (round(float(given[name][0]) * 1000) for name in ("start", "end"))
    except (KeyError, ValueError, OverflowError):
        return None
    return Piece(start, end)


def seconds(ms: int) -> str:
    """Return milliseconds as Prometheus takes times and steps: seconds, with as few digits as they need."""
    whole, rest = divmod(ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


def written(ms: int) -> str:
    """Return a time as ISO text in UTC."""
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat().replace("+00:00", "Z")

"""What travels on streams: records, numbered one after another on each stream, and barriers between batches."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

#: Which record it is: the same whenever a deterministic task makes it from the same records in the same order.
Identity = Hashable

#: "Stream" of the records that a source reads from its log.
LOG = -1


class Records(NamedTuple):
    """Consecutive records of a batch on a stream: numbers ``first .. first + size - 1``.

    *identities* names them one by one, or is empty where identities are not kept.
    """

    stream: int
    batch: int
    first: int
    size: int
    identities: tuple[Identity, ...] = ()

    @property
    def last(self) -> int:
        """Number of the last record; the one before *first* where there is none."""
        return self.first + self.size - 1

    def after(self, number: int) -> Records:
        """Return those whose number is above *number*."""
        cut = min(max(number + 1 - self.first, 0), self.size)
        return self._replace(first=self.first + cut, size=self.size - cut, identities=self.identities[cut:])


class Barrier(NamedTuple):
    """The end of a batch on a stream. A punctuation lies on such an end, and the barrier stands for it."""

    stream: int
    batch: int


Message = Records | Barrier

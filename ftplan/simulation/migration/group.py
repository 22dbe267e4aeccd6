"""A key group's records and its state, which is a fold over them: what is lost, doubled or out of order shows in it."""

from __future__ import annotations

from typing import NamedTuple

#: Digests are numbers modulo this prime, and the factor of each step.
_PRIME, _FACTOR = (1 << 61) - 1, 1_000_003


class GroupRecord(NamedTuple):
    """A record of a key group.

    ``number`` counts those of its upstream instance from 0 on. ``delay_s`` is how long it is on the way, and
    ``queue_s`` how long it waits behind other work, to whichever node it goes.
    """

    upstream: int
    number: int
    sent_s: float
    delay_s: float
    queue_s: float

    @property
    def value(self) -> int:
        """What the record says: a different number for each."""
        return ((self.number + 1) * 2_654_435_761 + self.upstream * 40_503) % _PRIME


class GroupState:
    """What a key group has of its records: for each upstream instance the last number, and a digest of all in order.

    Records of different upstream instances may be mixed in any way: the paper leaves their order open.
    """

    __slots__ = ("digest", "last")

    def __init__(self, upstreams: int) -> None:
        self.last = [-1] * upstreams
        self.digest = [0] * upstreams

    def covers(self, record: GroupRecord) -> bool:
        """Return whether a record, or a later one of its upstream instance, has been applied."""
        return record.number <= self.last[record.upstream]

    def follows(self, record: GroupRecord) -> bool:
        """Return whether a record is the next of its upstream instance."""
        return record.number == self.last[record.upstream] + 1

    def apply(self, record: GroupRecord) -> int:
        """Apply a record; return what the group puts out for it."""
        upstream = record.upstream
        self.digest[upstream] = (self.digest[upstream] * _FACTOR + record.value) % _PRIME
        self.last[upstream] = record.number
        return self.digest[upstream]

    def copy(self) -> GroupState:
        """Return a state that later records do not change."""
        other = GroupState(0)
        other.last, other.digest = list(self.last), list(self.digest)
        return other

    def same_as(self, other: GroupState) -> bool:
        """Return whether two states come of the same records."""
        return self.digest == other.digest and self.last == other.last


class GroupOutput(NamedTuple):
    """What a node put out for a record, and when."""

    record: GroupRecord
    digest: int
    at_s: float
    new: bool  # by the new node


class NewestCheckpoint:
    """Where the checkpoint of a key group lies: the newest that has come, and none other once it is in use."""

    def __init__(self, upstreams: int) -> None:
        self.checkpoint = GroupState(upstreams)
        self.in_use = False

    def store(self, checkpoint: GroupState) -> bool:
        """Take a checkpoint; return whether it is stored."""
        older = any(own > other for own, other in zip(self.checkpoint.last, checkpoint.last, strict=True))
        if self.in_use or older:
            return False
        self.checkpoint = checkpoint
        return True

"""Poll an endpoint at a steady pace, through outages, until the time is over or somebody ends it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from ftplan.engines.collecting.asking import Asking, OutOfReachError, Poll, TimeOverError
from ftplan.reports.numbers import count

#: A pause in an outage is no longer than this many times the pace, and no longer than this many seconds unless the
#: pace itself is.
LONGEST_PAUSE, LONGEST_PAUSE_S = 8, 300.0


@dataclass(frozen=True)
class Pace:
    """When to poll: every ``every_s`` seconds for ``for_s`` seconds; None is until somebody ends it, 0 is one poll.

    The times are handed in, so that tests need not wait: ``seconds`` never goes back, ``now`` is what lines say.
    """

    every_s: float
    for_s: float | None = None
    seconds: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), repr=False)
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def slots(self, missed: Callable[[int, float], None]) -> Iterator[Slot]:
        """Yield the polls; sleeps before each. They stay on a grid of ``every_s`` however long one takes.

        *missed* hears how many were skipped because the one before took too long, and the seconds it took. A slot whose
        ``pause`` is set makes the next come that many steps later.
        """
        begun, number = self.seconds(), 0
        while True:
            slot = Slot(number)
            started = self.seconds()
            yield slot
            took = self.seconds() - started
            after = number + max(slot.pause, 1)
            number = max(after, math.ceil((self.seconds() - begun) / self.every_s))
            if number > after:
                missed(number - after, took)
            if self.for_s is not None and number * self.every_s > self.for_s:
                return
            self.sleep(max(begun + number * self.every_s - self.seconds(), 0.0))


@dataclass
class Slot:
    """One poll: its number on the grid, and after how many steps the next comes."""

    number: int
    pause: int = 1


@dataclass
class CollectionSummary:
    """What came of a collection."""

    polls: int = 0  # how many were begun
    failed: int = 0  # those in which the endpoint was out of reach
    incomplete: int = 0  # those in which some requests had no answer
    skipped: int = 0  # those that were left out because the one before took longer than the pace, or while backing off
    #: ``answers``, ``unanswered``: requests with an answer, and without one; what an engine need not have does not
    #: count
    answers: int = 0
    unanswered: int = 0
    bytes: int = 0  # bytes of the lines that were written
    seconds: float = 0.0  # from the first poll to the end
    ended: Literal["time", "interrupt"] = "time"  # whether the time was over, or somebody ended it

    def add(self, asked: Asking, *, failed: bool) -> None:
        """Count a poll."""
        self.polls += 1
        self.failed += failed
        self.incomplete += not failed and asked.refused + asked.unanswered > 0
        self.answers += asked.answers
        self.unanswered += asked.refused + asked.unanswered
        self.bytes += asked.bytes


def keep_polling(poll: Poll, asking: Callable[[], Asking], pace: Pace, say: Callable[[str], None]) -> CollectionSummary:
    """Poll until the time is over; an interrupt ends it with what is there.

    While the endpoint is out of reach, polls are 1, 2, 4 and at most 8 steps apart. A poll that is under way when the
    time is over has as long as an answer may take. *say* hears of outages, of their end, and of polls that were skipped
    or cut short.

    Raises FtplanError if a new folder's first poll reaches something that is not the engine; OutputError if the disk
    fails.
    """
    summary = CollectionSummary()
    begun = pace.seconds()
    most = max(1, min(LONGEST_PAUSE, int(LONGEST_PAUSE_S / pace.every_s)))
    down = 0

    def left_s(timeout_s: float) -> float:
        return begun + pace.for_s + timeout_s - pace.seconds() if pace.for_s else math.inf

    def missed(skipped: int, took: float) -> None:
        text = f"a poll took {took:.3g} s, longer than --every {pace.every_s:g}s"
        say(f"{text}: {count(skipped, 'poll')} skipped")

    try:
        for slot in pace.slots(missed):
            summary.skipped = slot.number - summary.polls
            asked = asking()
            asked.left_s = partial(left_s, asked.endpoint.connection.timeout_s)
            error = None
            try:
                poll(asked)
            except OutOfReachError as out_of_reach:
                error = out_of_reach
            except TimeOverError:
                say("the time is over: the last poll is left incomplete")
                break
            finally:
                summary.add(asked, failed=error is not None)
            if error is not None:
                if not down:
                    say(f"out of reach: {error}; going on")
                slot.pause = min(2**down, most)
                down += 1
                continue
            asked.journal.continued = True
            if down:
                say(f"within reach again after {count(down, 'failed poll')}")
                down = 0
    except KeyboardInterrupt:
        summary.ended = "interrupt"
    summary.seconds = pace.seconds() - begun
    return summary

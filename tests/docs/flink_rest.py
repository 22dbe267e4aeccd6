"""A JobManager that answers as the one of examples/flink did, poll after poll."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from ftplan.engines.collecting.collection import answers
from tests.engines.collecting.server import FakeEndpoint, FakeTime, Said
from tests.engines.flink.replay import EXAMPLE

#: When the record begins, and the seconds from one of its polls to the next.
BEGUN, EVERY_S = datetime(2026, 11, 22, 8, 40, 35, tzinfo=UTC), 5.0
#: The first request of a poll.
_FIRST = "/overview"


@cache
def polls() -> list[dict[str, Any]]:
    """Return what each poll of the record was answered, by path; what is asked once stays."""
    found: list[dict[str, Any]] = []
    for answer in answers(EXAMPLE):
        if answer.path == _FIRST:
            found.append({})
        found[-1][answer.path] = answer.value
    once: dict[str, Any] = {}
    for poll in found:
        for path, value in poll.items():
            once.setdefault(path, value)
    return [{**once, **poll} for poll in found]


class FlinkRest(FakeEndpoint):
    """Answers what the record has for the time of a clock; after its end, the last poll of the record."""

    def __init__(self, clock: FakeTime) -> None:
        self.clock = clock
        super().__init__({})

    def said(self, path: str) -> Said:
        """Return the answer to a path."""
        number = min(int(self.clock.passed // EVERY_S), len(polls()) - 1)
        known = polls()[number]
        return Said(known[path]) if path in known else super().said(path)

"""What a subtask counted: readings of its counters, and their increase over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ftplan.engines.flink.pages import number, part, whole


class Reading(NamedTuple):
    """The counters of one attempt of a subtask at a moment: they began at 0 when the attempt did.

    Times are in milliseconds; ``at`` since 1970, ``running`` what the attempt has been running for. None is not known:
    Flink does not say how busy an old kind of source is.
    """

    at: float | None
    running: float
    attempt: tuple[Any, ...]
    records_in: float
    records_out: float
    busy: float | None


def reading_of(entry: Mapping[str, Any], now: float | None, metrics: Mapping[str, Any]) -> Reading | None:
    """Return what an entry of a vertex's page says; its *metrics* by name fill in what was out of reach there.

    None where a figure is missing, or marked as incomplete.
    """
    figures = part(entry, "metrics")
    running = number(part(entry, "status-duration", "RUNNING"))
    if running is None:
        running = number(entry.get("duration"))
    if running is None or running == 0:
        return None
    counted = []
    for name, metric in (("read-records", "numRecordsIn"), ("write-records", "numRecordsOut")):
        value = number(part(figures, name)) if part(figures, f"{name}-complete") is not False else None
        counted.append(number(metrics.get(metric)) if value is None else value)
    records_in, records_out = counted
    if records_in is None or records_out is None:
        return None
    busy = number(metrics.get("accumulateBusyTimeMs"))
    if busy is None:
        busy = number(part(figures, "accumulated-busy-time"))
    attempt = (whole(entry.get("attempt")), whole(entry.get("start-time")))
    return Reading(now, running, attempt, records_in, records_out, busy)


@dataclass(slots=True)
class Counters:
    """The increase of a subtask's counters, from the first reading to the last; of a single one, since it began.

    What was counted between the last reading of an attempt and its end is not known, and neither is the time.
    """

    last: Reading | None = None
    first: Reading | None = None
    over_ms: float = 0.0
    records_in: float = 0.0
    records_out: float = 0.0
    busy_ms: float = 0.0
    busy_over_ms: float = 0.0

    def add(self, reading: Reading) -> None:
        """Add a later reading."""
        last, self.last = self.last, reading
        if last is None:
            self.first = reading
            return
        same = reading.attempt == last.attempt and reading.records_out >= last.records_out
        same = same and reading.records_in >= last.records_in
        if not same:
            self._increase(reading, reading.running, None)
        elif reading.at is not None and last.at is not None and reading.at > last.at:
            self._increase(reading, reading.at - last.at, last)

    def _increase(self, reading: Reading, over_ms: float, last: Reading | None) -> None:
        self.over_ms += over_ms
        self.records_in += reading.records_in - (last.records_in if last else 0.0)
        self.records_out += reading.records_out - (last.records_out if last else 0.0)
        before = last.busy if last else 0.0
        if reading.busy is not None and before is not None and reading.busy >= before:
            self.busy_ms += reading.busy - before
            self.busy_over_ms += over_ms

    @property
    def seconds(self) -> float:
        """Over which time the increase is."""
        return self._total().over_ms / 1000

    def _total(self) -> Counters:
        if self.over_ms or self.first is None:
            return self
        total = Counters()
        total._increase(self.first, self.first.running, None)
        return total

    def rates(self) -> Rates:
        """Return records per second in and out, and the share of time in which the subtask was busy."""
        total = self._total()
        seconds = total.over_ms / 1000
        if not seconds:
            return Rates(0.0, 0.0, None)
        busy = total.busy_ms / total.busy_over_ms if total.busy_over_ms else None
        return Rates(total.records_in / seconds, total.records_out / seconds, busy)


class Rates(NamedTuple):
    """Of a subtask: records per second in and out, and busy seconds per second (None: not known)."""

    records_in: float
    records_out: float
    busy: float | None
